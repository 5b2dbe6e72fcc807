import { FRAME_BYTES_MAX, FRAME_HEAD_BYTES, mpegFrameAt } from "./mpeg-frame.ts";

/** Decoders look for encoded frames at the beginning of uncompressed samples, at most this far. */
export const HIDDEN_BYTES_MAX = 192 * 1024;

/** Frames in a row that are no coincidence: at the very beginning, and anywhere. */
const CHAIN_AT_START = 3;
const CHAIN_MIN = 6;

/**
 * Codecs whose frames have no simple length begin them with one of these words: DTS, TrueHD, and any codec in frames for
 * digital interfaces. With it, the number of words that is no coincidence, also in pure tones.
 */
const words: readonly (readonly [word: string, least: number])[] = [
  ["7ffe8001", 10],
  ["fe7f0180", 10],
  ["1fffe800", 10],
  ["ff1f00e8", 10],
  ["f8726fba", 3],
  ["f8726fbb", 3],
  ["72f81f4e", 3],
  ["f8724e1f", 3],
];

/** A frame of one family of codecs at `at`: its length in bytes, or 0. */
type FrameLength = (bytes: Buffer, at: number) => number;

const families: readonly FrameLength[] = [
  (bytes, at) => lengthOf(bytes, at, "mpeg"),
  (bytes, at) => lengthOf(bytes, at, "adts"),
  // AAC in LOAS: eleven bits of sync, thirteen of length.
  (bytes, at) => ((bytes.readUInt16BE(at) & 0xffe0) === 0x56e0 ? bytes.readUIntBE(at, 3) & 0x1fff : -3) + 3,
  (bytes, at) => ac3Length(bytes, at, 0),
  // The same in words of the other byte order.
  (bytes, at) => ac3Length(bytes, at, 1),
];

/** The first bytes of all families. */
const firstBytes: ReadonlySet<number> = new Set([0xff, 0x56, 0x0b, 0x77]);

const AC3_SYNC = [0x0b, 0x77];
/** Kilobits per second of AC-3. */
const ac3Rates = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];
/** The highest version of AC-3; above it is enhanced AC-3, which contains its length. */
const AC3_VERSION_MAX = 10;
const AC3_VERSIONS = 17;

function ac3Length(bytes: Buffer, at: number, swap: 0 | 1): number {
  const byteOf = (index: number): number => bytes[at + (index ^ swap)] ?? 0;
  if (byteOf(0) !== AC3_SYNC[0] || byteOf(1) !== AC3_SYNC[1]) return 0;
  const version = byteOf(5) >> 3;
  if (version >= AC3_VERSIONS) return 0;
  if (version > AC3_VERSION_MAX) return ((byteOf(2) & 0b111) * 256 + byteOf(3) + 1) * 2;
  const code = byteOf(4) & 0b111111;
  const kilobits = ac3Rates[code >> 1] ?? 0;
  // Frames of 1,536 samples, of 48, 44.1 and 32 kHz.
  const sizes = [kilobits * 4, (Math.floor((kilobits * 96_000) / 44_100) + (code & 1)) * 2, kilobits * 6];
  return kilobits === 0 ? 0 : (sizes[byteOf(4) >> 6] ?? 0);
}

function lengthOf(bytes: Buffer, at: number, format: string): number {
  const frame = mpegFrameAt(bytes, at);
  return frame?.format === format ? frame.bytes : 0;
}

/**
 * Whether bytes that claim to be uncompressed samples are encoded frames (MP3, AAC, AC-3, DTS …). Decoders recognize and
 * play those, and a second of uncompressed sound has room for minutes of them.
 */
export function hidesFrames(bytes: Buffer): boolean {
  return (
    words.some(([word, least]) => occurs(bytes, Buffer.from(word, "hex"), least)) ||
    families.some((family) => hasChain(bytes, family))
  );
}

function occurs(bytes: Buffer, word: Buffer, least: number): boolean {
  let found = 0;
  for (let at = bytes.indexOf(word); at !== -1 && found < least; at = bytes.indexOf(word, at + 1)) found += 1;
  return found >= least;
}

function hasChain(bytes: Buffer, frameLength: FrameLength): boolean {
  // The frames in a row that end at each offset, and the offset up to which they began at 0.
  const ending = new Uint8Array(bytes.length + FRAME_BYTES_MAX + FRAME_HEAD_BYTES);
  let fromStart = 0;
  for (let at = 0; at + FRAME_HEAD_BYTES <= bytes.length; at += 1) {
    if (!firstBytes.has(bytes[at] ?? 0)) continue;
    const length = frameLength(bytes, at);
    if (length === 0) continue;
    const chain = (ending[at] ?? 0) + 1;
    const isFromStart = at === fromStart;
    if (chain >= (isFromStart ? CHAIN_AT_START : CHAIN_MIN)) return true;
    if (isFromStart) fromStart += length;
    ending[at + length] = Math.max(ending[at + length] ?? 0, chain);
  }
  return false;
}
