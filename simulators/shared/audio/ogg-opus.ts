/** Opus always counts in this rate. */
const samplesPerSecond = 48_000;
const samplesPerPacket = 960;
/** Fits one page: each packet takes one of its 255 length bytes. */
const packetsPerPage = 50;
/** 20 ms of silence: full band, mono, one frame. */
const silence = Buffer.of(0xf8, 0xff, 0xfe);
const serial = 0x746f6c6c;
const pageHeadBytes = 27;

const checksums = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24;
  for (let bit = 0; bit < 8; bit++) sum = (sum << 1) ^ (sum & 0x80000000 ? 0x04c11db7 : 0);
  return sum >>> 0;
});

/** Silent Opus packets in an Ogg container. */
export function encodeOggOpus(seconds: number): Buffer {
  const packets = Math.max(1, Math.round((seconds * samplesPerSecond) / samplesPerPacket));
  const head = Buffer.from("OpusHead\x01\x01\0\0        \0\0\0", "latin1");
  head.writeUInt32LE(samplesPerSecond, 12);
  head.writeUInt16LE(0, 16);
  const tags = Buffer.from("OpusTags\x09\0\0\0simulated\0\0\0\0", "latin1");
  const pages = [page([head], 0, 0, 0b010), page([tags], 1, 0, 0)];
  for (let sent = 0; sent < packets; sent += packetsPerPage) {
    const count = Math.min(packetsPerPage, packets - sent);
    const last = sent + count === packets;
    const body = Array.from({ length: count }, () => silence);
    pages.push(page(body, pages.length, (sent + count) * samplesPerPacket, last ? 0b100 : 0));
  }
  return Buffer.concat(pages);
}

/** One page of packets that are shorter than 255 bytes. `granule` is the count of samples up to its end. */
function page(packets: readonly Buffer[], sequence: number, granule: number, flags: number): Buffer {
  const head = Buffer.alloc(pageHeadBytes);
  head.write("OggS", 0, "latin1");
  head.writeUInt8(flags, 5);
  head.writeBigUInt64LE(BigInt(granule), 6);
  head.writeUInt32LE(serial, 14);
  head.writeUInt32LE(sequence, 18);
  head.writeUInt8(packets.length, 26);
  const lengths = Buffer.from(packets.map((packet) => packet.length));
  const whole = Buffer.concat([head, lengths, ...packets]);
  whole.writeUInt32LE(checksum(whole), 22);
  return whole;
}

function checksum(bytes: Buffer): number {
  return bytes.reduce((sum, byte) => ((sum << 8) ^ (checksums[(sum >>> 24) ^ byte] ?? 0)) >>> 0, 0);
}

/** Seconds of an Ogg file, by the count of samples on its last page; null for anything else. */
export function readOgg(file: Buffer): number | null {
  const last = file.lastIndexOf("OggS");
  if (file.toString("latin1", 0, 4) !== "OggS" || last + 14 > file.length) return null;
  const samples = Number(file.readBigUInt64LE(last + 6));
  const vorbis = file.indexOf("\x01vorbis", 0, "latin1");
  return samples / (vorbis < 0 || vorbis + 16 > file.length ? samplesPerSecond : file.readUInt32LE(vorbis + 12));
}
