/** MPEG 1, 2 and 2.5 by sample rate: the bits of version and rate, and the samples of a frame. */
interface Rate {
  readonly version: number;
  readonly index: number;
  readonly samplesPerFrame: number;
}

const mpeg1 = { version: 0b11, samplesPerFrame: 1_152 };
const mpeg2 = { version: 0b10, samplesPerFrame: 576 };
const mpeg25 = { version: 0b00, samplesPerFrame: 576 };

const rates: { readonly [hertz: number]: Rate } = {
  44_100: { ...mpeg1, index: 0 },
  48_000: { ...mpeg1, index: 1 },
  32_000: { ...mpeg1, index: 2 },
  22_050: { ...mpeg2, index: 0 },
  24_000: { ...mpeg2, index: 1 },
  16_000: { ...mpeg2, index: 2 },
  11_025: { ...mpeg25, index: 0 },
  12_000: { ...mpeg25, index: 1 },
  8_000: { ...mpeg25, index: 2 },
};

/** Kilobits a second by their index in the header; the index 0 is not used. */
const kilobits1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const kilobits2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

function kilobitsOf({ version }: Rate): readonly number[] {
  return version === mpeg1.version ? kilobits1 : kilobits2;
}

/** Silent mono frames of layer III: a header, and side information for no data. */
export function encodeMp3(seconds: number, sampleRate: number, bitRate: number): Buffer {
  const rate = rates[sampleRate];
  if (rate === undefined) throw new RangeError(`MP3 has no sample rate of ${sampleRate}`);
  const kilobits = kilobitsOf(rate);
  // The nearest rate of the version from above, or its highest.
  const found = kilobits.findIndex((one) => one * 1_000 >= bitRate);
  const index = found < 0 ? kilobits.length - 1 : Math.max(1, found);
  const frames = Math.max(1, Math.round((seconds * sampleRate) / rate.samplesPerFrame));
  const bytesPerFrame = ((rate.samplesPerFrame / 8) * (kilobits[index] ?? 0) * 1_000) / sampleRate;
  const file = Buffer.alloc(Math.floor(frames * bytesPerFrame));
  for (let frame = 0; frame < frames; frame++) {
    const start = Math.floor(frame * bytesPerFrame);
    const padded = Math.floor((frame + 1) * bytesPerFrame) - start > Math.floor(bytesPerFrame) ? 1 : 0;
    file.writeUInt8(0xff, start);
    file.writeUInt8(0xe0 | (rate.version << 3) | 0b011, start + 1);
    file.writeUInt8((index << 4) | (rate.index << 2) | (padded << 1), start + 2);
    file.writeUInt8(0b1100_0000, start + 3);
  }
  return file;
}

/** One frame's length in bytes and in seconds; null without a frame of layer III. */
function readFrame(file: Buffer, at: number): { readonly bytes: number; readonly seconds: number } | null {
  if (at + 4 > file.length || file[at] !== 0xff || ((file[at + 1] ?? 0) & 0xe6) !== 0xe2) return null;
  const version = ((file[at + 1] ?? 0) >> 3) & 0b11;
  const third = file[at + 2] ?? 0;
  const found = Object.entries(rates).find(([, one]) => one.version === version && one.index === ((third >> 2) & 0b11));
  if (found === undefined) return null;
  const [hertz, rate] = found;
  const kilobits = kilobitsOf(rate)[third >> 4] ?? 0;
  if (kilobits === 0) return null;
  const padding = (third >> 1) & 1;
  const bytes = Math.floor(((rate.samplesPerFrame / 8) * kilobits * 1_000) / Number(hertz)) + padding;
  return { bytes, seconds: rate.samplesPerFrame / Number(hertz) };
}

/** Seconds of an MP3 file, counted frame by frame after its ID3 tag; null if it does not begin with a frame. */
export function readMp3(file: Buffer): number | null {
  let at = file.toString("latin1", 0, 3) === "ID3" ? 10 + syncSafe(file) : 0;
  let seconds = 0;
  for (let frame = readFrame(file, at); frame !== null; frame = readFrame(file, at)) {
    seconds += frame.seconds;
    at += frame.bytes;
  }
  return seconds === 0 ? null : seconds;
}

/** The length of an ID3 tag: four times seven bits. */
function syncSafe(file: Buffer): number {
  return file.subarray(6, 10).reduce((length, byte) => length * 128 + (byte & 0x7f), 0);
}
