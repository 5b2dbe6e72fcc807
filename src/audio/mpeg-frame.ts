/** One frame of MP3 (or an older layer) or of AAC with ADTS headers. */
export interface MpegFrame {
  /** Including the header. */
  bytes: number;
  milliseconds: number;
  format: "mpeg" | "adts";
  /** The properties that all frames of an undamaged file share. */
  kind: string;
}

/** Bytes that are needed to read a header. */
export const FRAME_HEAD_BYTES = 7;

/** The longest frame: ADTS counts its bytes in 13 bits. */
export const FRAME_BYTES_MAX = 8_192;

/** Kilobits per second by index; 0 is the free format, which has no fixed length. */
const kilobits = {
  "1/1": [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  "1/2": [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  "1/3": [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  "2/1": [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  "2/2": [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;

/** The sample rates of MPEG 1 in hertz, by index; MPEG 2 has half of them, MPEG 2.5 a quarter. */
const mpegRates = [44_100, 48_000, 32_000];
const dividers: Readonly<Record<number, number>> = { 0b11: 1, 0b10: 2, 0b00: 4 };

export const aacRates: readonly number[] = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];

/** Samples in a packet of AAC. */
export const AAC_SAMPLES = 1_024;

/** The frame whose header begins at `at`, or undefined if none does. `FRAME_HEAD_BYTES` bytes must be available. */
export function mpegFrameAt(bytes: Buffer, at: number): MpegFrame | undefined {
  const second = bytes[at + 1] ?? 0;
  if (bytes[at] !== 0xff || (second & 0xe0) !== 0xe0) return undefined;
  const layer = 4 - ((second >> 1) & 0b11);
  return layer === 4 ? adtsFrame(bytes, at, second) : layerFrame(bytes[at + 2] ?? 0, second, layer);
}

function layerFrame(third: number, second: number, layer: number): MpegFrame | undefined {
  const divider = dividers[(second >> 3) & 0b11];
  const mpegRate = mpegRates[(third >> 2) & 0b11];
  if (divider === undefined || mpegRate === undefined) return undefined;
  const bitRate = bitRateOf(divider === 1, layer, third >> 4);
  if (bitRate === 0) return undefined;
  const rate = mpegRate / divider;
  const samples = samplesOf(divider === 1, layer);
  const padding = (third >> 1) & 1;
  const bytes =
    layer === 1
      ? (Math.floor((12 * bitRate) / rate) + padding) * 4
      : Math.floor(((samples / 8) * bitRate) / rate) + padding;
  return { bytes, milliseconds: (samples * 1_000) / rate, format: "mpeg", kind: `mpeg ${layer} ${rate}` };
}

function bitRateOf(isMpeg1: boolean, layer: number, index: number): number {
  const version = isMpeg1 ? 1 : 2;
  const table =
    layer === 1 ? kilobits[`${version}/1`] : isMpeg1 && layer === 3 ? kilobits["1/3"] : kilobits[`${version}/2`];
  return (table[index] ?? 0) * 1_000;
}

function samplesOf(isMpeg1: boolean, layer: number): number {
  if (layer === 1) return 384;
  return layer === 3 && !isMpeg1 ? 576 : 1_152;
}

function adtsFrame(bytes: Buffer, at: number, second: number): MpegFrame | undefined {
  const rate = aacRates[((bytes[at + 2] ?? 0) >> 2) & 0b1111];
  if ((second & 0xf0) !== 0xf0 || rate === undefined) return undefined;
  const length = (bytes.readUInt32BE(at + 3) >>> 13) & 0x1fff;
  if (length < FRAME_HEAD_BYTES) return undefined;
  const blocks = ((bytes[at + 6] ?? 0) & 0b11) + 1;
  const milliseconds = (blocks * AAC_SAMPLES * 1_000) / rate;
  return { bytes: length, milliseconds, format: "adts", kind: `adts ${rate}` };
}
