import type { ObservedUsage } from "../../core/index.ts";
import type { StreamObserver } from "../../streaming/index.ts";

export interface StreamUsageOptions {
  observer: StreamObserver;
  /** The usage according to the observer. */
  read: () => ObservedUsage;
  /** Called once. */
  onFailure: (reason: unknown) => void;
}

/**
 * The usage of a stream so far. A failing observer must neither prevent its call from ending nor its lease from being
 * renewed: the last known usage counts from then on.
 */
export class StreamUsage {
  readonly #options: StreamUsageOptions;
  #known: ObservedUsage | undefined;
  #hasOutput = false;
  #failed = false;

  constructor(options: StreamUsageOptions) {
    this.#options = options;
  }

  /** Undefined if the observer failed before any usage was known. */
  soFar(): ObservedUsage | undefined {
    if (this.#failed) return this.#known;
    const { observer, read, onFailure } = this.#options;
    try {
      this.#known = read();
      const { usage } = observer;
      const isCounted = usage !== undefined && usage.uncounted?.includes("output") !== true;
      // Counting the bytes of an output costs more than all else here.
      this.#hasOutput = isCounted || observer.outputBytes > 0;
    } catch (reason) {
      this.#failed = true;
      onFailure(reason);
    }
    return this.#known;
  }

  /** Whether there was any output, or a count of it by the upstream, at the last check. */
  get hasOutput(): boolean {
    return this.#hasOutput;
  }
}
