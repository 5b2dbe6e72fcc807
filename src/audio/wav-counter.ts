import { ByteWalker } from "./byte-walker.ts";
import { fourLetters, type SoundCounter } from "./sound-counter.ts";

const RIFF_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;
const FORMAT = fourLetters("fmt ");
const DATA = fourLetters("data");
const FORMAT_BYTES = 16;
/** A format whose actual tag follows further on. */
const EXTENSIBLE = 0xfffe;
const EXTENSIBLE_BYTES = 26;

/** Tags of formats with a fixed number of bytes per sample: integers, floats, A-law and µ-law. */
const evenFormats: ReadonlySet<number> = new Set([1, 3, 6, 7]);

/** Placeholders for a length that the writer could not know. */
const unknownLengths: ReadonlySet<number> = new Set([0, 0xffffffff]);

/**
 * WAV: counts the sample bytes that have arrived, whatever lengths are claimed. Bytes after the samples that are no
 * valid chunk count as samples too. Undefined for formats in which a sample has no fixed size.
 */
export class WavCounter implements SoundCounter {
  readonly #walker = new ByteWalker(64, (bytes, at) => this.#step(bytes, at));
  #begun = false;
  #bytesPerSecond = 0;
  #soundBytes = 0;
  /** Sample bytes of the current chunk that have not arrived. */
  #remaining = 0;
  /** Whether a padding byte follows, because the chunk's length is odd. */
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
    if (this.#remaining > 0) return this.#countSamples(bytes, at);
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

  #countSamples(bytes: Buffer, at: number): number {
    const counted = Math.min(this.#remaining, bytes.length - at);
    this.#remaining -= counted;
    this.#soundBytes += counted;
    return counted;
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
      this.#remaining = unknownLengths.has(length) ? Number.POSITIVE_INFINITY : length;
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
    this.#remaining = Number.POSITIVE_INFINITY;
    return this.#countSamples(bytes, at);
  }
}

/** Whether a byte may be part of a chunk's name: a printable ASCII character. */
function isLetter(byte: number): boolean {
  return byte >= 0x20 && byte < 0x7f;
}

/** Calculated from the format of the samples; the file's own byte rate may be wrong. 0 if it can't be determined. */
function bytesPerSecondOf(format: Buffer, length: number): number {
  if (length < FORMAT_BYTES) return 0;
  const tag = format.readUInt16LE(0);
  const real = tag === EXTENSIBLE && length >= EXTENSIBLE_BYTES ? format.readUInt16LE(24) : tag;
  if (!evenFormats.has(real)) return 0;
  return format.readUInt16LE(2) * format.readUInt32LE(4) * Math.ceil(format.readUInt16LE(14) / 8);
}
