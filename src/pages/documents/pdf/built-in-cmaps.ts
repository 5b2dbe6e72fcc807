/**
 * The character maps that PDFs in Chinese, Japanese and Korean name instead of containing them (ISO 32000, 9.7.5.2), packed by
 * `scripts/pack-cmaps.ts`. The file is read when the reader is loaded: a child process may not be able to later.
 */
import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { z } from "zod";

const packed = readFileSync(new URL("cmaps.bin", import.meta.url));

const indexSchema = z.array(z.tuple([z.string(), z.number().int()]));

const LINE_END = 10;

let unpacked: Map<string, Uint8Array> | undefined;

/** By their file names in pdf.js. */
function allMaps(): Map<string, Uint8Array> {
  const all = brotliDecompressSync(packed);
  let at = all.indexOf(LINE_END);
  const index = indexSchema.parse(JSON.parse(all.toString("utf8", 0, at)));
  at += 1;
  return new Map(
    index.map(([name, length]) => {
      const bytes = new Uint8Array(all.subarray(at, at + length));
      at += length;
      return [`${name}.bcmap`, bytes];
    }),
  );
}

interface Asked {
  kind: string;
  filename: string;
}

/** Where pdf.js gets its own files from. It reads text without its fonts and decoders of images. */
export class BuiltInCMaps {
  /** Rejects for a file that is not here. */
  async fetch({ kind, filename }: Asked): Promise<Uint8Array> {
    unpacked ??= allMaps();
    const map = kind === "cMapUrl" ? unpacked.get(filename) : undefined;
    if (map === undefined) throw new Error(`${filename} is not here`);
    // The reader may take the memory over.
    return map.slice();
  }
}
