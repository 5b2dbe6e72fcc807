import { ByteWalker } from "./byte-walker.ts";
import { OPUS_HEAD_BYTES, opusMs } from "./opus-packet.ts";
import { plausibleDuration, fourLetters, type SoundCounter } from "./sound-counter.ts";

const PAGE_HEAD_BYTES = 27;
const SEGMENTS_MAX = 255;
const PAGE = fourLetters("OggS");
const CONTINUED = 1;
/** Bytes of a stream's first packet that identify its codec and rate. */
const FIRST_PACKET_BYTES = 40;

interface OggStream {
  codec: "opus" | "other" | undefined;
  /** The duration of Opus, by its packets. */
  milliseconds: number;
  /**
   * For other codecs, whose packets have no duration: samples per second, and the position that the last page claims.
   */
  rate: number;
  granule: number;
  bytes: number;
}

interface Packet {
  bytes: number;
  /** Whether it begins on this page, and isn't continued from the previous one. */
  begins: boolean;
}

/** Ogg with Opus, whose packets are counted, or with Vorbis, Speex or FLAC, whose positions are read. */
export class OggCounter implements SoundCounter {
  readonly #walker = new ByteWalker(2 * (PAGE_HEAD_BYTES + SEGMENTS_MAX), (bytes, at) => this.#step(bytes, at));
  readonly #streams = new Map<number, OggStream>();
  #current: OggStream | undefined;
  /** The remaining packets of the page, the next one last. */
  #packets: Packet[] = [];

  push(chunk: Uint8Array): void {
    this.#walker.push(chunk);
  }

  get milliseconds(): number | undefined {
    let sum = 0;
    for (const { codec, milliseconds, rate, granule, bytes } of this.#streams.values()) {
      if (codec === "opus") sum += milliseconds;
      if (codec === "other") sum += plausibleDuration((granule * 1_000) / rate, bytes) ?? 0;
    }
    return this.#walker.stopped || sum === 0 ? undefined : Math.round(sum);
  }

  #step(bytes: Buffer, at: number): number {
    const packet = this.#packets.at(-1);
    const stream = this.#current;
    if (packet === undefined || stream === undefined) return this.#page(bytes, at);
    if (packet.begins) {
      if (at + Math.min(packet.bytes, FIRST_PACKET_BYTES) > bytes.length) return 0;
      this.#begin(stream, bytes.subarray(at, at + packet.bytes));
    }
    this.#packets.pop();
    return packet.bytes;
  }

  #page(bytes: Buffer, at: number): number {
    if (at + PAGE_HEAD_BYTES > bytes.length) return 0;
    if (bytes.readUInt32BE(at) !== PAGE) return nextPage(bytes, at) - at;
    const segments = bytes.readUInt8(at + 26);
    const end = at + PAGE_HEAD_BYTES + segments;
    if (end > bytes.length) return 0;
    const serial = bytes.readUInt32LE(at + 14);
    const stream = this.#streams.get(serial) ?? { codec: undefined, milliseconds: 0, rate: 0, granule: 0, bytes: 0 };
    this.#streams.set(serial, stream);
    this.#current = stream;
    const granule = bytes.readBigInt64LE(at + 6);
    if (granule > 0n) stream.granule = Math.max(stream.granule, Number(granule));
    const isContinued = (bytes.readUInt8(at + 5) & CONTINUED) !== 0;
    this.#packets = packetsOf(bytes.subarray(at + PAGE_HEAD_BYTES, end), isContinued);
    for (const packet of this.#packets) stream.bytes += packet.bytes;
    return end - at;
  }

  #begin(stream: OggStream, packet: Buffer): void {
    if (stream.codec === undefined) Object.assign(stream, readFirstPacket(packet));
    else if (stream.codec === "opus" && packet.toString("latin1", 0, 8) !== "OpusTags") {
      stream.milliseconds += opusMs(packet[0] ?? 0, packet[OPUS_HEAD_BYTES - 1] ?? 0);
    }
  }
}

function nextPage(bytes: Buffer, at: number): number {
  const next = bytes.indexOf("OggS", at + 1, "latin1");
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
    if (length > 0) packets.push({ bytes: length, begins });
    length = 0;
    begins = true;
  }
  return packets.toReversed();
}

function readFirstPacket(packet: Buffer): Pick<OggStream, "codec" | "rate"> {
  const start = packet.toString("latin1", 0, 8);
  if (start === "OpusHead") return { codec: "opus", rate: 0 };
  return { codec: "other", rate: rateOf(start, packet) };
}

/** Reads the sample rate from a codec's first packet; 0 if the codec is unknown or the packet too short. */
function rateOf(start: string, packet: Buffer): number {
  if (start.startsWith("\x01vorbis") && packet.length >= 16) return packet.readUInt32LE(12);
  if (start.startsWith("\x7fFLAC") && packet.length >= 30) return packet.readUIntBE(27, 3) >> 4;
  return start === "Speex   " && packet.length >= 40 ? packet.readUInt32LE(36) : 0;
}
