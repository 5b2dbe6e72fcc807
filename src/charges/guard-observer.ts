import type { WorkObserver } from "./work-observer.ts";

/** An observer whose failures reach nobody but `onFailure`: work must not break off, or be done twice, because of one. */
export function guardObserver(observer: WorkObserver, onFailure: (reason: unknown) => void): WorkObserver {
  const guard = (hear: () => void): void => {
    try {
      hear();
    } catch (reason) {
      onFailure(reason);
    }
  };
  return {
    attempted: (attempt) => guard(() => observer.attempted?.(attempt)),
    refused: (order, error) => guard(() => observer.refused?.(order, error)),
    ended: (report) => guard(() => observer.ended?.(report)),
    committed: (commit) => guard(() => observer.committed?.(commit)),
  };
}
