import { ByteWalker } from "./byte-walker.ts";
import { opusMs } from "./opus-packet.ts";
import { fourLetters, type SoundCounter, wholeMs } from "./sound-counter.ts";
import { VorbisTimer } from "./vorbis.ts";
import { WordCounter } from "./word-counter.ts";

const PAGE_HEAD_BYTES = 27;
const SEGMENTS_MAX = 255;
const PAGE_BYTES_MAX = SEGMENTS_MAX * 255;
const MAGIC = "OggS";
const PAGE = fourLetters(MAGIC);
const CONTINUED = 1;
const FIRST = 2;

/** Bytes of a packet that its codec is recognized by, and its duration. */
const PACKET_LOOK_BYTES = 64;

/** The longest header packet of Vorbis; and the most streams, of which only damaged files have many. */
const HEADER_BYTES_MAX = 256 * 1024;
const STREAMS_MAX = 100;

/** Measures the packets of one stream by their first bytes; undefined if it can't. */
type Meter = (packet: Buffer) => number | undefined;

interface OggStream {
  /** Undefined before the first packet. */
  meter: Meter | undefined;
  milliseconds: number;
  /** The headers of Vorbis that must be read whole: the comments and the modes. */
  headers: { remaining: number; parts: Buffer[]; timer: VorbisTimer } | undefined;
}

/** A packet, or the part of it on this page. */
interface Packet {
  bytes: number;
  /** Whether it begins on this page, and isn't continued from the previous one. */
  begins: boolean;
  ends: boolean;
}

/**
 * Ogg with Opus or Vorbis, whose packets are counted. The positions that pages claim are ignored, as decoders ignore
 * them. Other sound can't be measured: a packet may contain several frames. Nor can pages within a page: decoders play
 * them if the outer one is invalid.
 */
export class OggCounter implements SoundCounter {
  readonly #walker = new ByteWalker(2 * PAGE_BYTES_MAX, (bytes, at) => this.#step(bytes, at));
  readonly #magics = new WordCounter(Buffer.from(MAGIC));
  readonly #streams: OggStream[] = [];
  readonly #bySerial = new Map<number, OggStream>();
  #current: OggStream | undefined;
  #pages = 0;
  /** The remaining packets of the page, the next one last. */
  #packets: Packet[] = [];

  push(chunk: Uint8Array): void {
    this.#walker.push(chunk);
    this.#magics.push(chunk);
  }

  get milliseconds(): number | undefined {
    if (this.#walker.stopped || this.#magics.countBefore(PAGE_HEAD_BYTES + SEGMENTS_MAX) > this.#pages)
      return undefined;
    return wholeMs(this.#streams.reduce((sum, { milliseconds }) => sum + milliseconds, 0));
  }

  #step(bytes: Buffer, at: number): number {
    const packet = this.#packets.at(-1);
    const stream = this.#current;
    if (packet === undefined || stream === undefined) return this.#page(bytes, at);
    const look = stream.headers === undefined && !packet.begins ? 0 : packet.bytes;
    const looked = stream.headers === undefined ? Math.min(look, PACKET_LOOK_BYTES) : look;
    if (at + looked > bytes.length) return 0;
    this.#read(stream, packet, bytes.subarray(at, at + packet.bytes));
    this.#packets.pop();
    return packet.bytes;
  }

  #page(bytes: Buffer, at: number): number {
    if (at + PAGE_HEAD_BYTES > bytes.length) return 0;
    if (bytes.readUInt32BE(at) !== PAGE) return nextPage(bytes, at) - at;
    const segments = bytes.readUInt8(at + 26);
    const end = at + PAGE_HEAD_BYTES + segments;
    if (end > bytes.length) return 0;
    this.#pages += 1;
    const flags = bytes.readUInt8(at + 5);
    this.#current = this.#streamOf(bytes.readUInt32LE(at + 14), (flags & FIRST) !== 0);
    this.#packets = packetsOf(bytes.subarray(at + PAGE_HEAD_BYTES, end), (flags & CONTINUED) !== 0);
    return end - at;
  }

  /** A further stream may have the number of one that has ended. */
  #streamOf(serial: number, isFirst: boolean): OggStream {
    const known = this.#bySerial.get(serial);
    if (known !== undefined && !isFirst) return known;
    if (this.#streams.length === STREAMS_MAX) this.#walker.stop();
    const stream: OggStream = { meter: undefined, milliseconds: 0, headers: undefined };
    this.#streams.push(stream);
    this.#bySerial.set(serial, stream);
    return stream;
  }

  #read(stream: OggStream, packet: Packet, bytes: Buffer): void {
    if (stream.meter === undefined) return this.#begin(stream, bytes);
    if (stream.headers !== undefined) return this.#readHeader(stream, stream.headers, packet, bytes);
    if (!packet.begins) return;
    const milliseconds = stream.meter(bytes);
    if (milliseconds === undefined) this.#walker.stop();
    else stream.milliseconds += milliseconds;
  }

  #begin(stream: OggStream, packet: Buffer): void {
    const timer = VorbisTimer.of(packet);
    if (timer !== undefined) stream.headers = { remaining: 2, parts: [], timer };
    stream.meter = timer === undefined ? meterOf(packet) : ([first = 0]) => timer.packetMs(first);
    if (stream.meter === undefined) this.#walker.stop();
  }

  #readHeader(stream: OggStream, headers: NonNullable<OggStream["headers"]>, packet: Packet, bytes: Buffer): void {
    // The comments, which come first, may be long.
    if (headers.remaining === 1) headers.parts.push(Buffer.from(bytes));
    if (headers.parts.length * PAGE_BYTES_MAX > HEADER_BYTES_MAX) this.#walker.stop();
    if (!packet.ends) return;
    headers.remaining -= 1;
    if (headers.remaining > 0) return;
    if (!headers.timer.setUp(Buffer.concat(headers.parts))) this.#walker.stop();
    stream.headers = undefined;
  }
}

/** The meter of a stream by its first packet; undefined for sound that can't be measured. */
function meterOf(packet: Buffer): Meter | undefined {
  const start = packet.toString("latin1", 0, 8);
  if (start === "OpusHead") return (next) => (isTags(next, "OpusTags") ? 0 : opusMs(next[0] ?? 0, next[1] ?? 0));
  // The list of the streams, and pictures: they contain no sound.
  if (start === "fishead\0" || start.startsWith("\x80theora")) return () => 0;
  return undefined;
}

function isTags(packet: Buffer, name: string): boolean {
  return packet.toString("latin1", 0, name.length) === name;
}

function nextPage(bytes: Buffer, at: number): number {
  const next = bytes.indexOf(MAGIC, at + 1, "latin1");
  // The page's magic may be cut by the end of the chunk.
  return next === -1 ? Math.max(at + 1, bytes.length - 3) : next;
}

function packetsOf(segments: Buffer, isContinued: boolean): Packet[] {
  const packets: Packet[] = [];
  let length = 0;
  let begins = !isContinued;
  for (const [index, segment] of segments.entries()) {
    length += segment;
    if (segment === 255 && index < segments.length - 1) continue;
    // An empty packet is no step of the walk.
    if (length > 0) packets.push({ bytes: length, begins, ends: segment < 255 });
    length = 0;
    begins = true;
  }
  return packets.toReversed();
}
