import { ByteWalker } from "./byte-walker.ts";
import { opusMs } from "./opus-packet.ts";
import { believed, type SoundCounter } from "./sound-counter.ts";

const AUDIO_TRACK = 2;
const NANO_PER_MS = 1_000_000;
const LACING = 0b110;
/** As much of a block as is looked at: its track, its time, its flags and the beginning of a packet. */
const BLOCK_LOOK_BYTES = 13;

/** Elements by their ids: those that hold others are entered, values and blocks are read, the rest is passed over. */
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

/** What the blocks of one track add up to. */
interface Heard {
  first: number;
  last: number;
  bytes: number;
  /** The length of its packets, were they Opus; undefined once there is a block of several packets. */
  opusMs: number | undefined;
}

/**
 * WebM and Matroska: the times of the blocks, and of Opus the packets themselves. What a browser records says no duration,
 * and that of others is but a claim. Elements of unknown size, as a recorder writes them, end where their next sibling
 * begins, so that nothing needs to know where it is nested.
 */
export class WebmCounter implements SoundCounter {
  readonly #walker = new ByteWalker(64, (bytes, at) => this.#step(bytes, at));
  readonly #tracks: Track[] = [];
  readonly #heard = new Map<number, Heard>();
  #scale = NANO_PER_MS;
  #clusterTime = 0;

  push(chunk: Uint8Array): void {
    this.#walker.push(chunk);
  }

  get milliseconds(): number | undefined {
    const audio = this.#tracks.filter(({ type }) => type === AUDIO_TRACK);
    const times = audio.map(({ number, codec }) => this.#msOf(this.#heard.get(number), codec) ?? 0);
    const longest = Math.max(0, ...times);
    return this.#walker.stopped || longest === 0 ? undefined : Math.round(longest);
  }

  #msOf(heard: Heard | undefined, codec: string): number | undefined {
    if (heard === undefined) return undefined;
    const byTimes = believed(((heard.last - heard.first) * this.#scale) / NANO_PER_MS, heard.bytes) ?? 0;
    return codec === "A_OPUS" ? Math.max(byTimes, heard.opusMs ?? 0) : byTimes;
  }

  #step(bytes: Buffer, at: number): number {
    const id = readVint(bytes, at, 4);
    const size = id && readVint(bytes, at + id.bytes, 8);
    if (id === undefined || size === undefined) return 0;
    const head = id.bytes + size.bytes;
    const { size: length } = size;
    if (id.id === TRACK_ENTRY) this.#addTrack();
    if (entered.has(id.id)) return head;
    // Nothing ends it that could be found.
    if (length === undefined || id.bytes > 4) this.#walker.stop();
    const isBlock = id.id === SIMPLE_BLOCK || id.id === BLOCK;
    const look = Math.min(length ?? 0, isBlock ? BLOCK_LOOK_BYTES : VALUE_BYTES_MAX);
    if (at + head + look > bytes.length) return 0;
    const seen = bytes.subarray(at + head, at + head + look);
    if (isBlock) this.#hear(seen, length ?? 0);
    else this.#note(id.id, seen);
    return head + (length ?? 0);
  }

  /** A file with more of them is none. */
  #addTrack(): void {
    if (this.#tracks.length === TRACKS_MAX) return this.#walker.stop();
    this.#tracks.push({ number: 0, type: 0, codec: "" });
  }

  #note(id: number, value: Buffer): void {
    const track = this.#tracks.at(-1);
    if (id === TIMECODE_SCALE) this.#scale = uintOf(value);
    else if (id === CLUSTER_TIME) this.#clusterTime = uintOf(value);
    else if (id === TRACK_NUMBER && track !== undefined) track.number = uintOf(value);
    else if (id === TRACK_TYPE && track !== undefined) track.type = uintOf(value);
    else if (id === CODEC_ID && track !== undefined) track.codec = value.toString("latin1");
  }

  #hear(block: Buffer, bytes: number): void {
    const track = readVint(block, 0, 8);
    const number = track?.size;
    const at = track?.bytes ?? 0;
    if (number === undefined || at + 3 > block.length || !this.#tracks.some((one) => one.number === number)) return;
    const time = this.#clusterTime + block.readInt16BE(at);
    const heard = this.#heard.get(number) ?? { first: time, last: time, bytes: 0, opusMs: 0 };
    this.#heard.set(number, heard);
    heard.last = Math.max(heard.last, time);
    heard.bytes += bytes;
    const isLaced = (block.readUInt8(at + 2) & LACING) !== 0;
    if (isLaced) heard.opusMs = undefined;
    else if (heard.opusMs !== undefined) heard.opusMs += opusMs(block[at + 3] ?? 0, block[at + 4] ?? 0);
  }
}

/** A number that tells its own length, by the zeros before its first bit. */
interface Vint {
  /** That bit included, as ids have it. */
  id: number;
  /** Without it, as sizes have it; undefined where all bits are set, which stands for a size that is not known. */
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
