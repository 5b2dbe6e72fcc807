import type { Picture } from "./formats.ts";

/** With this step a block's first coefficient is its mean less 128. */
const quantizerStep = 8;
/** Sizes of first coefficients: zero in one bit, the others in five. */
const sizesCount = 8;
/** A unit of 16 by 16 pixels has four blocks of brightness and one for each colour difference, of two bits each. */
const unitPixels = 16;
const unitBits = 12;
const startOfImage = Buffer.of(0xff, 0xd8);
const endOfImage = Buffer.of(0xff, 0xd9);

/**
 * A baseline JPEG. Only the first unit contains a colour; in all others each block equals the one before, in zero bits.
 */
export function encodeJpeg({ width, height, colour }: Picture): Buffer {
  const frame = Buffer.alloc(15);
  frame.writeUInt8(8, 0);
  frame.writeUInt16BE(height, 1);
  frame.writeUInt16BE(width, 3);
  frame.set([3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0], 5);
  return Buffer.concat([
    startOfImage,
    segment(0xe0, Buffer.from("JFIF\0\x01\x01\0\0\x01\0\x01\0\0", "latin1")),
    segment(0xdb, Buffer.concat([Buffer.of(0), Buffer.alloc(64, quantizerStep)])),
    segment(0xc0, frame),
    segment(0xc4, Buffer.concat([firstCoefficientCodes(), endOfBlockCode()])),
    segment(0xda, Buffer.of(3, 1, 0, 2, 0, 3, 0, 0, 63, 0)),
    scan(width, height, colour),
    endOfImage,
  ]);
}

function segment(marker: number, data: Buffer): Buffer {
  const head = Buffer.of(0xff, marker, 0, 0);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

function firstCoefficientCodes(): Buffer {
  const counts = Buffer.alloc(16);
  counts.set([1, 0, 0, 0, sizesCount]);
  return Buffer.concat([Buffer.of(0x00), counts, Buffer.of(0, 1, 2, 3, 4, 5, 6, 7, 8)]);
}

/** The other coefficients are all zero: the only symbol ends the block. */
function endOfBlockCode(): Buffer {
  const counts = Buffer.alloc(16);
  counts.set([1]);
  return Buffer.concat([Buffer.of(0x10), counts, Buffer.of(0)]);
}

function scan(width: number, height: number, colour: Picture["colour"]): Buffer {
  const units = Math.ceil(width / unitPixels) * Math.ceil(height / unitPixels);
  const [brightness, ...differences] = meansOf(colour);
  const likeBefore = "00".repeat(3);
  const first = firstBlock(brightness) + likeBefore + differences.map(firstBlock).join("");
  const length = first.length + (units - 1) * unitBits;
  const bytes = Buffer.alloc(Math.ceil(length / 8));
  const set = (index: number): void => {
    bytes[index >> 3] = (bytes[index >> 3] ?? 0) | (0x80 >> (index & 7));
  };
  for (let index = 0; index < first.length; index++) if (first[index] === "1") set(index);
  // The remainder of the last byte is filled with ones.
  for (let index = length; index < bytes.length * 8; index++) set(index);
  return stuffed(bytes);
}

/** Brightness and colour differences, less 128. */
function meansOf([red, green, blue]: Picture["colour"]): [number, number, number] {
  const brightness = 0.299 * red + 0.587 * green + 0.114 * blue;
  return [clamp(brightness - 128), clamp((blue - brightness) * 0.564), clamp((red - brightness) * 0.713)];
}

function clamp(value: number): number {
  return Math.max(-127, Math.min(127, Math.round(value)));
}

/** A difference in its size's code and its own bits, and the end of the block. */
function firstBlock(difference: number): string {
  const size = difference === 0 ? 0 : 32 - Math.clz32(Math.abs(difference));
  if (size === 0) return "00";
  const code = (0b10000 + size - 1).toString(2);
  const bits = difference > 0 ? difference : difference + 2 ** size - 1;
  return `${code}${bits.toString(2).padStart(size, "0")}0`;
}

/** A byte of ones is followed by a zero byte, as it would be a marker otherwise. */
function stuffed(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  let start = 0;
  for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, start)) {
    pieces.push(bytes.subarray(start, at + 1), Buffer.of(0));
    start = at + 1;
  }
  return Buffer.concat([...pieces, bytes.subarray(start)]);
}
