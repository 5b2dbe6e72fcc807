import { ByteWalker } from "./byte-walker.ts";
import { fourLetters, samplesPerSecond, type SoundCounter, wholeMs } from "./sound-counter.ts";

const FORM_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;
const COMMON = fourLetters("COMM");
const SOUND = fourLetters("SSND");
const COMMON_BYTES = 18;
const COMPRESSION_AT = 18;
/** The offset of the first sample and the size of blocks, before the samples. */
const SOUND_HEAD_BYTES = 8;
const VERSION = fourLetters("FVER");
const VERSION_OF_AIFC = 0xa2805140;

/** Bytes per sample of uncompressed AIFC by the name of its "compression"; 0 if the bits per sample determine them. */
const sampleBytes = new Map([
  ["NONE", 0],
  ["twos", 0],
  ["sowt", 2],
  ["in24", 3],
  ["in32", 4],
  ["raw ", 1],
]);
const SAMPLE_BITS_MAX = 32;

/** AIFF and AIFC: counts the sample bytes that have arrived, whatever number of frames is claimed. */
export class AiffCounter implements SoundCounter {
  readonly #walker = new ByteWalker(64, (bytes, at) => this.#step(bytes, at));
  #isCompressible = false;
  #begun = false;
  #hasCommon = false;
  #bytesPerSecond = 0;
  #soundBytes = 0;
  /** Sample bytes that have not arrived. */
  #remaining = 0;

  push(chunk: Uint8Array): void {
    this.#walker.push(chunk);
  }

  get milliseconds(): number | undefined {
    if (this.#walker.stopped || this.#bytesPerSecond === 0) return undefined;
    return wholeMs((this.#soundBytes * 1_000) / this.#bytesPerSecond);
  }

  #step(bytes: Buffer, at: number): number {
    if (this.#remaining > 0) {
      const counted = Math.min(this.#remaining, bytes.length - at);
      this.#remaining -= counted;
      this.#soundBytes += counted;
      return counted;
    }
    return this.#begun ? this.#chunk(bytes, at) : this.#begin(bytes, at);
  }

  #begin(bytes: Buffer, at: number): number {
    if (at + FORM_BYTES > bytes.length) return 0;
    this.#begun = true;
    const kind = bytes.toString("latin1", at + 8, at + FORM_BYTES);
    this.#isCompressible = kind === "AIFC";
    if (kind !== "AIFF" && kind !== "AIFC") this.#walker.stop();
    return FORM_BYTES;
  }

  #chunk(bytes: Buffer, at: number): number {
    if (at + CHUNK_HEAD_BYTES > bytes.length) return 0;
    const name = bytes.readUInt32BE(at);
    const length = bytes.readUInt32BE(at + 4);
    const padded = length + (length % 2);
    if (name === SOUND) {
      this.#remaining = Math.max(padded - SOUND_HEAD_BYTES, 0);
      return CHUNK_HEAD_BYTES + SOUND_HEAD_BYTES;
    }
    if (name === VERSION) {
      if (at + CHUNK_HEAD_BYTES + 4 > bytes.length) return 0;
      // Decoders believe the version: with another one, AIFF may be compressed and AIFC is not.
      const isUsual = bytes.readUInt32BE(at + CHUNK_HEAD_BYTES) === VERSION_OF_AIFC;
      if (!this.#isCompressible || !isUsual) this.#walker.stop();
    }
    if (name === COMMON) {
      const look = Math.min(length, COMMON_BYTES + 4);
      if (at + CHUNK_HEAD_BYTES + look > bytes.length) return 0;
      if (this.#hasCommon) this.#walker.stop();
      this.#hasCommon = true;
      this.#bytesPerSecond = this.#bytesPerSecondOf(
        bytes.subarray(at + CHUNK_HEAD_BYTES, at + CHUNK_HEAD_BYTES + look),
      );
    }
    return CHUNK_HEAD_BYTES + padded;
  }

  #bytesPerSecondOf(common: Buffer): number {
    if (common.length < COMMON_BYTES) return 0;
    const bits = common.readUInt16BE(6);
    const named = this.#isCompressible ? sampleBytes.get(common.toString("latin1", COMPRESSION_AT)) : 0;
    if (named === undefined || bits > SAMPLE_BITS_MAX) return 0;
    return samplesPerSecond(extendedFloat(common, 8), common.readUInt16BE(0)) * (named || Math.ceil(bits / 8));
  }
}

/** A positive float of 80 bits. */
function extendedFloat(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64BE(at + 2)) * 2 ** ((bytes.readUInt16BE(at) & 0x7fff) - 16_383 - 63);
}
