/**
 * Targets that have been asked for streams and give no heads. Their time-out is long, since some models begin late: until the first one
 * is over, and the circuit learns of it, every call would be made to a target that is dead.
 */
import type { Clock } from "../../core/index.ts";

/** How long a stream's head may take before later calls go to other targets; twice as long as the slowest one if that is more. */
const SILENT_MS = 10_000;

/** Of the slowest head, which each later one lets fade. */
const FADING = 0.9;

/** Callers can name any model as a target. */
const TARGETS_MAX = 1_000;

/** A request whose head has not come. */
export interface AwaitedHead {
  /** The head has come: the target works, for those that wait as well. */
  came(): void;
  /** Nobody waits any longer. */
  end(): void;
}

interface Awaited {
  /** The starts of the requests that wait since the last head, the oldest first. */
  begun: Set<{ at: number }>;
  newestAt: number;
  slowestMs: number;
}

export class AwaitedHeads {
  readonly #clock: Clock;
  readonly #targets = new Map<string, Awaited>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A stream is asked for at the target of this circuit. */
  begin(id: string): AwaitedHead {
    const awaited = this.#of(id);
    const request = { at: this.#clock() };
    awaited.begun.add(request);
    awaited.newestAt = request.at;
    return {
      came: () => {
        awaited.slowestMs = Math.max(this.#clock() - request.at, FADING * awaited.slowestMs);
        awaited.begun.clear();
      },
      end: () => void awaited.begun.delete(request),
    };
  }

  /**
   * Whether a call should go to another target: no head has come since a request began that waits for too long. Another request is let
   * through after as long a time, which shows whether only that one was slow.
   */
  isSilent(id: string): boolean {
    const awaited = this.#targets.get(id);
    if (awaited === undefined) return false;
    const [oldest] = awaited.begun;
    if (oldest === undefined) return false;
    const late = this.#clock() - Math.max(SILENT_MS, 2 * awaited.slowestMs);
    return oldest.at < late && awaited.newestAt >= late;
  }

  #of(id: string): Awaited {
    const known = this.#targets.get(id);
    if (known !== undefined) return known;
    const awaited: Awaited = { begun: new Set(), newestAt: 0, slowestMs: 0 };
    if (this.#targets.size >= TARGETS_MAX) {
      const idle = [...this.#targets].find(([, { begun }]) => begun.size === 0) ?? [...this.#targets][0];
      if (idle !== undefined) this.#targets.delete(idle[0]);
    }
    this.#targets.set(id, awaited);
    return awaited;
  }
}
