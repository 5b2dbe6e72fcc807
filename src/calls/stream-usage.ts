import type { ObservedUsage } from "../core/index.ts";
import type { StreamObserver } from "../streaming/index.ts";

export interface StreamUsageOptions {
  observer: StreamObserver;
  /** What was used by what the observer has seen. */
  read: () => ObservedUsage;
  /** Told once. */
  onFailure: (reason: unknown) => void;
}

/**
 * What a stream has used so far. An observer that fails must keep neither its call from ending nor its lease from being
 * renewed: from then on counts what was known before.
 */
export class StreamUsage {
  readonly #options: StreamUsageOptions;
  #known: ObservedUsage | undefined;
  #cameOut = false;
  #failed = false;

  constructor(options: StreamUsageOptions) {
    this.#options = options;
  }

  /** Undefined where the observer has failed before anything was known. */
  soFar(): ObservedUsage | undefined {
    if (this.#failed) return this.#known;
    const { observer, read, onFailure } = this.#options;
    try {
      this.#known = read();
      this.#cameOut = observer.usage !== undefined || observer.outputBytes > 0;
    } catch (reason) {
      this.#failed = true;
      onFailure(reason);
    }
    return this.#known;
  }

  /** Whether anything had come out, or was counted by the upstream, when it was last asked. */
  get cameOut(): boolean {
    return this.#cameOut;
  }
}
