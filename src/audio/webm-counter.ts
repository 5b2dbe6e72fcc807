import { aacPacketMs, isPlausibleAac } from "./aac-config.ts";
import { ByteWalker } from "./byte-walker.ts";
import { opusMs } from "./opus-packet.ts";
import { samplesPerSecond, type SoundCounter, wholeMs } from "./sound-counter.ts";
import { VorbisTimer } from "./vorbis.ts";
import { WordCounter } from "./word-counter.ts";

const AUDIO_TRACK = 2;

/** Bytes of a block that are inspected at most: its head with the lengths of its packets, and a packet's beginning. */
const BLOCK_LOOK_BYTES = 4 * 1024;
const PACKET_LOOK_BYTES = 2;

/** The longest setup of a codec: Vorbis has some kilobytes. */
const SETUP_BYTES_MAX = 128 * 1024;

/** The ids of container elements, which are entered. Values and blocks are read, all other elements skipped. */
const entered: ReadonlySet<number> = new Set([0x18538067, 0x1549a966, 0x1654ae6b, 0xae, 0xe1, 0x1f43b675, 0xa0]);
const CLUSTER = 0x1f43b675;
const TRACK_ENTRY = 0xae;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
const VALUE_BYTES_MAX = 16;
const TRACKS_MAX = 100;

/** Values of a track. Each occurs once; of several, decoders would choose differently. */
const properties = new Map<number, Property>([
  [0xd7, "number"],
  [0x83, "type"],
  [0x86, "codec"],
  [0x63a2, "setup"],
  [0xb5, "rate"],
  [0x78b5, "outputRate"],
  [0x9f, "channels"],
  [0x6264, "bits"],
  // Compressed or encrypted packets.
  [0x6d80, "encodings"],
]);

type Property = "number" | "type" | "codec" | "setup" | "rate" | "outputRate" | "channels" | "bits" | "encodings";

/** Measures a packet by its length and its first bytes; undefined if it can't. */
type Meter = (bytes: number, first: number, second: number) => number | undefined;

interface Track {
  values: Map<Property, Buffer>;
  isAudio: boolean;
  /** Created with the first packet. */
  meter: Meter | undefined;
  milliseconds: number;
  bytes: number;
  packets: number;
}

/**
 * WebM and Matroska with Opus, Vorbis, AAC or uncompressed samples: counts the packets. The times of the blocks and of
 * the file are only claims. Elements of unknown size, as recorders write them, end where their next sibling begins, so
 * that nesting needs no tracking. A cluster within an element would be played if the element is invalid.
 */
export class WebmCounter implements SoundCounter {
  readonly #walker = new ByteWalker(SETUP_BYTES_MAX, (bytes, at) => this.#step(bytes, at));
  readonly #tracks: Track[] = [];
  readonly #clusterIds = new WordCounter(Buffer.from("1f43b675", "hex"));
  /** Known from the first block on. */
  #byNumber: ReadonlyMap<number, Track> | undefined;
  #clusters = 0;
  /** The remaining packets of the block, the next one last. */
  #packets: number[] = [];
  #current: Track | undefined;

  push(chunk: Uint8Array): void {
    this.#walker.push(chunk);
    this.#clusterIds.push(chunk);
  }

  get milliseconds(): number | undefined {
    const isHidden = this.#clusterIds.countBefore(HEAD_BYTES_MAX) > this.#clusters;
    if (this.#walker.stopped || isHidden || !this.#tracks.every(isPlausible)) return undefined;
    return wholeMs(Math.max(0, ...this.#tracks.map(({ milliseconds }) => milliseconds)));
  }

  #step(bytes: Buffer, at: number): number {
    if (this.#packets.length > 0) return this.#packet(bytes, at);
    const id = readVint(bytes, at, 4);
    const size = id && readVint(bytes, at + id.bytes, 8);
    if (id === undefined || size === undefined) return 0;
    const head = id.bytes + size.bytes;
    const { size: length } = size;
    if (id.id === TRACK_ENTRY) this.#addTrack();
    if (id.id === CLUSTER) this.#clusters += 1;
    if (entered.has(id.id)) return head;
    // The end of such an element can't be found.
    if (length === undefined || id.bytes > 4) {
      this.#walker.stop();
      return head;
    }
    if (id.id === SIMPLE_BLOCK || id.id === BLOCK) return this.#block(bytes, at, head, length);
    const property = properties.get(id.id);
    if (property === undefined) return head + length;
    const look = Math.min(length, property === "setup" ? SETUP_BYTES_MAX : VALUE_BYTES_MAX);
    if (at + head + look > bytes.length) return 0;
    this.#readProperty(property, bytes.subarray(at + head, at + head + look));
    return head + length;
  }

  /** A file with more tracks than allowed, or with a track after the first block, is rejected. */
  #addTrack(): void {
    if (this.#tracks.length === TRACKS_MAX || this.#byNumber !== undefined) return this.#walker.stop();
    this.#tracks.push({ values: new Map(), isAudio: false, meter: undefined, milliseconds: 0, bytes: 0, packets: 0 });
  }

  #readProperty(property: Property, value: Buffer): void {
    const values = this.#tracks.at(-1)?.values;
    if (values === undefined || values.has(property)) this.#walker.stop();
    values?.set(property, Buffer.from(value));
  }

  #block(bytes: Buffer, at: number, head: number, length: number): number {
    const look = Math.min(length, BLOCK_LOOK_BYTES);
    if (at + head + look > bytes.length) return 0;
    const block = bytes.subarray(at + head, at + head + look);
    const number = readVint(block, 0, 8);
    const track = number?.size === undefined ? undefined : this.#trackOf(number.size);
    const lacing = number && readLacing(block, number.bytes + 2, length);
    if (track === undefined || lacing === undefined) {
      this.#walker.stop();
      return head + length;
    }
    if (!track.isAudio) return head + length;
    track.meter ??= meterOf(track.values);
    if (track.meter === undefined) this.#walker.stop();
    this.#current = track;
    // An empty packet is no step of the walk.
    this.#packets = lacing.packets.filter((bytesOf) => bytesOf > 0).toReversed();
    return head + lacing.bytes;
  }

  /** The only track with a number. */
  #trackOf(number: number): Track | undefined {
    if (this.#byNumber === undefined) {
      for (const track of this.#tracks) track.isAudio = isAudio(track);
      const byNumber = this.#tracks.map((track) => [uintOf(track.values.get("number")), track] as const);
      this.#byNumber = new Map(byNumber);
      if (this.#byNumber.size < this.#tracks.length) this.#walker.stop();
    }
    return this.#byNumber.get(number);
  }

  #packet(bytes: Buffer, at: number): number {
    const length = this.#packets.at(-1) ?? 0;
    if (at + Math.min(length, PACKET_LOOK_BYTES) > bytes.length) return 0;
    this.#packets.pop();
    const track = this.#current;
    const milliseconds = track?.meter?.(length, bytes[at] ?? 0, length > 1 ? (bytes[at + 1] ?? 0) : 0);
    if (track === undefined || milliseconds === undefined) {
      this.#walker.stop();
      return length;
    }
    track.milliseconds += milliseconds;
    track.bytes += length;
    track.packets += 1;
    return length;
  }
}

/** The longest head of an element: its id and its size. */
const HEAD_BYTES_MAX = 12;

/** A track of sound by its type or by its codec: decoders may believe either. */
function isAudio({ values }: Track): boolean {
  return uintOf(values.get("type")) === AUDIO_TRACK || codecOf(values).startsWith("A_");
}

function codecOf(values: ReadonlyMap<Property, Buffer>): string {
  return values.get("codec")?.toString("latin1").replace(/\0.*$/, "") ?? "";
}

function isPlausible({ values, bytes, packets }: Track): boolean {
  return codecOf(values) !== "A_AAC" || isPlausibleAac(bytes, packets);
}

function meterOf(values: ReadonlyMap<Property, Buffer>): Meter | undefined {
  if (values.has("encodings")) return undefined;
  const setup = values.get("setup") ?? Buffer.alloc(0);
  switch (codecOf(values)) {
    case "A_OPUS":
      return (_bytes, first, second) => opusMs(first, second);
    case "A_VORBIS":
      return vorbisMeter(setup);
    case "A_AAC":
      return aacMeter(setup);
    case "A_PCM/INT/LIT":
    case "A_PCM/INT/BIG":
    case "A_PCM/FLOAT/IEEE":
      return pcmMeter(values);
    default:
      return undefined;
  }
}

/** The setup contains the three headers: the number of the first two's lengths, these lengths, and the headers. */
function vorbisMeter(setup: Buffer): Meter | undefined {
  const lacing = setup[0] === 2 ? readXiphLengths(setup, 1, 2) : undefined;
  if (lacing === undefined) return undefined;
  const [first = 0, comments = 0] = lacing.lengths;
  const timer = VorbisTimer.of(setup.subarray(lacing.end, lacing.end + first));
  const isReady = timer?.setUp(setup.subarray(lacing.end + first + comments)) ?? false;
  return isReady ? (_bytes, byte) => timer?.packetMs(byte) : undefined;
}

function aacMeter(setup: Buffer): Meter | undefined {
  const milliseconds = aacPacketMs(setup);
  if (milliseconds === 0) return undefined;
  // A packet with a header of its own has that header's rate.
  return (_bytes, first, second) => (first === 0xff && second >= 0xf0 ? undefined : milliseconds);
}

function pcmMeter(values: ReadonlyMap<Property, Buffer>): Meter | undefined {
  const rates = [values.get("rate"), values.get("outputRate")].flatMap((value) => value ?? []).map(floatOf);
  const channels = uintOf(values.get("channels") ?? Buffer.of(1));
  const bits = uintOf(values.get("bits"));
  const bytesPerSecond = (samplesPerSecond(Math.min(...rates), channels) * bits) / 8;
  return bytesPerSecond > 0 && bits % 8 === 0 && bits <= 64 ? (bytes) => (bytes * 1_000) / bytesPerSecond : undefined;
}

interface Lacing {
  /** Bytes of the block before the first packet. */
  bytes: number;
  /** The length of each packet. */
  packets: number[];
}

/** Reads the lengths of a block's packets, from its flags at `at`; undefined if they are invalid. */
function readLacing(block: Buffer, at: number, length: number): Lacing | undefined {
  if (at >= block.length) return undefined;
  const kind = (block.readUInt8(at) >> 1) & 0b11;
  if (kind === 0) return { bytes: at + 1, packets: [length - at - 1] };
  const count = block[at + 1] ?? 0;
  const lengths = [
    { lengths: [], end: at + 2 },
    readXiphLengths(block, at + 2, count),
    { lengths: [], end: at + 2 },
    readEbmlLengths(block, at + 2, count),
  ][kind];
  if (lengths === undefined) return undefined;
  const rest = length - lengths.end;
  const each = rest / (count + 1);
  if (kind === 2)
    return Number.isInteger(each)
      ? { bytes: lengths.end, packets: Array.from({ length: count + 1 }, () => each) }
      : undefined;
  const last = lengths.lengths.reduce((left, one) => left - one, rest);
  return last < 0 || lengths.lengths.some((one) => one < 0)
    ? undefined
    : { bytes: lengths.end, packets: [...lengths.lengths, last] };
}

interface Lengths {
  lengths: number[];
  end: number;
}

/** Each length is a sum of bytes; one below 255 is the last of them. */
function readXiphLengths(bytes: Buffer, start: number, count: number): Lengths | undefined {
  const lengths: number[] = [];
  let end = start;
  while (lengths.length < count) {
    let length = 0;
    let byte = 255;
    while (byte === 255) {
      if (end >= bytes.length) return undefined;
      byte = bytes.readUInt8(end);
      length += byte;
      end += 1;
    }
    lengths.push(length);
  }
  return { lengths, end };
}

/** The first length, and the difference of each following one. */
function readEbmlLengths(bytes: Buffer, start: number, count: number): Lengths | undefined {
  const lengths: number[] = [];
  let end = start;
  while (lengths.length < count) {
    const value = readVint(bytes, end, 8);
    if (value?.size === undefined) return undefined;
    const before = lengths.at(-1);
    const middle = 2 ** (7 * value.bytes - 1) - 1;
    lengths.push(before === undefined ? value.size : before + value.size - middle);
    end += value.bytes;
  }
  return { lengths, end };
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

function uintOf(value: Buffer | undefined): number {
  let sum = 0;
  for (const byte of value ?? []) sum = sum * 256 + byte;
  return sum;
}

function floatOf(value: Buffer): number {
  if (value.length === 4) return value.readFloatBE(0);
  return value.length === 8 ? value.readDoubleBE(0) : 0;
}
