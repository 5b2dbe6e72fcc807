import type { WorkObserver } from "./work-observer.ts";

/**
 * Makes one observer of several, whose exceptions only reach `onFailure`. They must not break off work, cause it to be
 * repeated, or keep the other observers from hearing of it.
 */
export function guardObservers(
  observers: readonly WorkObserver[],
  onFailure: (reason: unknown) => void,
): Required<WorkObserver> {
  const guard =
    <Reports extends readonly unknown[]>(hear: (observer: WorkObserver, ...reports: Reports) => void) =>
    (...reports: Reports): void => {
      for (const observer of observers) {
        try {
          hear(observer, ...reports);
        } catch (reason) {
          onFailure(reason);
        }
      }
    };
  return {
    attempted: guard((observer, attempt) => observer.attempted?.(attempt)),
    refused: guard((observer, order, error) => observer.refused?.(order, error)),
    ended: guard((observer, report) => observer.ended?.(report)),
    committed: guard((observer, commit) => observer.committed?.(commit)),
  };
}
