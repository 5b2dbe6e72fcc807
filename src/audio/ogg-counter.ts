import { ByteWalker } from "./byte-walker.ts";
import { OPUS_HEAD_BYTES, opusMs } from "./opus-packet.ts";
import { believed, fourLetters, type SoundCounter } from "./sound-counter.ts";

const PAGE_HEAD_BYTES = 27;
const SEGMENTS_MAX = 255;
const PAGE = fourLetters("OggS");
const CONTINUED = 1;
/** As many bytes of a stream's first packet as tell its codec and its rate. */
const FIRST_PACKET_BYTES = 40;

interface OggStream {
  codec: "opus" | "other" | undefined;
  /** Of Opus, by its packets. */
  milliseconds: number;
  /** Of others, whose packets don't tell how long they last: samples a second, and up to the last page, as it claims. */
  rate: number;
  granule: number;
  bytes: number;
}

interface Packet {
  left: number;
  /** Whether it begins here, and doesn't go on from the page before. */
  begins: boolean;
}

/** Ogg with Opus, of which every packet is counted, or with Vorbis, Speex or FLAC. */
export class OggCounter implements SoundCounter {
  readonly #walker = new ByteWalker(2 * (PAGE_HEAD_BYTES + SEGMENTS_MAX), (bytes, at) => this.#step(bytes, at));
  readonly #streams = new Map<number, OggStream>();
  #current: OggStream | undefined;
  /** What is left of the page, the next packet last. */
  #packets: Packet[] = [];

  push(chunk: Uint8Array): void {
    this.#walker.push(chunk);
  }

  get milliseconds(): number | undefined {
    let sum = 0;
    for (const { codec, milliseconds, rate, granule, bytes } of this.#streams.values()) {
      if (codec === "opus") sum += milliseconds;
      if (codec === "other") sum += believed((granule * 1_000) / rate, bytes) ?? 0;
    }
    return this.#walker.stopped || sum === 0 ? undefined : Math.round(sum);
  }

  #step(bytes: Buffer, at: number): number {
    const packet = this.#packets.at(-1);
    const stream = this.#current;
    if (packet === undefined || stream === undefined) return this.#page(bytes, at);
    if (packet.begins) {
      if (at + Math.min(packet.left, FIRST_PACKET_BYTES) > bytes.length) return 0;
      this.#begin(stream, bytes.subarray(at, at + packet.left));
    }
    this.#packets.pop();
    return packet.left;
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
    for (const { left } of this.#packets) stream.bytes += left;
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
  // Its name may be cut in two.
  return next === -1 ? Math.max(at + 1, bytes.length - 3) : next;
}

function packetsOf(segments: Buffer, isContinued: boolean): Packet[] {
  const packets: Packet[] = [];
  let length = 0;
  let begins = !isContinued;
  for (const [index, segment] of segments.entries()) {
    length += segment;
    if (segment === 255 && index < segments.length - 1) continue;
    // An empty packet takes no step.
    if (length > 0) packets.push({ left: length, begins });
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

/** Where each codec's first packet says it; 0 for one that is unknown, or too short. */
function rateOf(start: string, packet: Buffer): number {
  if (start.startsWith("\x01vorbis") && packet.length >= 16) return packet.readUInt32LE(12);
  if (start.startsWith("\x7fFLAC") && packet.length >= 30) return packet.readUIntBE(27, 3) >> 4;
  return start === "Speex   " && packet.length >= 40 ? packet.readUInt32LE(36) : 0;
}
