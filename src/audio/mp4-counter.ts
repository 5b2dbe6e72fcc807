import { ByteWalker } from "./byte-walker.ts";
import { plausibleDuration, fourLetters, type SoundCounter } from "./sound-counter.ts";

/** Boxes that contain other boxes. All others are read as far as needed, or skipped. */
const entered: ReadonlySet<number> = new Set(
  ["moov", "trak", "mdia", "minf", "stbl", "moof", "traf", "mvex"].map((name) => fourLetters(name)),
);
const TRACK = fourLetters("trak");
const MEDIA = fourLetters("mdat");
const AAC = fourLetters("mp4a");
const SOUND = fourLetters("soun");

/** Bytes of a box that are read at once: more than the longest header of a table. */
const LOOK_BYTES = 64;

/** A file with more tracks is rejected. */
const TRACKS_MAX = 100;

/** Samples in a packet of AAC. Decoders ignore the duration in the table. */
const AAC_SAMPLES = 1_024;

interface Track {
  id: number;
  /** Units of time in a second. */
  timescale: number;
  /** The kind of track, as four letters; 0 if not specified. */
  handler: number;
  /** The sample rate of AAC in hertz; 0 for other codecs. */
  aacRate: number;
  packets: number;
  /** Their total duration. */
  time: number;
  /** The number of packets with a size. Decoders play all of them, even if the table of times ends earlier. */
  sized: number;
  /** The default duration of a packet in a fragment that doesn't specify it per packet. */
  fragmentTime: number;
}

/** A table within a box, which is read row by row. */
interface Table {
  /** The offset of its rows from the end of the box's header. */
  start: number;
  rows: number;
  rowBytes: number;
  read(bytes: Buffer, row: number): void;
  /** Bytes of the box after the table. */
  trailingBytes: number;
}

type OpenTable = Omit<Table, "trailingBytes">;

/** MP4 and M4A, whole or in fragments as browsers record them: adds up the times of all audio packets. */
export class Mp4Counter implements SoundCounter {
  readonly #walker = new ByteWalker(2 * LOOK_BYTES, (bytes, at) => this.#step(bytes, at));
  readonly #tracks: Track[] = [];
  readonly #fragmentTimes = new Map<number, number>();
  readonly #readers = byNumber<(box: Buffer) => OpenTable | undefined>([
    ["tkhd", (box) => this.#set({ id: box.readUInt32BE(box[0] === 1 ? 20 : 12) })],
    ["mdhd", (box) => this.#set({ timescale: box.readUInt32BE(box[0] === 1 ? 20 : 12) })],
    ["hdlr", (box) => this.#handler(box.readUInt32BE(8))],
    ["stsd", (box) => this.#set({ aacRate: box.readUInt32BE(12) === AAC ? box.readUInt16BE(40) : 0 })],
    ["stts", (box) => this.#times(box)],
    // Both boxes have the number of packets at this offset.
    ["stsz", (box) => this.#set({ sized: box.readUInt32BE(8) })],
    ["stz2", (box) => this.#set({ sized: box.readUInt32BE(8) })],
    ["trex", (box) => this.#fragmentDefault(box)],
    ["tfhd", (box) => this.#fragment(box)],
    ["trun", (box) => this.#run(box)],
  ]);
  #track = emptyTrack();
  #table: Table | undefined;
  /** Infinite if the media box extends to the end of the file. */
  #mediaBytes = 0;

  push(chunk: Uint8Array): void {
    this.#walker.push(chunk);
  }

  get milliseconds(): number | undefined {
    if (this.#walker.stopped) return undefined;
    const sound = this.#tracks.filter(({ handler }) => handler === SOUND);
    // A packet has at least one byte.
    const plausible = sound.filter(({ packets, sized }) => Math.max(packets, sized) <= this.#mediaBytes).map(msOf);
    const isAllSound = sound.length === this.#tracks.length && Number.isFinite(this.#mediaBytes);
    return plausibleDuration(Math.max(0, ...plausible), isAllSound ? this.#mediaBytes : 0);
  }

  #step(bytes: Buffer, at: number): number {
    const table = this.#table;
    if (table !== undefined && table.rows > 0) return readRow(table, bytes, at);
    this.#table = undefined;
    return table !== undefined && table.trailingBytes > 0 ? table.trailingBytes : this.#box(bytes, at);
  }

  #box(bytes: Buffer, at: number): number {
    if (at + 8 > bytes.length) return 0;
    const size = bytes.readUInt32BE(at);
    const name = bytes.readUInt32BE(at + 4);
    const head = size === 1 ? 16 : 8;
    if (at + head > bytes.length) return 0;
    const length = size === 0 ? Number.POSITIVE_INFINITY : size === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : size;
    if (length < head) this.#walker.stop();
    if (name === TRACK) this.#addTrack();
    if (name === MEDIA) this.#mediaBytes += length - head;
    if (entered.has(name)) return head;
    const read = this.#readers.get(name);
    if (read === undefined) return Math.max(length, head);
    const look = Math.min(length - head, LOOK_BYTES);
    if (at + head + look > bytes.length) return 0;
    // A box that is too short is padded with zeros.
    const seen = Buffer.alloc(LOOK_BYTES);
    bytes.copy(seen, 0, at + head, at + head + look);
    return head + this.#enter(read(seen), length - head);
  }

  /** Returns the bytes up to the box's table, or to the end of the box if there is none. */
  #enter(table: OpenTable | undefined, length: number): number {
    if (table === undefined || table.start > length) return length;
    const rows = Math.min(table.rows, Math.floor((length - table.start) / table.rowBytes));
    this.#table = { ...table, rows, trailingBytes: length - table.start - rows * table.rowBytes };
    return table.start;
  }

  #addTrack(): void {
    if (this.#tracks.length === TRACKS_MAX) return this.#walker.stop();
    this.#track = emptyTrack();
    this.#tracks.push(this.#track);
  }

  #set(properties: Partial<Track>): undefined {
    Object.assign(this.#track, properties);
  }

  /** Keeps the first handler: QuickTime names another kind of handler further inside. */
  #handler(handler: number): undefined {
    if (this.#track.handler === 0) this.#track.handler = handler;
  }

  #times(box: Buffer): OpenTable {
    const track = this.#track;
    return {
      start: 8,
      rows: box.readUInt32BE(4),
      rowBytes: 8,
      read: (bytes, row) => count(track, bytes.readUInt32BE(row), bytes.readUInt32BE(row + 4)),
    };
  }

  #fragmentDefault(box: Buffer): undefined {
    if (this.#fragmentTimes.size < TRACKS_MAX) this.#fragmentTimes.set(box.readUInt32BE(4), box.readUInt32BE(12));
  }

  #fragment(box: Buffer): undefined {
    const flags = box.readUIntBE(1, 3);
    const id = box.readUInt32BE(4);
    const at = 8 + ((flags & 0x1) === 0 ? 0 : 8) + ((flags & 0x2) === 0 ? 0 : 4);
    this.#track = this.#tracks.find((track) => track.id === id) ?? emptyTrack();
    this.#track.fragmentTime = (flags & 0x8) === 0 ? (this.#fragmentTimes.get(id) ?? 0) : box.readUInt32BE(at);
  }

  #run(box: Buffer): OpenTable | undefined {
    const track = this.#track;
    const flags = box.readUIntBE(1, 3);
    const packets = box.readUInt32BE(4);
    if ((flags & 0x100) === 0) {
      count(track, packets, track.fragmentTime);
      return undefined;
    }
    const start = 8 + ((flags & 0x1) === 0 ? 0 : 4) + ((flags & 0x4) === 0 ? 0 : 4);
    const fields = [0x100, 0x200, 0x400, 0x800].filter((flag) => (flags & flag) !== 0).length;
    const read = (bytes: Buffer, row: number): void => count(track, 1, bytes.readUInt32BE(row));
    return { start, rows: packets, rowBytes: 4 * fields, read };
  }
}

function emptyTrack(): Track {
  return { id: 0, timescale: 0, handler: 0, aacRate: 0, packets: 0, time: 0, sized: 0, fragmentTime: 0 };
}

function count(track: Track, packets: number, each: number): void {
  track.packets += packets;
  track.time += packets * each;
}

function readRow(table: Table, bytes: Buffer, at: number): number {
  if (at + table.rowBytes > bytes.length) return 0;
  table.rows -= 1;
  table.read(bytes, at);
  return table.rowBytes;
}

/** High-efficiency AAC has twice the samples that its rate implies; its table is right. */
function msOf({ time, timescale, packets, sized, aacRate }: Track): number {
  const byTable = timescale === 0 || sized > packets ? 0 : (time * 1_000) / timescale;
  return aacRate === 0 ? byTable : Math.max(byTable, (Math.max(packets, sized) * AAC_SAMPLES * 1_000) / aacRate);
}

function byNumber<Value>(entries: readonly (readonly [name: string, value: Value])[]): ReadonlyMap<number, Value> {
  return new Map(entries.map(([name, value]) => [fourLetters(name), value]));
}
