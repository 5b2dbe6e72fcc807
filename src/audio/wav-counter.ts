import { ByteWalker } from "./byte-walker.ts";
import { HIDDEN_BYTES_MAX, hidesFrames } from "./hidden-frames.ts";
import { fourLetters, samplesPerSecond, type SoundCounter, wholeMs } from "./sound-counter.ts";

const RIFF_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;
const FORMAT = fourLetters("fmt ");
const DATA = fourLetters("data");
const FORMAT_BYTES = 16;
/** A format whose actual tag follows further on, together with the valid bits of each sample. */
const EXTENSIBLE = 0xfffe;
const EXTENSIBLE_BYTES = 26;
const EXTENSION_BYTES_MIN = 22;

/** The bytes of a sample by the format's tag, as decoders calculate them; 0 if a sample has no fixed size. */
const sampleBytes: Readonly<Record<number, (bits: number) => number>> = {
  // Integers and floats.
  1: wholeBytes,
  3: wholeBytes,
  // A-law and µ-law, whatever the header claims.
  6: () => 1,
  7: () => 1,
  // IMA's ADPCM: the header of a block contains one more sample, but takes more bytes.
  0x11: (bits) => (bits >= 2 && bits <= 5 ? bits / 8 : 0),
  // Microsoft's.
  0x02: () => 0.5,
  // GSM: two frames of 160 samples in 65 bytes.
  0x31: () => 65 / 320,
};

function wholeBytes(bits: number): number {
  return bits <= SAMPLE_BITS_MAX ? Math.ceil(bits / 8) : 0;
}

const SAMPLE_BITS_MAX = 64;

/** Placeholders for a length that the writer could not know. */
const unknownLengths: ReadonlySet<number> = new Set([0, 0xffffffff]);

/**
 * WAV: counts the sample bytes that have arrived, whatever lengths are claimed. Bytes after the samples that are no
 * valid chunk count as samples too. Undefined for formats in which a sample has no fixed size, for a second format or
 * second samples (of which decoders choose differently), and for samples that are encoded frames.
 */
export class WavCounter implements SoundCounter {
  readonly #walker = new ByteWalker(64, (bytes, at) => this.#step(bytes, at));
  readonly #isTrusted: boolean;
  #begun = false;
  #isLong = false;
  #hasFormat = false;
  #bytesPerSecond = 0;
  #soundBytes = 0;
  /** Sample bytes of the current chunk that have not arrived. */
  #remaining = 0;
  /** Whether a padding byte follows, because the chunk's length is odd. */
  #padded = false;
  #sawSound = false;
  /** The first sample bytes. */
  #head: Buffer[] = [];
  #headBytes = 0;
  #hidesFrames = false;

  /** The samples of a trusted file are not searched for frames. */
  constructor({ isTrusted = false } = {}) {
    this.#isTrusted = isTrusted;
  }

  push(chunk: Uint8Array): void {
    this.#walker.push(chunk);
  }

  get milliseconds(): number | undefined {
    if (this.#walker.stopped || this.#bytesPerSecond === 0 || !this.#sawSound) return undefined;
    this.#searchHead();
    return this.#hidesFrames ? undefined : wholeMs((this.#soundBytes * 1_000) / this.#bytesPerSecond);
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
    this.#isLong = bytes.toString("latin1", at, at + 4) !== "RIFF";
    if (bytes.toString("latin1", at + 8, at + RIFF_BYTES) !== "WAVE") this.#walker.stop();
    return RIFF_BYTES;
  }

  #countSamples(bytes: Buffer, at: number): number {
    const counted = Math.min(this.#remaining, bytes.length - at);
    this.#remaining -= counted;
    this.#soundBytes += counted;
    if (!this.#isTrusted && this.#headBytes < HIDDEN_BYTES_MAX) {
      const kept = Buffer.from(bytes.subarray(at, at + Math.min(counted, HIDDEN_BYTES_MAX - this.#headBytes)));
      this.#head.push(kept);
      this.#headBytes += kept.length;
    }
    return counted;
  }

  /** Searches the bytes collected so far, once. */
  #searchHead(): void {
    if (this.#head.length === 0) return;
    this.#hidesFrames ||= hidesFrames(Buffer.concat(this.#head));
    this.#head = [];
    this.#headBytes = HIDDEN_BYTES_MAX;
  }

  #chunk(bytes: Buffer, at: number): number {
    if (at + CHUNK_HEAD_BYTES > bytes.length) return 0;
    for (let index = 0; index < 4; index += 1) {
      if (!isLetter(bytes[at + index] ?? 0)) return this.#garbage(bytes, at);
    }
    const name = bytes.readUInt32BE(at);
    const length = bytes.readUInt32LE(at + 4);
    if (name === DATA) {
      // Decoders differ in which of several they play, and search each for frames.
      if (this.#sawSound) this.#walker.stop();
      this.#sawSound = true;
      this.#remaining = this.#isLong || unknownLengths.has(length) ? Number.POSITIVE_INFINITY : length;
      this.#padded = length % 2 === 1;
      return CHUNK_HEAD_BYTES;
    }
    if (name === FORMAT) {
      const wanted = Math.min(length, EXTENSIBLE_BYTES);
      if (at + CHUNK_HEAD_BYTES + wanted > bytes.length) return 0;
      if (this.#hasFormat) this.#walker.stop();
      this.#hasFormat = true;
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
  const hasMore = tag === EXTENSIBLE && length >= EXTENSIBLE_BYTES && format.readUInt16LE(16) >= EXTENSION_BYTES_MIN;
  const bytesOf = sampleBytes[hasMore ? format.readUInt16LE(24) : tag];
  const channels = format.readUInt16LE(2);
  const bits = format.readUInt16LE(14);
  const valid = hasMore ? format.readUInt16LE(18) || bits : bits;
  // Of 24 valid bits in 32, decoders skip the rest; otherwise they take the valid bits for the size.
  const isPadded = valid === 24 && bits === 32 && format.readUInt16LE(12) === channels * 4;
  return samplesPerSecond(format.readUInt32LE(4), channels) * (bytesOf?.(isPadded ? bits : valid) ?? 0);
}
