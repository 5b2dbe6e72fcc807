import { FRAME_BYTES_MAX, FRAME_HEAD_BYTES, mpegFrameAt } from "./mpeg-frame.ts";

/** Decoders look for encoded frames at the beginning of uncompressed samples, at most this far. */
export const HIDDEN_BYTES_MAX = 192 * 1024;

/** Frames in a row that are no coincidence: at the very beginning, and anywhere. */
const CHAIN_AT_START = 3;
const CHAIN_MIN = 6;

/** Codecs that begin each frame with one of these words, and the number of words that is no coincidence. */
const LONG_WORDS = ["7ffe8001", "fe7f0180", "1fffe800", "ff1f00e8", "f8726fba", "f8726fbb", "72f81f4e", "f8724e1f"];
const LONG_WORDS_MIN = 4;
const SHORT_WORDS = ["0b77", "770b"];
const SHORT_WORDS_MIN = 48;

/** A frame of one family of codecs at `at`: its length in bytes, or 0. */
type FrameLength = (bytes: Buffer, at: number) => number;

const families: readonly FrameLength[] = [
  (bytes, at) => lengthOf(bytes, at, "mpeg"),
  (bytes, at) => lengthOf(bytes, at, "adts"),
  // AAC in LOAS: eleven bits of sync, thirteen of length.
  (bytes, at) => ((bytes.readUInt16BE(at) & 0xffe0) === 0x56e0 ? bytes.readUIntBE(at, 3) & 0x1fff : -3) + 3,
];

function lengthOf(bytes: Buffer, at: number, format: string): number {
  const frame = mpegFrameAt(bytes, at);
  return frame?.format === format ? frame.bytes : 0;
}

/**
 * Whether bytes that claim to be uncompressed samples are encoded frames (MP3, AAC, AC-3, DTS …). Decoders recognize and
 * play those, and a second of uncompressed sound has room for minutes of them.
 */
export function hidesFrames(bytes: Buffer): boolean {
  if (LONG_WORDS.some((word) => occurs(bytes, Buffer.from(word, "hex"), LONG_WORDS_MIN))) return true;
  const isShort = (word: string): boolean => {
    const sync = Buffer.from(word, "hex");
    return occurs(bytes, sync, bytes.subarray(0, sync.length).equals(sync) ? CHAIN_AT_START : SHORT_WORDS_MIN);
  };
  return SHORT_WORDS.some(isShort) || families.some((family) => hasChain(bytes, family));
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
    const first = bytes[at];
    if (first !== 0xff && first !== 0x56) continue;
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
