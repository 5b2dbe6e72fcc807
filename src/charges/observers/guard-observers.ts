import type { WorkObserver } from "./work-observer.ts";

/**
 * Makes one observer of several, whose exceptions only reach `onFailure`. They must not break off work, cause it to be
 * repeated, or keep the other observers from hearing of it.
 */
export function guardObservers(
  observers: readonly WorkObserver[],
  onFailure: (reason: unknown) => void,
): Required<WorkObserver> {
  const notify = (hear: (observer: WorkObserver) => void): void => {
    for (const observer of observers) {
      try {
        hear(observer);
      } catch (reason) {
        onFailure(reason);
      }
    }
  };
  return {
    attempted: (attempt) => notify((observer) => observer.attempted?.(attempt)),
    refused: (order, error) => notify((observer) => observer.refused?.(order, error)),
    ended: (report) => notify((observer) => observer.ended?.(report)),
    committed: (commit) => notify((observer) => observer.committed?.(commit)),
  };
}
