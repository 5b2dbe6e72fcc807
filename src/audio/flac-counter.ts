import { ByteWalker } from "./byte-walker.ts";
import { id3Bytes } from "./frame-counter.ts";
import type { SoundCounter } from "./sound-counter.ts";

const BLOCK_HEAD_BYTES = 4;
/** As far as a stream's rate stands in its first block. */
const INFO_BYTES = 14;
/** The longest head of a frame. */
const FRAME_HEAD_BYTES = 16;

/** Hertz by the code in a frame; 0 stands for what the head of the file says. */
const rates = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];

/** Units in which the codes behind those write a rate of their own: kilohertz, hertz, tens of hertz. */
const RATE_UNITS: Readonly<Record<number, number>> = { 12: 1_000, 13: 1, 14: 10 };

/** Of a hundred frames, the heads out of turn beside them: chance makes one in megabytes, and decoders play them all. */
const STRAYS_MAX = 10;

type Where = "begin" | "blocks" | "frames" | "end";

/**
 * FLAC: the samples of every frame, since an encoder that streams leaves their sum out of the head, and it may be wrong
 * there; so may be their rate. A frame's head is known by its sync code, its checksum and its number.
 */
export class FlacCounter implements SoundCounter {
  readonly #walker = new ByteWalker(64, (bytes, at) => this.#step(bytes, at));
  #where: Where = "begin";
  /** By the head of the file. */
  #rate = 0;
  #frames = 0;
  #samples = 0;
  #milliseconds = 0;
  /** Heads with another number than the next one's. */
  #strays = 0;

  push(chunk: Uint8Array): void {
    this.#walker.push(chunk);
  }

  get milliseconds(): number | undefined {
    const isDoubtful = this.#strays * 100 > this.#frames * STRAYS_MAX;
    return this.#walker.stopped || isDoubtful || this.#milliseconds === 0 ? undefined : Math.round(this.#milliseconds);
  }

  #step(bytes: Buffer, at: number): number {
    if (this.#where === "frames") return this.#frame(bytes, at);
    if (at + BLOCK_HEAD_BYTES + INFO_BYTES > bytes.length) return 0;
    return this.#where === "begin" ? this.#begin(bytes, at) : this.#block(bytes, at);
  }

  #begin(bytes: Buffer, at: number): number {
    const tag = id3Bytes(bytes, at);
    if (tag > 0) return tag;
    if (bytes.toString("latin1", at, at + 4) !== "fLaC") this.#walker.stop();
    this.#where = "blocks";
    return 4;
  }

  #block(bytes: Buffer, at: number): number {
    const kind = bytes.readUInt8(at);
    if ((kind & 0x7f) === 0) this.#rate = bytes.readUIntBE(at + BLOCK_HEAD_BYTES + 10, 3) >> 4;
    if ((kind & 0x80) !== 0) this.#where = "frames";
    return BLOCK_HEAD_BYTES + bytes.readUIntBE(at + 1, 3);
  }

  #frame(bytes: Buffer, at: number): number {
    if (bytes[at] !== 0xff) {
      const next = bytes.indexOf(0xff, at + 1);
      return (next === -1 ? bytes.length : next) - at;
    }
    const head = readFrameHead(bytes, at);
    // The end of a head may be on its way still.
    if (head === undefined) return at + FRAME_HEAD_BYTES > bytes.length ? 0 : 1;
    if (head.number !== (head.variable ? this.#samples : this.#frames)) {
      this.#strays += 1;
      return 1;
    }
    const rate = head.rate || this.#rate;
    if (rate === 0) this.#walker.stop();
    else this.#milliseconds += (head.samples * 1_000) / rate;
    this.#frames += 1;
    this.#samples += head.samples;
    return head.bytes;
  }
}

interface FrameHead {
  bytes: number;
  samples: number;
  /** Hertz; 0 where it leaves that to the head of the file. */
  rate: number;
  variable: boolean;
  /** Of the frame, or of its first sample where frames differ in length. */
  number: number;
}

/** Undefined where there is none, or not all of it. */
function readFrameHead(bytes: Buffer, at: number): FrameHead | undefined {
  const strategy = bytes[at + 1] ?? 0;
  if ((strategy & 0xfe) !== 0xf8) return undefined;
  const sizes = bytes[at + 2] ?? 0;
  const coded = readCoded(bytes, at + 4);
  if (coded === undefined) return undefined;
  const sizeAt = at + 4 + coded.bytes;
  const sizeCode = sizes >> 4;
  const sizeBytes = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const rateCode = sizes & 0b1111;
  const rateBytes = rateCode === 12 ? 1 : rateCode === 13 || rateCode === 14 ? 2 : 0;
  const end = sizeAt + sizeBytes + rateBytes;
  if (end >= bytes.length) return undefined;
  const samples = sizeBytes > 0 ? bytes.readUIntBE(sizeAt, sizeBytes) + 1 : samplesOf(sizeCode);
  if (samples === 0 || crc8(bytes.subarray(at, end)) !== bytes[end]) return undefined;
  const rate =
    rates[rateCode] ?? bytes.readUIntBE(end - rateBytes, Math.max(rateBytes, 1)) * (RATE_UNITS[rateCode] ?? 0);
  return { bytes: end + 1 - at, samples, rate, variable: (strategy & 1) === 1, number: coded.value };
}

function samplesOf(code: number): number {
  if (code === 1) return 192;
  if (code >= 8) return 256 << (code - 8);
  return code >= 2 && code <= 5 ? 576 << (code - 2) : 0;
}

/** A number in the form of a UTF-8 character, of up to 36 bits. */
function readCoded(bytes: Buffer, at: number): { value: number; bytes: number } | undefined {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return { value: first, bytes: 1 };
  const length = Math.clz32(~(first << 24));
  if (length < 2 || length > 7) return undefined;
  let value = first & (0x7f >> length);
  for (let index = 1; index < length; index += 1) {
    const next = bytes[at + index] ?? 0;
    if ((next & 0xc0) !== 0x80) return undefined;
    value = value * 64 + (next & 0x3f);
  }
  return { value, bytes: length };
}

function crc8(bytes: Buffer): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = ((sum << 1) ^ ((sum & 0x80) === 0 ? 0 : 0x07)) & 0xff;
  }
  return sum;
}
