import type { WorkObserver } from "./work-observer.ts";

/**
 * Wraps an observer so that its exceptions only reach `onFailure`. They must not break off work or cause it to be
 * repeated.
 */
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
