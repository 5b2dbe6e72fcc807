import { crc32, deflateSync } from "node:zlib";

import type { Picture } from "./formats.ts";

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A palette of one colour and one bit a pixel: the rows are all zeros and pack to next to nothing. */
export function encodePng({ width, height, colour, transparent }: Picture): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([1, 3], 8);
  const rows = deflateSync(Buffer.alloc((1 + Math.ceil(width / 8)) * height), { level: 9 });
  const alpha = transparent ? [chunk("tRNS", Buffer.of(0))] : [];
  const chunks = [chunk("IHDR", head), chunk("PLTE", Buffer.from(colour)), ...alpha];
  return Buffer.concat([signature, ...chunks, chunk("IDAT", rows), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(named, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}
