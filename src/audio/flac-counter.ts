import { ByteWalker } from "./byte-walker.ts";
import { Id3Tags } from "./id3-tags.ts";
import { type SoundCounter, wholeMs } from "./sound-counter.ts";

const BLOCK_HEAD_BYTES = 4;
/** Bytes of a stream's first block up to and including its rate. */
const INFO_BYTES = 14;
/** The longest header of a frame. */
const FRAME_HEAD_BYTES = 16;

/** Hertz by the code in a frame; 0 means the rate in the file's header. */
const rates = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];

/** Units of the codes after those, which are followed by an explicit rate: kilohertz, hertz, tens of hertz. */
const RATE_UNITS: Readonly<Record<number, number>> = { 12: 1_000, 13: 1, 14: 10 };

/** Codes of channels beyond this one, and one code of bits per sample, are reserved. */
const CHANNEL_CODE_MAX = 10;
const RESERVED_DEPTH = 0b0110;

type Section = "begin" | "blocks" | "frames" | "end";

/**
 * FLAC: adds up the samples of all frames. A streaming encoder omits the total from the file's header, and the total
 * and the rate there may be wrong. A frame's header is recognized by its sync code and its checksum. Decoders play
 * misnumbered frames too, so the numbers aren't compared; by chance a false header occurs once in megabytes.
 */
export class FlacCounter implements SoundCounter {
  readonly #walker = new ByteWalker(64, (bytes, at) => this.#step(bytes, at));
  readonly #tags = new Id3Tags();
  #section: Section = "begin";
  /** The rate in the file's header. */
  #rate = 0;
  #hasInfo = false;
  #milliseconds = 0;

  push(chunk: Uint8Array): void {
    this.#walker.push(chunk);
  }

  get milliseconds(): number | undefined {
    return this.#walker.stopped ? undefined : wholeMs(this.#milliseconds);
  }

  #step(bytes: Buffer, at: number): number {
    if (this.#section === "frames") return this.#frame(bytes, at);
    if (at + BLOCK_HEAD_BYTES + INFO_BYTES > bytes.length) return 0;
    return this.#section === "begin" ? this.#begin(bytes, at) : this.#block(bytes, at);
  }

  #begin(bytes: Buffer, at: number): number {
    const tag = this.#tags.bytesAt(bytes, at);
    if (tag > 0) return tag;
    if (bytes.toString("latin1", at, at + 4) !== "fLaC") this.#walker.stop();
    this.#section = "blocks";
    return 4;
  }

  #block(bytes: Buffer, at: number): number {
    const kind = bytes.readUInt8(at);
    if ((kind & 0x7f) === 0) {
      // Decoders refuse a second one, or differ in which they believe.
      if (this.#hasInfo) this.#walker.stop();
      this.#hasInfo = true;
      this.#rate = bytes.readUIntBE(at + BLOCK_HEAD_BYTES + 10, 3) >> 4;
    }
    if ((kind & 0x80) !== 0) this.#section = "frames";
    return BLOCK_HEAD_BYTES + bytes.readUIntBE(at + 1, 3);
  }

  #frame(bytes: Buffer, at: number): number {
    if (bytes[at] !== 0xff) {
      const next = bytes.indexOf(0xff, at + 1);
      return (next === -1 ? bytes.length : next) - at;
    }
    const head = readFrameHead(bytes, at);
    // The end of the header may not have arrived yet.
    if (head === undefined) return at + FRAME_HEAD_BYTES > bytes.length ? 0 : 1;
    // Frames without a rate may have the previous frame's.
    if (head.rate > 0) this.#rate = Math.min(head.rate, this.#rate || head.rate);
    const rate = head.rate || this.#rate;
    if (rate === 0) this.#walker.stop();
    else this.#milliseconds += (head.samples * 1_000) / rate;
    // The header isn't skipped: it may hide another one, which decoders prefer.
    return 1;
  }
}

interface FrameHead {
  samples: number;
  /** Hertz; 0 if the frame refers to the rate in the file's header. */
  rate: number;
}

/** Undefined if no valid header begins at `at`, or if it is incomplete. */
function readFrameHead(bytes: Buffer, at: number): FrameHead | undefined {
  const strategy = bytes[at + 1] ?? 0;
  if ((strategy & 0xfe) !== 0xf8) return undefined;
  const sizes = bytes[at + 2] ?? 0;
  const layout = bytes[at + 3] ?? 0;
  if (layout >> 4 > CHANNEL_CODE_MAX || (layout & 0b1110) === RESERVED_DEPTH || (layout & 1) === 1) return undefined;
  const codedBytes = numberBytes(bytes, at + 4);
  if (codedBytes === 0) return undefined;
  const sizeAt = at + 4 + codedBytes;
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
  return { samples, rate };
}

function samplesOf(code: number): number {
  if (code === 1) return 192;
  if (code >= 8) return 256 << (code - 8);
  return code >= 2 && code <= 5 ? 576 << (code - 2) : 0;
}

/** The length of a number encoded like a UTF-8 character, of up to 36 bits; 0 if there is none. */
function numberBytes(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = Math.clz32(~(first << 24));
  if (length < 2 || length > 7) return 0;
  for (let index = 1; index < length; index += 1) {
    if (((bytes[at + index] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return length;
}

function crc8(bytes: Buffer): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = ((sum << 1) ^ ((sum & 0x80) === 0 ? 0 : 0x07)) & 0xff;
  }
  return sum;
}
