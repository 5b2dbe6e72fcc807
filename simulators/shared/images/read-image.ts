import type { ImageFormat, Size } from "./formats.ts";

/** The header of an image file. */
export interface ImageHead extends Size {
  readonly format: ImageFormat;
}

/** Reads the head of a PNG, JPEG or WebP file; null for bytes that are none of them. */
export function readImage(bytes: Uint8Array): ImageHead | null {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return readPng(file) ?? readWebp(file) ?? readJpeg(file);
}

function readPng(file: Buffer): ImageHead | null {
  if (file.length < 33 || file.toString("latin1", 0, 8) !== "\x89PNG\r\n\x1a\n") return null;
  return { format: "png", width: file.readUInt32BE(16), height: file.readUInt32BE(20) };
}

function readWebp(file: Buffer): ImageHead | null {
  if (file.length < 30) return null;
  if (file.toString("latin1", 0, 4) !== "RIFF" || file.toString("latin1", 8, 12) !== "WEBP") return null;
  const kind = file.toString("latin1", 12, 16);
  if (kind === "VP8L") {
    const packed = file.readUInt32LE(21);
    return { format: "webp", width: (packed & 0x3fff) + 1, height: ((packed >> 14) & 0x3fff) + 1 };
  }
  if (kind === "VP8X") return { format: "webp", width: file.readUIntLE(24, 3) + 1, height: file.readUIntLE(27, 3) + 1 };
  return { format: "webp", width: file.readUInt16LE(26) & 0x3fff, height: file.readUInt16LE(28) & 0x3fff };
}

/** Walks the segments up to the one with the size. */
function readJpeg(file: Buffer): ImageHead | null {
  if (file.length < 4 || file.readUInt16BE(0) !== 0xffd8) return null;
  let at = 2;
  while (at + 9 <= file.length && file[at] === 0xff) {
    const marker = file[at + 1] ?? 0;
    if (isFrame(marker)) return { format: "jpeg", width: file.readUInt16BE(at + 7), height: file.readUInt16BE(at + 5) };
    at += 2 + file.readUInt16BE(at + 2);
  }
  return null;
}

/** Start-of-frame markers, without the three in their row that mean something else. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}
