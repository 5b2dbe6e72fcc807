import type { Allowance } from "../../charges/index.ts";
import { GatewayError, limits } from "../../core/index.ts";
import { endOfEvents, type StreamObserver } from "../../streaming/index.ts";

/** The share of text in the bytes of a stream: the least that is assumed, and how many times the last one it may become. */
const TEXT_SHARE_MIN = 1 / 64;
const TEXT_SHARE_RISE = 4;

export interface StreamMeterOptions {
  observer: Pick<StreamObserver, "outputBytes">;
  /** The output in bytes that may pass before its cost is compared with the hold first. */
  firstAllowance: number;
  /** Compares the cost of the output with its hold; undefined if output is not what is held. */
  follow: ((outputBytes: number) => Allowance) | undefined;
}

/**
 * Lets the events of a stream pass as far as the hold covers their output. Once the hold is used up, `push` and
 * `resume` return what to wait for, and later blocks wait here, in order, until `resume`.
 */
export class StreamMeter {
  readonly #options: StreamMeterOptions;
  readonly #relay: (block: Buffer) => boolean;
  /** The output at which its cost must be compared with the hold. */
  #untilBytes: number;
  /** The received bytes, and how many there may be before the output is counted again. */
  #bytes = 0;
  #countAt: number;
  /** The received bytes and the output at the last count. */
  #countedBytes = 0;
  #countedOutput = 0;
  /** The blocks that wait for the hold to be raised, and their bytes. */
  #waiting: Buffer[] | undefined;
  #waitingBytes = 0;

  /** `relay` passes events on, which the observer sees then. It returns whether the stream goes on. */
  constructor(options: StreamMeterOptions, relay: (block: Buffer) => boolean) {
    this.#options = options;
    this.#relay = relay;
    this.#untilBytes = options.follow === undefined ? Number.POSITIVE_INFINITY : options.firstAllowance;
    // The share of text is unknown before anything has arrived. Without a bound, nothing need be counted.
    this.#countAt = this.#untilBytes;
  }

  /** Whether blocks wait for the hold to be raised. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** Drops the waiting blocks, since the stream has broken off. */
  drop(): void {
    this.#waiting = undefined;
  }

  /**
   * Passes a block of whole events on, or as much of it as the hold covers. Returns what to wait for before `resume` if
   * the hold is used up. Throws if more waits already than an upstream sends after it was paused.
   */
  push(block: Buffer): Promise<void> | undefined {
    if (this.#waiting !== undefined) return this.#wait(this.#waiting, block);
    if (!this.#isCovered(block)) return this.#passMetered(block);
    this.#relay(block);
    return undefined;
  }

  /** Passes on what has waited, after the hold was raised. Returns what to wait for if it is used up again. */
  resume(): Promise<void> | undefined {
    this.#untilBytes = 0;
    const raised = this.#follow();
    if (raised !== undefined) return raised;
    const rest = Buffer.concat(this.#waiting ?? []);
    this.#waiting = undefined;
    this.#count(this.#bytes - rest.length);
    return this.#passMetered(rest);
  }

  #wait(waiting: Buffer[], block: Buffer): undefined {
    this.#bytes += block.length;
    this.#waitingBytes += block.length;
    if (this.#waitingBytes > limits.wholeEventBytesMax) {
      throw new GatewayError("upstream_interrupted", "The upstream went on sending while the hold was used up.");
    }
    waiting.push(block);
  }

  /** Whether the hold covers a block, so that it passes in one piece. */
  #isCovered({ length }: Buffer): boolean {
    const before = this.#bytes;
    this.#bytes += length;
    if (this.#bytes >= this.#countAt) this.#count(before);
    return this.#bytes < this.#countAt;
  }

  /**
   * Counts the output exactly, of so many bytes received, and decides when to count again: exact counts cost more than
   * lengths. Most of an event is no text; until the next count, the share of text may rise to several times the last one.
   */
  #count(bytes: number): void {
    const { outputBytes } = this.#options.observer;
    const received = bytes - this.#countedBytes;
    const share = received === 0 ? 1 : (TEXT_SHARE_RISE * (outputBytes - this.#countedOutput)) / received;
    this.#countedBytes = bytes;
    this.#countedOutput = outputBytes;
    this.#countAt = bytes + (this.#untilBytes - outputBytes) / Math.min(Math.max(share, TEXT_SHARE_MIN), 1);
  }

  /**
   * Passes the last block on, as many events at once as the hold covers, one at least, until it is used up. Returns what to
   * wait for then: the rest of the block waits.
   */
  #passMetered(block: Buffer): Promise<void> | undefined {
    const before = this.#bytes - block.length;
    let start = 0;
    do {
      const end = endOfEvents(block, start, this.#countAt - before);
      if (!this.#relay(block.subarray(start, end))) return undefined;
      const raised = this.#follow();
      this.#count(before + end);
      if (raised !== undefined) {
        this.#waiting = end === block.length ? [] : [block.subarray(end)];
        this.#waitingBytes = block.length - end;
        return raised;
      }
      start = end;
    } while (start < block.length);
    return undefined;
  }

  /** Compares the cost with the hold if it is time. Returns what to wait for if the hold is used up. */
  #follow(): Promise<void> | undefined {
    const { follow, observer } = this.#options;
    const { outputBytes } = observer;
    if (follow === undefined || outputBytes < this.#untilBytes) return undefined;
    const { untilBytes, raised } = follow(outputBytes);
    this.#untilBytes = untilBytes;
    return raised;
  }
}
