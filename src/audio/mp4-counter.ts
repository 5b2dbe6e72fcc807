import { aacPacketMs, isPlausibleAac } from "./aac-config.ts";
import { ByteWalker } from "./byte-walker.ts";
import { fourLetters, type SoundCounter, wholeMs } from "./sound-counter.ts";

/** Boxes that contain other boxes, for any decoder. All others are read as far as needed, or skipped. */
const entered: ReadonlySet<number> = new Set(
  "moov trak mdia minf stbl edts dinf udta moof traf mvex".split(" ").map((name) => fourLetters(name)),
);
const TRACK = fourLetters("trak");
const MEDIA = fourLetters("mdat");
const SOUND = fourLetters("soun");
const ANY_HANDLER = fourLetters("mdir");

/** Kinds of tracks without sound: films, subtitles, chapters, time codes. */
const silent: ReadonlySet<number> = new Set(
  "vide text sbtl subt clcp tmcd hint meta url ".split(" ").map((name) => fourLetters(name.padEnd(4))),
);

/** Boxes that a track has once; of several, decoders choose differently. */
const single: ReadonlySet<number> = new Set(
  "tkhd mdhd stsd stts stsz stz2 elst".split(" ").map((name) => fourLetters(name)),
);

/** Bytes of a box that are read at once: more than the longest header of a table, and all of a description. */
const LOOK_BYTES = 64;
const DESCRIPTION = fourLetters("stsd");
const DESCRIPTION_BYTES_MAX = 4_096;

/** A file with more tracks is rejected. */
const TRACKS_MAX = 100;

interface Track {
  id: number;
  /** The kind of track, as four letters; 0 if not specified. */
  handler: number;
  /** The milliseconds of a packet, by the codec's own description; 0 if it can't be measured. */
  packetMs: number;
  isAac: boolean;
  /** Packets in the tables and the fragments. */
  packets: number;
  /** The edits that play a part of the track. */
  edits: number;
  boxes: Set<number>;
}

/**
 * MP4 and M4A with AAC or ALAC, whole or in fragments as browsers record them: counts the packets, whose duration is in
 * the codec's own description. The times and rates of the container are only claims, which decoders ignore.
 */
export class Mp4Counter implements SoundCounter {
  readonly #walker = new ByteWalker(2 * DESCRIPTION_BYTES_MAX, (bytes, at) => this.#step(bytes, at));
  readonly #tracks: Track[] = [];
  readonly #readers = byNumber<(box: Buffer, length: number) => void>([
    ["tkhd", (box) => this.#set({ id: box.readUInt32BE(box[0] === 1 ? 20 : 12) })],
    ["hdlr", (box) => this.#handler(box.readUInt32BE(8))],
    ["stsd", (box) => this.#set(readDescription(box))],
    // Both boxes have the number of packets at this offset.
    ["stsz", (box) => this.#count(box.readUInt32BE(8))],
    ["stz2", (box) => this.#count(box.readUInt32BE(8))],
    ["elst", (box, length) => this.#edits(box, length)],
    ["tfhd", (box) => this.#fragment(box.readUInt32BE(4))],
    ["trun", (box, length) => this.#run(box, length)],
    // A compressed header.
    ["cmov", () => this.#walker.stop()],
  ]);
  #track = emptyTrack();
  /** The offset in the file, and the ends of the boxes around it, the innermost last. */
  #offset = 0;
  readonly #ends: number[] = [];
  #bytes = 0;
  #mediaBytes = 0;

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    this.#walker.push(chunk);
  }

  get milliseconds(): number | undefined {
    if (this.#walker.stopped || !this.#tracks.every((track) => this.#isPlausible(track))) return undefined;
    return wholeMs(Math.max(0, ...this.#tracks.map(({ packetMs, packets }) => packetMs * packets)));
  }

  /** Whether decoders play the counted packets and no more. Other tracks may take a part of the bytes. */
  #isPlausible({ id, handler, packetMs, isAac, packets, edits }: Track): boolean {
    const mediaBytes = Math.min(this.#mediaBytes, this.#bytes);
    if (this.#tracks.filter((other) => other.id === id).length > 1) return false;
    if (silent.has(handler)) return packetMs === 0;
    if (handler !== SOUND || packetMs === 0 || edits > 1) return false;
    // A packet has at least one byte.
    if (packets > mediaBytes) return false;
    return !isAac || this.#tracks.length > 1 || isPlausibleAac(mediaBytes, packets);
  }

  #step(bytes: Buffer, at: number): number {
    const taken = this.#box(bytes, at);
    this.#offset += taken;
    return taken;
  }

  #box(bytes: Buffer, at: number): number {
    while ((this.#ends.at(-1) ?? Number.POSITIVE_INFINITY) <= this.#offset) this.#ends.pop();
    const room = (this.#ends.at(-1) ?? Number.POSITIVE_INFINITY) - this.#offset;
    // Some lists end with zeros.
    if (room < 8) return room;
    if (at + 8 > bytes.length) return 0;
    const size = bytes.readUInt32BE(at);
    const name = bytes.readUInt32BE(at + 4);
    const head = size === 1 ? 16 : 8;
    if (at + head > bytes.length) return 0;
    const length = size === 0 ? room : size === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : size;
    // Decoders cut such a box, or read beyond it.
    if (length < head || length > room) this.#walker.stop();
    if (name === TRACK) this.#addTrack();
    if (name === MEDIA) this.#mediaBytes += length - head;
    if (entered.has(name)) {
      this.#ends.push(this.#offset + length);
      return head;
    }
    const read = this.#readers.get(name);
    if (read === undefined && !single.has(name)) return Math.max(length, head);
    const look = Math.min(length - head, name === DESCRIPTION ? DESCRIPTION_BYTES_MAX : LOOK_BYTES);
    if (at + head + look > bytes.length) return 0;
    if (single.has(name)) this.#addBox(name);
    // A box that is too short is padded with zeros.
    const seen = Buffer.alloc(Math.max(LOOK_BYTES, look));
    bytes.copy(seen, 0, at + head, at + head + look);
    read?.(seen, length - head);
    return Math.max(length, head);
  }

  #addBox(name: number): void {
    if (this.#track.boxes.has(name)) this.#walker.stop();
    this.#track.boxes.add(name);
  }

  #addTrack(): void {
    if (this.#tracks.length === TRACKS_MAX) return this.#walker.stop();
    this.#track = emptyTrack();
    this.#tracks.push(this.#track);
  }

  #set(properties: Partial<Track>): void {
    Object.assign(this.#track, properties);
  }

  /** Keeps the first handler, unless a later one is sound: QuickTime names another kind of handler further inside. */
  #handler(handler: number): void {
    if (handler === ANY_HANDLER) return;
    if (this.#track.handler === 0 || handler === SOUND) this.#track.handler = handler;
  }

  #count(packets: number): void {
    this.#track.packets += packets;
  }

  /** Counts the edits that aren't pauses: each plays a part of the track. */
  #edits(box: Buffer, length: number): void {
    const isLong = box[0] === 1;
    const rowBytes = isLong ? 20 : 12;
    const rows = box.readUInt32BE(4);
    if (8 + rows * rowBytes > Math.min(length, LOOK_BYTES)) return this.#walker.stop();
    for (let row = 0; row < rows; row += 1) {
      const at = 8 + row * rowBytes + (isLong ? 8 : 4);
      const isPause = box.readInt32BE(at) === -1;
      if (!isPause) this.#track.edits += 1;
    }
  }

  #fragment(id: number): void {
    const track = this.#tracks.find((known) => known.id === id);
    if (track === undefined) this.#walker.stop();
    this.#track = track ?? emptyTrack();
  }

  #run(box: Buffer, length: number): void {
    const flags = box.readUIntBE(1, 3);
    const packets = box.readUInt32BE(4);
    const start = 8 + ((flags & 0x1) === 0 ? 0 : 4) + ((flags & 0x4) === 0 ? 0 : 4);
    const fields = [0x100, 0x200, 0x400, 0x800].filter((flag) => (flags & flag) !== 0).length;
    // Decoders read rows beyond the end of the box.
    if (start + packets * fields * 4 > length) this.#walker.stop();
    this.#count(packets);
  }
}

function emptyTrack(): Track {
  return { id: 0, handler: 0, packetMs: 0, isAac: false, packets: 0, edits: 0, boxes: new Set() };
}

const AAC = "mp4a";
const ALAC = "alac";
/** The offset of the first description's codec, and of its sample rate. */
const CODEC_AT = 12;
const RATE_AT = 40;
const ALAC_RATE_AT = 20;

/** Reads the only description of a track. */
function readDescription(box: Buffer): Pick<Track, "packetMs" | "isAac"> {
  const codec = box.toString("latin1", CODEC_AT, CODEC_AT + 4);
  const isSingle = box.readUInt32BE(4) === 1;
  const config = isSingle ? contentOf(box, codec === AAC ? "esds" : ALAC) : undefined;
  if (config === undefined) return { packetMs: 0, isAac: false };
  if (codec === AAC) return { packetMs: aacPacketMs(readElementaryStream(config)), isAac: true };
  if (codec !== ALAC || config.length < ALAC_RATE_AT + 4) return { packetMs: 0, isAac: false };
  const rates = [config.readUInt32BE(ALAC_RATE_AT), box.readUInt16BE(RATE_AT)].filter((rate) => rate > 0);
  return { packetMs: rates.length === 0 ? 0 : (config.readUInt32BE(0) * 1_000) / Math.min(...rates), isAac: false };
}

/** The content of a box within a description, without its version. Undefined unless there is exactly one. */
function contentOf(description: Buffer, name: string): Buffer | undefined {
  const at = description.indexOf(name, CODEC_AT + 4, "latin1");
  if (at === -1 || description.includes(name, at + 4, "latin1")) return undefined;
  return description.subarray(at + 8);
}

const STREAM_TAG = 3;
const DECODER_TAG = 4;
const CONFIG_TAG = 5;
/** AAC of MPEG 4, and of MPEG 2. */
const aacTypes: ReadonlySet<number> = new Set([0x40, 0x66, 0x67, 0x68]);

/** The AudioSpecificConfig in an elementary stream's description; empty if there is none. */
function readElementaryStream(bytes: Buffer): Buffer {
  const stream = descriptorOf(bytes, STREAM_TAG);
  const flags = stream[2] ?? 0;
  const skipped =
    3 +
    ((flags & 0x80) === 0 ? 0 : 2) +
    ((flags & 0x40) === 0 ? 0 : 1 + (stream[3] ?? 0)) +
    ((flags & 0x20) === 0 ? 0 : 2);
  const decoder = descriptorOf(stream.subarray(skipped), DECODER_TAG);
  return aacTypes.has(decoder[0] ?? 0) ? descriptorOf(decoder.subarray(13), CONFIG_TAG) : Buffer.alloc(0);
}

/** The content of the descriptor at the beginning, which must have this tag; its length has seven bits per byte. */
function descriptorOf(bytes: Buffer, tag: number): Buffer {
  let at = 1;
  let length = 0;
  let byte = 0x80;
  while ((byte & 0x80) !== 0 && at < 5) {
    byte = bytes[at] ?? 0;
    length = length * 128 + (byte & 0x7f);
    at += 1;
  }
  return bytes[0] === tag ? bytes.subarray(at, at + length) : Buffer.alloc(0);
}

function byNumber<Value>(entries: readonly (readonly [name: string, value: Value])[]): ReadonlyMap<number, Value> {
  return new Map(entries.map(([name, value]) => [fourLetters(name), value]));
}
