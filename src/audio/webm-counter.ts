import { ByteWalker } from "./byte-walker.ts";
import { opusMs } from "./opus-packet.ts";
import { plausibleDuration, type SoundCounter } from "./sound-counter.ts";

const AUDIO_TRACK = 2;
const NANO_PER_MS = 1_000_000;
const LACING = 0b110;
/** Bytes of a block that are inspected: its track, time and flags, and the beginning of a packet. */
const BLOCK_LOOK_BYTES = 13;

/** The ids of container elements, which are entered. Values and blocks are read, all other elements skipped. */
const entered: ReadonlySet<number> = new Set([0x18538067, 0x1549a966, 0x1654ae6b, 0xae, 0x1f43b675, 0xa0]);
const TRACK_ENTRY = 0xae;
const TIMECODE_SCALE = 0x2ad7b1;
const TRACK_NUMBER = 0xd7;
const TRACK_TYPE = 0x83;
const CODEC_ID = 0x86;
const CLUSTER_TIME = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
const VALUE_BYTES_MAX = 8;
const TRACKS_MAX = 100;

interface Track {
  number: number;
  type: number;
  codec: string;
}

/** The blocks of one track, added up. */
interface TrackBlocks {
  first: number;
  last: number;
  bytes: number;
  /** The duration of its packets if they are Opus; undefined once a block contains several packets. */
  opusMs: number | undefined;
}

/**
 * WebM and Matroska: reads the times of the blocks and, of Opus, the packets. Browsers record no duration, and a
 * duration in other files is only a claim. Elements of unknown size, as recorders write them, end where their next
 * sibling begins, so that nesting needs no tracking.
 */
export class WebmCounter implements SoundCounter {
  readonly #walker = new ByteWalker(64, (bytes, at) => this.#step(bytes, at));
  readonly #tracks: Track[] = [];
  readonly #blocks = new Map<number, TrackBlocks>();
  #scale = NANO_PER_MS;
  #clusterTime = 0;

  push(chunk: Uint8Array): void {
    this.#walker.push(chunk);
  }

  get milliseconds(): number | undefined {
    const audio = this.#tracks.filter(({ type }) => type === AUDIO_TRACK);
    const times = audio.map(({ number, codec }) => this.#msOf(this.#blocks.get(number), codec) ?? 0);
    const longest = Math.max(0, ...times);
    return this.#walker.stopped || longest === 0 ? undefined : Math.round(longest);
  }

  #msOf(blocks: TrackBlocks | undefined, codec: string): number | undefined {
    if (blocks === undefined) return undefined;
    const byTimes = plausibleDuration(((blocks.last - blocks.first) * this.#scale) / NANO_PER_MS, blocks.bytes) ?? 0;
    return codec === "A_OPUS" ? Math.max(byTimes, blocks.opusMs ?? 0) : byTimes;
  }

  #step(bytes: Buffer, at: number): number {
    const id = readVint(bytes, at, 4);
    const size = id && readVint(bytes, at + id.bytes, 8);
    if (id === undefined || size === undefined) return 0;
    const head = id.bytes + size.bytes;
    const { size: length } = size;
    if (id.id === TRACK_ENTRY) this.#addTrack();
    if (entered.has(id.id)) return head;
    // The end of such an element can't be found.
    if (length === undefined || id.bytes > 4) this.#walker.stop();
    const isBlock = id.id === SIMPLE_BLOCK || id.id === BLOCK;
    const look = Math.min(length ?? 0, isBlock ? BLOCK_LOOK_BYTES : VALUE_BYTES_MAX);
    if (at + head + look > bytes.length) return 0;
    const seen = bytes.subarray(at + head, at + head + look);
    if (isBlock) this.#addBlock(seen, length ?? 0);
    else this.#readValue(id.id, seen);
    return head + (length ?? 0);
  }

  /** A file with more tracks than allowed is rejected. */
  #addTrack(): void {
    if (this.#tracks.length === TRACKS_MAX) return this.#walker.stop();
    this.#tracks.push({ number: 0, type: 0, codec: "" });
  }

  #readValue(id: number, value: Buffer): void {
    const track = this.#tracks.at(-1);
    if (id === TIMECODE_SCALE) this.#scale = uintOf(value);
    else if (id === CLUSTER_TIME) this.#clusterTime = uintOf(value);
    else if (id === TRACK_NUMBER && track !== undefined) track.number = uintOf(value);
    else if (id === TRACK_TYPE && track !== undefined) track.type = uintOf(value);
    else if (id === CODEC_ID && track !== undefined) track.codec = value.toString("latin1");
  }

  #addBlock(block: Buffer, bytes: number): void {
    const track = readVint(block, 0, 8);
    const number = track?.size;
    const at = track?.bytes ?? 0;
    if (number === undefined || at + 3 > block.length || !this.#tracks.some((other) => other.number === number)) return;
    const time = this.#clusterTime + block.readInt16BE(at);
    const blocks = this.#blocks.get(number) ?? { first: time, last: time, bytes: 0, opusMs: 0 };
    this.#blocks.set(number, blocks);
    blocks.last = Math.max(blocks.last, time);
    blocks.bytes += bytes;
    const isLaced = (block.readUInt8(at + 2) & LACING) !== 0;
    if (isLaced) blocks.opusMs = undefined;
    else if (blocks.opusMs !== undefined) blocks.opusMs += opusMs(block[at + 3] ?? 0, block[at + 4] ?? 0);
  }
}

/** A variable-length number; the zeros before its first set bit determine its length. */
interface Vint {
  /** The value including that bit, as in ids. */
  id: number;
  /** The value without that bit, as in sizes; undefined if all bits are set, which means an unknown size. */
  size: number | undefined;
  bytes: number;
}

function readVint(bytes: Buffer, at: number, bytesMax: number): Vint | undefined {
  const first = bytes[at] ?? 0;
  const length = Math.clz32(first) - 23;
  if (at + Math.min(length, bytesMax) > bytes.length) return undefined;
  const mask = 0xff >> length;
  let id = first;
  let size = first & mask;
  let isOpen = size === mask;
  for (let index = 1; index < length; index += 1) {
    const byte = bytes[at + index] ?? 0;
    id = id * 256 + byte;
    size = size * 256 + byte;
    isOpen &&= byte === 0xff;
  }
  return { id, size: isOpen ? undefined : size, bytes: length };
}

function uintOf(value: Buffer): number {
  let sum = 0;
  for (const byte of value) sum = sum * 256 + byte;
  return sum;
}
