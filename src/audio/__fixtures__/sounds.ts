/** Silence in the formats that upstreams accept, in the variants that recorders write. */

/** MPEG 2 layer III, 24 kHz, 64 kbit/s: frames of 192 bytes and 24 ms. */
const MP3_FRAME = Buffer.concat([Buffer.of(0xff, 0xf3, 0x84, 0xc0), Buffer.alloc(188)]);
const MP3_FRAME_MS = 24;

/** AAC of 24 kHz with ADTS headers: frames of 13 bytes and 1,024 samples. */
const ADTS_FRAME = Buffer.of(0xff, 0xf1, 0x58, 0x40, 0x01, 0xbf, 0xfc, 0x00, 0xc8, 0x00, 0x80, 0x23, 0x80);
const ADTS_FRAME_MS = 1_024 / 24;

/** Opus, 20 ms, full band. */
const OPUS_PACKET = Buffer.of(0xf8, 0xff, 0xfe);
const OPUS_PACKET_MS = 20;

function times(count: number, make: (index: number) => Buffer): Buffer {
  return Buffer.concat(Array.from({ length: count }, (_, index) => make(index)));
}

export function mp3(milliseconds: number): Buffer {
  return times(Math.round(milliseconds / MP3_FRAME_MS), () => MP3_FRAME);
}

export function adts(milliseconds: number): Buffer {
  return times(Math.round(milliseconds / ADTS_FRAME_MS), () => ADTS_FRAME);
}

/** An ID3 tag that claims a length. */
export function id3(bytes: number, claimed = bytes): Buffer {
  const length = Buffer.from([21, 14, 7, 0].map((shift) => (claimed >> shift) & 0x7f));
  return Buffer.concat([Buffer.from("ID3\x04\0\0", "latin1"), length, Buffer.alloc(bytes)]);
}

export interface WavShape {
  bits?: number;
  rate?: number;
  /** The length of the samples that the header claims. */
  claimed?: number;
  tag?: number;
  /** Bytes after the samples. */
  tail?: Buffer;
}

/** 16 bits, mono. */
export function wav(milliseconds: number, { rate = 16_000, claimed, tag = 1, bits = 16, tail }: WavShape = {}): Buffer {
  const samples = Buffer.alloc((milliseconds * rate * 2) / 1_000);
  const head = Buffer.alloc(44);
  head.write("RIFF\0\0\0\0WAVEfmt ", "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(tag, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(bits, 34);
  head.writeUInt32LE(36 + samples.length + (tail?.length ?? 0), 4);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(claimed ?? samples.length, 40);
  return Buffer.concat([head, samples, tail ?? Buffer.alloc(0)]);
}

/** A chunk of a RIFF file. */
export function chunk(name: string, bytes: number): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, "latin1");
  head.writeUInt32LE(bytes, 4);
  return Buffer.concat([head, Buffer.alloc(bytes)]);
}

/** Ogg with Opus, fifty packets per page. */
export function oggOpus(milliseconds: number, granuleOf = (packets: number) => packets * 960): Buffer {
  const packets = milliseconds / OPUS_PACKET_MS;
  const head = Buffer.alloc(19);
  head.write("OpusHead\x01\x01", "latin1");
  head.writeUInt32LE(48_000, 12);
  const tags = Buffer.from("OpusTags\0\0\0\0\0\0\0\0", "latin1");
  const pages = [oggPage([head], 0, FIRST_PAGE), oggPage([tags], 0)];
  for (let sent = 0; sent < packets; sent += 50) {
    const count = Math.min(50, packets - sent);
    pages.push(oggPage(Array.from({ length: count }, () => OPUS_PACKET), granuleOf(sent + count)));
  }
  return Buffer.concat(pages);
}

/** Bits, the lowest of each byte first. */
function bitsOf(...fields: readonly (readonly [value: number, bits: number])[]): Buffer {
  const text = fields.map(([value, bits]) => Array.from(value.toString(2).padStart(bits, "0")).toReversed().join(""));
  const bytes = text.join("").match(/.{1,8}/g) ?? [];
  return Buffer.from(bytes.map((bits) => Number.parseInt(Array.from(bits.padEnd(8, "0")).toReversed().join(""), 2)));
}

/** The three headers of Vorbis: 16 kHz, mono, blocks of 256 and 2,048 samples, a mode for each. */
export function vorbisHeaders(): [Buffer, Buffer, Buffer] {
  const identity = Buffer.alloc(30);
  identity.write("\x01vorbis\0\0\0\0\x01", "latin1");
  identity.writeUInt32LE(16_000, 12);
  identity.writeUInt8(0xb8, 28);
  identity.writeUInt8(1, 29);
  const comments = Buffer.from("\x03vorbis\0\0\0\0\0\0\0\0\x01", "latin1");
  const codebook = [[0x564342, 24], [1, 16], [1, 24], [0, 2], [0, 5], [0, 4]] as const;
  const floor = [[1, 16], [0, 5], [0, 2], [0, 4]] as const;
  const residue = [[0, 16], [0, 72], [0, 6], [0, 8], [0, 4]] as const;
  const mapping = [[0, 16], [0, 4], [0, 24]] as const;
  const modes = [[0, 1], [0, 40], [1, 1], [0, 40]] as const;
  const setup = bitsOf(
    ...([[0, 8], ...codebook, [0, 6], [0, 16], [0, 6], ...floor, [0, 6], ...residue] as const),
    ...([[0, 6], ...mapping, [1, 6], ...modes, [1, 1]] as const),
  );
  return [identity, comments, Buffer.concat([Buffer.from("\x05vorbis", "latin1"), setup])];
}

/** A packet of a long block (1,024 samples after another one), or of a short one (128). */
export function vorbisPacket(isLong = true): Buffer {
  return Buffer.concat([Buffer.of(isLong ? 2 : 0), Buffer.alloc(99)]);
}

/** Ogg with Vorbis, packets of 64 ms, one per page; the first one has no sound yet. */
export function oggVorbis(milliseconds: number, granuleOf = (packets: number) => packets * 1_024): Buffer {
  const [identity, ...others] = vorbisHeaders();
  return Buffer.concat([
    oggPage([identity], 0, FIRST_PAGE),
    oggPage(others, 0),
    times(Math.round(milliseconds / 64) + 1, (index) => oggPage([vorbisPacket()], granuleOf(index))),
  ]);
}

const FIRST_PAGE = 2;

/** A page of packets; those of 255 bytes and more are not supported. */
export function oggPage(packets: readonly Buffer[], granule: number, flags = 0): Buffer {
  const head = Buffer.alloc(27);
  head.write("OggS", "latin1");
  head.writeUInt8(flags, 5);
  head.writeBigUInt64LE(BigInt(granule), 6);
  head.writeUInt32LE(7, 14);
  head.writeUInt8(packets.length, 26);
  return Buffer.concat([head, Buffer.from(packets.map(({ length }) => length)), ...packets]);
}

export interface FlacShape {
  /** The sample rate in the file's header. */
  rate?: bigint;
  /** The code of each frame's sample rate; 0 refers to the file's header. */
  rateCode?: number;
  /** Overrides the number of each frame. */
  numberOf?: (frame: number) => number;
}

/** FLAC of 16 kHz in frames of 4,096 samples, the last one shorter; its header contains `claimed` as the total. */
export function flac(milliseconds: number, claimed = 0, shape: FlacShape = {}): Buffer {
  const { rate = 16_000n, rateCode = 0, numberOf = (frame) => frame } = shape;
  const info = Buffer.alloc(34);
  info.writeBigUInt64BE((rate << 44n) | (15n << 36n) | BigInt(claimed), 10);
  const samples = milliseconds * 16;
  const frames = times(Math.ceil(samples / 4_096), (index) =>
    flacFrame(numberOf(index), Math.min(4_096, samples - index * 4_096), rateCode),
  );
  return Buffer.concat([Buffer.from("fLaC", "latin1"), Buffer.of(0x80, 0, 0, info.length), info, frames]);
}

function flacFrame(index: number, samples: number, rateCode: number): Buffer {
  const number = index < 0x80 ? [index] : [0xc0 | (index >> 6), 0x80 | (index & 0x3f)];
  const head = [0xff, 0xf8, 0x70 | rateCode, 0x00, ...number, (samples - 1) >> 8, (samples - 1) & 0xff];
  let sum = 0;
  for (const byte of head) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = ((sum << 1) ^ (sum < 0x80 ? 0 : 0x07)) & 0xff;
  }
  return Buffer.of(...head, sum, 0, 0, 0, 0, 0);
}

export interface WebmShape {
  codec?: string;
  /** The duration in the file's header, as in files that were not recorded live. */
  duration?: number;
  /** Overrides the times of the blocks. */
  timeOf?: (packet: number) => number;
  /** The content of each block, after its head. */
  packet?: Buffer;
  /** The flags of each block. */
  flags?: number;
  /** Nanoseconds per unit of time. */
  scale?: number;
  /** The codec's own headers. */
  setup?: Buffer;
}

/** WebM as a browser's recorder writes it: unknown sizes, no duration, a cluster per second, a packet per 20 ms. */
export function webm(milliseconds: number, shape: WebmShape = {}): Buffer {
  const { flags = 0x80, scale = 1_000_000, setup } = shape;
  const { codec = "A_OPUS", duration, timeOf = (index) => index * OPUS_PACKET_MS, packet = OPUS_PACKET } = shape;
  const track = [element("d7", Buffer.of(1)), element("83", Buffer.of(2)), element("86", Buffer.from(codec))];
  if (setup !== undefined) track.push(element("63a2", setup));
  const length = Buffer.alloc(8);
  length.writeDoubleBE(duration ?? 0);
  const info = [element("2ad7b1", Buffer.of(scale >> 16, scale >> 8, scale)), ...(duration === undefined ? [] : [element("4489", length)])];
  const clusters = times(milliseconds / 1_000, (second) => {
    const time = timeOf(second * 50);
    const blocks = Array.from({ length: 50 }, (_, index) => {
      const offset = Buffer.alloc(2);
      offset.writeInt16BE(timeOf(second * 50 + index) - time);
      return element("a3", Buffer.concat([Buffer.of(0x81), offset, Buffer.of(flags), packet]));
    });
    return Buffer.concat([open("1f43b675"), element("e7", Buffer.of(time >> 24, time >> 16, time >> 8, time)), ...blocks]);
  });
  return Buffer.concat([
    element("1a45dfa3", element("4282", Buffer.from("webm"))),
    open("18538067"),
    element("1549a966", ...info),
    element("1654ae6b", element("ae", ...track)),
    clusters,
  ]);
}

/** An element with a size of eight bytes. */
function element(id: string, ...content: readonly Buffer[]): Buffer {
  const all = Buffer.concat(content);
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE((1n << 56n) | BigInt(all.length));
  return Buffer.concat([Buffer.from(id, "hex"), size, all]);
}

function open(id: string): Buffer {
  return Buffer.concat([Buffer.from(id, "hex"), Buffer.of(0x01), Buffer.alloc(7, 0xff)]);
}

export interface Mp4Shape {
  handler?: string;
  codec?: string;
  /** Overrides each packet's duration in the table, 1,024 samples by default. */
  delta?: number;
  /** Bytes of each packet. */
  packetBytes?: number;
  /** Overrides the number of packets in the table of times; all packets by default. */
  timed?: number;
  /** Overrides the rate in the description of the track. */
  rate?: number;
  /** Overrides the description of the elementary stream. */
  config?: Buffer;
}

const MP4_RATE = 16_000;
const mp4Packets = (milliseconds: number): number => Math.round((milliseconds * MP4_RATE) / 1_000 / 1_024);

/** M4A whose tables follow the sound, as recorders write it. */
export function mp4(milliseconds: number, shape: Mp4Shape = {}): Buffer {
  const packets = mp4Packets(milliseconds);
  const { delta = 1_024, packetBytes = 100, timed = packets } = shape;
  const table = Buffer.concat([
    box("stts", numbers(0, 1, timed, delta)),
    box("stsz", numbers(0, packetBytes, packets)),
  ]);
  return Buffer.concat([
    box("ftyp", Buffer.from("M4A \0\0\0\0")),
    box("mdat", Buffer.alloc(packets * packetBytes)),
    box("moov", trackBox(shape, table, packets * 1_024)),
  ]);
}

/** M4A in fragments of ten packets, whose durations are in the packets' rows or in one of the defaults. */
export function fragmentedMp4(milliseconds: number, by: "row" | "fragment" | "track"): Buffer {
  const packets = mp4Packets(milliseconds);
  const defaults = box("mvex", box("trex", numbers(0, 1, 1, by === "track" ? 1_024 : 0, 0, 0)));
  const head = by === "fragment" ? numbers(0x020008, 1, 1_024) : numbers(0x020000, 1);
  const fragments = times(Math.ceil(packets / 10), (index) => {
    const count = Math.min(10, packets - index * 10);
    const rows = Array.from({ length: count }, () => [1_024, 100]).flat();
    const run = by === "row" ? numbers(0x000301, count, 0, ...rows) : numbers(0x000001, count, 0);
    return Buffer.concat([
      box("moof", box("mfhd", numbers(0, index)), box("traf", box("tfhd", head), box("trun", run))),
      box("mdat", Buffer.alloc(count * 100)),
    ]);
  });
  const moov = box("moov", trackBox({}, box("stts", numbers(0, 0))), defaults);
  return Buffer.concat([box("ftyp", Buffer.from("iso5\0\0\0\0")), moov, fragments]);
}

/** The description of an elementary stream: AAC with an AudioSpecificConfig. */
export function aacConfig(config: readonly number[]): Buffer {
  const decoder = Buffer.of(0x40, 0x15, ...Array.from({ length: 11 }, () => 0), 5, config.length, ...config);
  return Buffer.concat([Buffer.of(3, decoder.length + 5, 0, 0, 0, 4, decoder.length), decoder]);
}

/** Low complexity, 16 kHz, mono. */
const AAC_CONFIG = aacConfig([0x14, 0x08]);

function trackBox({ handler = "soun", codec = "mp4a", rate = MP4_RATE, config = AAC_CONFIG }: Mp4Shape, table: Buffer, duration = 0): Buffer {
  const sample = Buffer.alloc(28);
  sample.writeUInt16BE(rate, 24);
  const entry = box(codec, sample, box("esds", numbers(0), config));
  return box(
    "trak",
    box("tkhd", numbers(0, 0, 0, 1), Buffer.alloc(68)),
    box(
      "mdia",
      box("mdhd", numbers(0, 0, 0, MP4_RATE, duration, 0)),
      box("hdlr", numbers(0, 0), Buffer.from(handler, "latin1"), Buffer.alloc(12)),
      box("minf", box("stbl", box("stsd", numbers(0, 1), entry), table)),
    ),
  );
}

function box(name: string, ...content: readonly Buffer[]): Buffer {
  const all = Buffer.concat(content);
  return Buffer.concat([numbers(all.length + 8), Buffer.from(name, "latin1"), all]);
}

function numbers(...values: readonly number[]): Buffer {
  return times(values.length, (index) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(values[index] ?? 0);
    return bytes;
  });
}

/** AIFF of 16 kHz, mono, 16 bits: a format that no upstream accepts and that is not counted. */
export function aiff(milliseconds: number): Buffer {
  const samples = milliseconds * 16;
  const common = Buffer.alloc(18);
  common.writeUInt16BE(1, 0);
  common.writeUInt32BE(samples, 2);
  common.writeUInt16BE(16, 6);
  // 16,000 as a float of 80 bits.
  Buffer.from("400cfa00000000000000", "hex").copy(common, 8);
  const sound = Buffer.alloc(8 + samples * 2);
  return named("FORM", Buffer.from("AIFF"), named("COMM", common), named("SSND", sound));
}

function named(name: string, ...content: readonly Buffer[]): Buffer {
  const all = Buffer.concat(content);
  return Buffer.concat([Buffer.from(name), numbers(all.length), all]);
}
