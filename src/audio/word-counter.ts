/** Counts a word in bytes that arrive in chunks. */
export class WordCounter {
  readonly #word: Buffer;
  #tail: Buffer = Buffer.alloc(0);
  #count = 0;
  #bytes = 0;
  /** The offset of the last one. */
  #last = 0;

  constructor(word: Buffer) {
    this.#word = word;
  }

  /** The number of words, without one in the last bytes. */
  countBefore(bytes: number): number {
    return this.#count > 0 && this.#last > this.#bytes - bytes ? this.#count - 1 : this.#count;
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const overlap = this.#word.length - 1;
    // The word may be cut by the border of the chunks.
    const border = Buffer.concat([this.#tail, bytes.subarray(0, overlap)]);
    this.#search(border, this.#bytes - this.#tail.length);
    this.#search(bytes, this.#bytes);
    this.#bytes += bytes.length;
    this.#tail = Buffer.from(bytes.length >= overlap ? bytes.subarray(-overlap) : border.subarray(-overlap));
  }

  #search(bytes: Buffer, offset: number): void {
    for (let at = bytes.indexOf(this.#word); at !== -1; at = bytes.indexOf(this.#word, at + 1)) {
      this.#count += 1;
      this.#last = offset + at;
    }
  }
}
