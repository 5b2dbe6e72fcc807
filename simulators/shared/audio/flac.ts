const samplesPerFrame = 4_096;
const bitsPerSample = 16;
const infoBytes = 34;

/** Silent mono frames: all samples are declared zero. */
export function encodeFlac(seconds: number, sampleRate: number): Buffer {
  const samples = Math.max(1, Math.round(seconds * sampleRate));
  const info = Buffer.alloc(4 + infoBytes);
  info.writeUInt32BE(0x80000000 + infoBytes, 0);
  info.writeUInt16BE(samplesPerFrame, 4);
  info.writeUInt16BE(samplesPerFrame, 6);
  // 20 bits of rate, 3 of channels less one, 5 of bits a sample less one, 36 of samples.
  const packed = (BigInt(sampleRate) << 44n) | (BigInt(bitsPerSample - 1) << 36n) | BigInt(samples);
  info.writeBigUInt64BE(packed, 14);
  const frames: Buffer[] = [];
  for (let start = 0; start < samples; start += samplesPerFrame) {
    frames.push(frame(frames.length, Math.min(samplesPerFrame, samples - start)));
  }
  return Buffer.concat([Buffer.from("fLaC", "latin1"), info, ...frames]);
}

/** A frame with its length in its header, because the last one is shorter. Rate and depth are those of the file. */
function frame(index: number, samples: number): Buffer {
  const head = Buffer.concat([Buffer.of(0xff, 0xf8, 0x70, 0x00), coded(index), Buffer.alloc(2)]);
  head.writeUInt16BE(samples - 1, head.length - 2);
  const constantZero = Buffer.alloc(3);
  const body = Buffer.concat([head, Buffer.of(crc8(head)), constantZero]);
  const sum = Buffer.alloc(2);
  sum.writeUInt16BE(crc16(body));
  return Buffer.concat([body, sum]);
}

/** A frame's number in the form of a UTF-8 character. */
function coded(index: number): Buffer {
  if (index < 0x80) return Buffer.of(index);
  if (index < 0x800) return Buffer.of(0xc0 | (index >> 6), 0x80 | (index & 0x3f));
  return Buffer.of(0xe0 | (index >> 12), 0x80 | ((index >> 6) & 0x3f), 0x80 | (index & 0x3f));
}

function crc8(bytes: Buffer): number {
  return crc(bytes, 8, 0x07);
}

function crc16(bytes: Buffer): number {
  return crc(bytes, 16, 0x8005);
}

function crc(bytes: Buffer, width: number, polynomial: number): number {
  const top = 1 << (width - 1);
  const mask = (1 << width) - 1;
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << (width - 8);
    for (let bit = 0; bit < 8; bit++) sum = ((sum << 1) ^ (sum & top ? polynomial : 0)) & mask;
  }
  return sum;
}

/** Seconds of a FLAC file according to its header; null for anything else. */
export function readFlac(file: Buffer): number | null {
  if (file.toString("latin1", 0, 4) !== "fLaC" || file.length < 4 + 4 + infoBytes) return null;
  const packed = file.readBigUInt64BE(18);
  const rate = Number(packed >> 44n);
  return rate === 0 ? null : Number(packed & 0xfffffffffn) / rate;
}
