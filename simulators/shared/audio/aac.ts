const samplesPerFrame = 1_024;
/** A mono channel with nothing in it, of the profile LC. */
const silence = Buffer.of(0x00, 0xc8, 0x00, 0x80, 0x23, 0x80);
const headBytes = 7;
const rates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000];

/** Silent AAC frames, each behind an ADTS head. */
export function encodeAac(seconds: number, sampleRate: number): Buffer {
  const frames = Math.max(1, Math.round((seconds * sampleRate) / samplesPerFrame));
  const length = headBytes + silence.length;
  const head = Buffer.alloc(headBytes);
  head.writeUInt16BE(0xfff1, 0);
  head.writeUInt8((1 << 6) | (rates.indexOf(sampleRate) << 2), 2);
  head.writeUInt8((1 << 6) | (length >> 11), 3);
  head.writeUInt8((length >> 3) & 0xff, 4);
  head.writeUInt8(((length & 7) << 5) | 0x1f, 5);
  head.writeUInt8(0xfc, 6);
  const frame = Buffer.concat([head, silence]);
  return Buffer.alloc(frames * length, frame);
}

/** Seconds of an ADTS file, counted frame by frame; null if it does not begin with a frame. */
export function readAac(file: Buffer): number | null {
  let seconds = 0;
  for (let at = 0; at + headBytes <= file.length && (file.readUInt16BE(at) & 0xfff6) === 0xfff0;) {
    const rate = rates[((file[at + 2] ?? 0) >> 2) & 0xf];
    const length = (file.readUInt32BE(at + 3) >>> 13) & 0x1fff;
    if (rate === undefined || length < headBytes) break;
    seconds += samplesPerFrame / rate;
    at += length;
  }
  return seconds === 0 ? null : seconds;
}
