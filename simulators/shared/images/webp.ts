import type { Picture } from "./formats.ts";

/** Lossless WebP: each channel has a code of one symbol, which takes no bits at all for the pixels. */
export function encodeWebp({ width, height, colour, transparent }: Picture): Buffer {
  const [red, green, blue] = colour;
  const bits = new BitWriter();
  bits.write(0x2f, 8);
  bits.write(width - 1, 14);
  bits.write(height - 1, 14);
  bits.write(transparent ? 1 : 0, 1);
  // Version 0; then no transform, no colour cache, one set of codes for the whole image.
  bits.write(0, 3 + 1 + 1 + 1);
  for (const symbol of [green, red, blue, transparent ? 0 : 255]) writeSingleSymbol(bits, symbol);
  // Distances never occur, but their code has to be there.
  writeSingleSymbol(bits, 0);
  const data = bits.finish();
  const padded = Buffer.concat([data, Buffer.alloc(data.length % 2)]);
  const head = Buffer.from("RIFF    WEBPVP8L    ", "latin1");
  head.writeUInt32LE(padded.length + 12, 4);
  head.writeUInt32LE(data.length, 16);
  return Buffer.concat([head, padded]);
}

/** A simple code with one symbol, written in eight bits. */
function writeSingleSymbol(bits: BitWriter, symbol: number): void {
  bits.write(0b101, 3);
  bits.write(symbol, 8);
}

/** Writes numbers from their lowest bit on, filling bytes from the lowest bit on. */
class BitWriter {
  readonly #bits: number[] = [];

  write(value: number, count: number): void {
    for (let index = 0; index < count; index++) this.#bits.push((value >> index) & 1);
  }

  finish(): Buffer {
    const bytes = Buffer.alloc(Math.ceil(this.#bits.length / 8));
    for (const [index, bit] of this.#bits.entries()) {
      bytes[index >> 3] = (bytes[index >> 3] ?? 0) | (bit << (index & 7));
    }
    return bytes;
  }
}
