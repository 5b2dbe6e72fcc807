const IDENTITY_BYTES = 30;
const NAME = "vorbis";
const SETUP = 5;
const CODEBOOK = 0x564342;

/** Measures packets of Vorbis, whose durations depend on the modes in the stream's third packet. */
export class VorbisTimer {
  readonly #rate: number;
  readonly #channels: number;
  readonly #blocks: readonly [short: number, long: number];
  /** Whether each mode has long blocks. */
  #modes: readonly boolean[] = [];
  #previous = 0;

  private constructor(identity: Buffer) {
    this.#channels = identity.readUInt8(11);
    this.#rate = identity.readUInt32LE(12);
    const sizes = identity.readUInt8(28);
    this.#blocks = [2 ** (sizes & 0b1111), 2 ** (sizes >> 4)];
  }

  /** Undefined if the packet isn't the first one of Vorbis. */
  static of(packet: Buffer): VorbisTimer | undefined {
    return packet.length >= IDENTITY_BYTES && isHeader(packet, 1) ? new VorbisTimer(packet) : undefined;
  }

  /** Reads the third packet; false if it is invalid. */
  setUp(packet: Buffer): boolean {
    this.#modes = (isHeader(packet, SETUP) && readModes(new Bits(packet), this.#channels)) || [];
    return this.#modes.length > 0 && this.#rate > 0;
  }

  /** The milliseconds of a packet of sound, by its first byte. Undefined if it is no such packet. */
  packetMs(first: number): number | undefined {
    const mode = (first >> 1) & (2 ** bitsFor(this.#modes.length - 1) - 1);
    const isLong = this.#modes[mode];
    if ((first & 1) !== 0 || isLong === undefined) return undefined;
    const block = this.#blocks[isLong ? 1 : 0];
    // Neighbouring blocks overlap; the first one is only the beginning of the second.
    const samples = this.#previous === 0 ? 0 : (this.#previous + block) / 4;
    this.#previous = block;
    return (samples * 1_000) / this.#rate;
  }
}

function isHeader(packet: Buffer, kind: number): boolean {
  return packet[0] === kind && packet.toString("latin1", 1, 1 + NAME.length) === NAME;
}

/** The bits of a packet, the lowest of each byte first. */
class Bits {
  readonly #bytes: Buffer;
  #at = (1 + NAME.length) * 8;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Whether more bits were read than there are. */
  get isOver(): boolean {
    return this.#at > this.#bytes.length * 8;
  }

  read(count: number): number {
    let value = 0;
    for (let index = 0; index < count; index += 1, this.#at += 1) {
      value += (((this.#bytes[this.#at >> 3] ?? 0) >> (this.#at & 7)) & 1) * 2 ** index;
    }
    return value;
  }

  skip(count: number): void {
    this.#at += count;
  }

  /** Calls `each` as many times as the next bits say, plus one. */
  repeat(bits: number, each: () => void): void {
    this.times(this.read(bits) + 1, each);
  }

  times(count: number, each: (index: number) => void): void {
    for (let index = 0; index < count && !this.isOver; index += 1) each(index);
  }
}

/** Reads the setup packet up to its end (Vorbis I specification, 4.2.4), of which only the modes are needed. */
function readModes(bits: Bits, channels: number): boolean[] {
  bits.repeat(8, () => skipCodebook(bits));
  bits.repeat(6, () => bits.skip(16));
  bits.repeat(6, () => skipFloor(bits));
  bits.repeat(6, () => skipResidue(bits));
  bits.repeat(6, () => skipMapping(bits, channels));
  const modes: boolean[] = [];
  bits.repeat(6, () => {
    modes.push(bits.read(1) === 1);
    bits.skip(16 + 16 + 8);
  });
  const isFramed = bits.read(1) === 1;
  return isFramed && !bits.isOver ? modes : [];
}

function skipCodebook(bits: Bits): void {
  if (bits.read(24) !== CODEBOOK) return bits.skip(Number.POSITIVE_INFINITY);
  const dimensions = bits.read(16);
  const entries = bits.read(24);
  if (bits.read(1) === 1) {
    bits.skip(5);
    for (let read = 0; read < entries && !bits.isOver;) read += bits.read(bitsFor(entries - read));
  } else {
    const isSparse = bits.read(1) === 1;
    bits.times(entries, () => {
      if (!isSparse || bits.read(1) === 1) bits.skip(5);
    });
  }
  const lookup = bits.read(4);
  if (lookup === 0) return;
  bits.skip(32 + 32);
  const valueBits = bits.read(4) + 1;
  bits.skip(1);
  bits.skip(valueBits * (lookup === 1 ? gridSize(entries, dimensions) : entries * dimensions));
}

/** The greatest number whose power of `dimensions` is at most `entries`. */
function gridSize(entries: number, dimensions: number): number {
  let size = Math.floor(entries ** (1 / dimensions));
  while ((size + 1) ** dimensions <= entries) size += 1;
  while (size ** dimensions > entries) size -= 1;
  return size;
}

function skipFloor(bits: Bits): void {
  if (bits.read(16) === 0) {
    bits.skip(8 + 16 + 16 + 6 + 8);
    return bits.repeat(4, () => bits.skip(8));
  }
  const partitions: number[] = [];
  bits.times(bits.read(5), () => partitions.push(bits.read(4)));
  const dimensions: number[] = [];
  bits.times(Math.max(-1, ...partitions) + 1, () => {
    dimensions.push(bits.read(3) + 1);
    const subclasses = bits.read(2);
    if (subclasses > 0) bits.skip(8);
    bits.skip(8 * 2 ** subclasses);
  });
  bits.skip(2);
  const rangeBits = bits.read(4);
  for (const partition of partitions) bits.skip(rangeBits * (dimensions[partition] ?? 0));
}

function skipResidue(bits: Bits): void {
  bits.skip(16 + 24 + 24 + 24);
  let books = 0;
  const classes = bits.read(6) + 1;
  bits.skip(8);
  bits.times(classes, () => {
    const low = bits.read(3);
    const cascade = bits.read(1) === 1 ? bits.read(5) * 8 + low : low;
    for (let rest = cascade; rest > 0; rest >>= 1) books += rest & 1;
  });
  bits.skip(8 * books);
}

function skipMapping(bits: Bits, channels: number): void {
  bits.skip(16);
  const submaps = bits.read(1) === 1 ? bits.read(4) + 1 : 1;
  if (bits.read(1) === 1) bits.repeat(8, () => bits.skip(2 * bitsFor(channels - 1)));
  bits.skip(2);
  if (submaps > 1) bits.skip(4 * channels);
  bits.skip(submaps * (8 + 8 + 8));
}

/** The number of bits of a number; 0 for 0. */
function bitsFor(value: number): number {
  return value <= 0 ? 0 : 32 - Math.clz32(value);
}
