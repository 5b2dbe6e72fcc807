/**
 * Looks at what begins at `at` and says how many bytes it takes, also of those that have not come yet; none where more
 * must have come to tell.
 */
export type Step = (bytes: Buffer, at: number) => number;

const NOTHING = Buffer.alloc(0);

/** What a step takes on the average, at the least, behind the first ten thousand: real packets are longer. */
const BYTES_PER_STEP = 8;
const STEPS_FREE = 10_000;

/**
 * Goes through bytes from one thing to the next as they arrive, in pieces cut anywhere. It keeps no more of them than
 * `lookMax`, whatever a length in a header claims, and gives up where a step wants to see more, or where there are so many
 * steps that the bytes were made to keep it busy.
 */
export class ByteWalker {
  readonly #step: Step;
  readonly #lookMax: number;
  #kept: Buffer = NOTHING;
  /** Bytes to come that belong to what has been seen. */
  #skip = 0;
  #bytes = 0;
  #steps = 0;
  #stopped = false;

  constructor(lookMax: number, step: Step) {
    this.#lookMax = lookMax;
    this.#step = step;
  }

  /** Whether it goes no further: then what has been found is not all that there is. */
  get stopped(): boolean {
    return this.#stopped;
  }

  push(chunk: Uint8Array): void {
    if (this.#stopped) return;
    this.#bytes += chunk.byteLength;
    if (this.#skip >= chunk.byteLength) {
      this.#skip -= chunk.byteLength;
      return;
    }
    const arrived = Buffer.from(chunk.buffer, chunk.byteOffset + this.#skip, chunk.byteLength - this.#skip);
    this.#skip = 0;
    const bytes = this.#kept.length === 0 ? arrived : Buffer.concat([this.#kept, arrived]);
    this.#kept = NOTHING;
    this.#walk(bytes);
  }

  /** Where the bytes are not what they began as. */
  stop(): void {
    this.#stopped = true;
  }

  #walk(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && !this.#stopped) {
      const taken = this.#step(bytes, at);
      if (taken === 0) return this.#keep(bytes.subarray(at));
      at += taken;
      this.#steps += 1;
      if (this.#steps > STEPS_FREE + this.#bytes / BYTES_PER_STEP) this.#stopped = true;
    }
    this.#skip = at - bytes.length;
  }

  #keep(rest: Buffer): void {
    if (rest.length > this.#lookMax) this.#stopped = true;
    else this.#kept = Buffer.from(rest);
  }
}
