/**
 * Inspects the element that begins at `at` and returns its length in bytes, including bytes that have not arrived yet.
 * Returns 0 if more bytes must arrive first.
 */
export type Step = (bytes: Buffer, at: number) => number;

const NOTHING = Buffer.alloc(0);

/** The lowest average length of a step after the first ten thousand steps: real packets are longer. */
const BYTES_PER_STEP = 8;
const STEPS_FREE = 10_000;

/**
 * Walks through bytes from one element to the next as they arrive, in chunks cut anywhere. It buffers at most `lookMax`
 * bytes, whatever length a header claims. It stops if a step needs to look further, or if there are so many steps that
 * the bytes must have been crafted to keep it busy.
 */
export class ByteWalker {
  readonly #step: Step;
  readonly #lookMax: number;
  #buffered: Buffer = NOTHING;
  /** Bytes to come that belong to the last element. */
  #skip = 0;
  #bytes = 0;
  #steps = 0;
  #stopped = false;

  constructor(lookMax: number, step: Step) {
    this.#lookMax = lookMax;
    this.#step = step;
  }

  /** Whether the walk has ended early: then the elements found so far are not all of them. */
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
    const bytes = this.#buffered.length === 0 ? arrived : Buffer.concat([this.#buffered, arrived]);
    this.#buffered = NOTHING;
    this.#walk(bytes);
  }

  /** Ends the walk because the bytes turn out to be invalid. */
  stop(): void {
    this.#stopped = true;
  }

  #walk(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && !this.#stopped) {
      const taken = this.#step(bytes, at);
      if (taken === 0) return this.#buffer(bytes.subarray(at));
      at += taken;
      this.#steps += 1;
      if (this.#steps > STEPS_FREE + this.#bytes / BYTES_PER_STEP) this.#stopped = true;
    }
    this.#skip = at - bytes.length;
  }

  #buffer(unread: Buffer): void {
    if (unread.length > this.#lookMax) this.#stopped = true;
    else this.#buffered = Buffer.from(unread);
  }
}
