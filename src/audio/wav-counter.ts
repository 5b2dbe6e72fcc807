import { ByteWalker } from "./byte-walker.ts";
import { fourLetters, type SoundCounter } from "./sound-counter.ts";

const RIFF_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;
const FORMAT = fourLetters("fmt ");
const DATA = fourLetters("data");
const FORMAT_BYTES = 16;
/** A format whose real tag stands further behind. */
const EXTENSIBLE = 0xfffe;
const EXTENSIBLE_BYTES = 26;

/** Tags of formats with as many bytes for every sample: integers, floats, A-law and µ-law. */
const evenFormats: ReadonlySet<number> = new Set([1, 3, 6, 7]);

/** What stands for a length that its writer could not know. */
const unknownLengths: ReadonlySet<number> = new Set([0, 0xffffffff]);

/**
 * WAV: the bytes of samples that have come, whatever lengths claim. What follows the samples and is no chunk is samples
 * too. Undefined for formats in which a sample has no fixed size.
 */
export class WavCounter implements SoundCounter {
  readonly #walker = new ByteWalker(64, (bytes, at) => this.#step(bytes, at));
  #begun = false;
  #bytesPerSecond = 0;
  #soundBytes = 0;
  /** Bytes of samples that are still to come. */
  #left = 0;
  /** Follows a chunk of an odd length. */
  #padded = false;
  #sawSound = false;

  push(chunk: Uint8Array): void {
    this.#walker.push(chunk);
  }

  get milliseconds(): number | undefined {
    if (this.#walker.stopped || this.#bytesPerSecond === 0 || !this.#sawSound) return undefined;
    return Math.round((this.#soundBytes * 1_000) / this.#bytesPerSecond);
  }

  #step(bytes: Buffer, at: number): number {
    if (!this.#begun) return this.#begin(bytes, at);
    if (this.#left > 0) return this.#hear(bytes, at);
    if (this.#padded) {
      this.#padded = false;
      if (bytes[at] === 0) return 1;
    }
    return this.#chunk(bytes, at);
  }

  #begin(bytes: Buffer, at: number): number {
    if (at + RIFF_BYTES > bytes.length) return 0;
    this.#begun = true;
    if (bytes.toString("latin1", at + 8, at + RIFF_BYTES) !== "WAVE") this.#walker.stop();
    return RIFF_BYTES;
  }

  #hear(bytes: Buffer, at: number): number {
    const heard = Math.min(this.#left, bytes.length - at);
    this.#left -= heard;
    this.#soundBytes += heard;
    return heard;
  }

  #chunk(bytes: Buffer, at: number): number {
    if (at + CHUNK_HEAD_BYTES > bytes.length) return 0;
    for (let index = 0; index < 4; index += 1) {
      if (!isLetter(bytes[at + index] ?? 0)) return this.#garbage(bytes, at);
    }
    const name = bytes.readUInt32BE(at);
    const length = bytes.readUInt32LE(at + 4);
    if (name === DATA) {
      this.#sawSound = true;
      this.#left = unknownLengths.has(length) ? Number.POSITIVE_INFINITY : length;
      this.#padded = length % 2 === 1;
      return CHUNK_HEAD_BYTES;
    }
    if (name === FORMAT) {
      const wanted = Math.min(length, EXTENSIBLE_BYTES);
      if (at + CHUNK_HEAD_BYTES + wanted > bytes.length) return 0;
      this.#bytesPerSecond = bytesPerSecondOf(bytes.subarray(at + CHUNK_HEAD_BYTES), length);
    }
    return CHUNK_HEAD_BYTES + length + (length % 2);
  }

  #garbage(bytes: Buffer, at: number): number {
    if (!this.#sawSound) this.#walker.stop();
    this.#left = Number.POSITIVE_INFINITY;
    return this.#hear(bytes, at);
  }
}

/** What names of chunks consist of: ASCII that is printed. */
function isLetter(byte: number): boolean {
  return byte >= 0x20 && byte < 0x7f;
}

/** By what the samples are; the rate that stands beside it need not be true. 0 where it can't be told. */
function bytesPerSecondOf(format: Buffer, length: number): number {
  if (length < FORMAT_BYTES) return 0;
  const tag = format.readUInt16LE(0);
  const real = tag === EXTENSIBLE && length >= EXTENSIBLE_BYTES ? format.readUInt16LE(24) : tag;
  if (!evenFormats.has(real)) return 0;
  return format.readUInt16LE(2) * format.readUInt32LE(4) * Math.ceil(format.readUInt16LE(14) / 8);
}
