/** The lines of a kept file, one part in memory at a time. */
import { setImmediate } from "node:timers/promises";
import type { KeptFile, KeptFileStore } from "../store.ts";

const NEWLINE = 0x0a;

/** A longer line is not looked through: it is none that is empty. */
const BLANK_BYTES_MAX = 64 * 1024;

export interface KeptLine {
  /** From 0, of the lines that are not empty. */
  position: number;
  /** From 1, of all lines: as an editor counts them. */
  number: number;
  /** Undefined for a line that is too long, behind which nothing is read. */
  bytes: Buffer | undefined;
}

/** Yields the lines in order; empty ones are left out. Other work has a turn between two parts. */
export async function* linesOf(
  files: Pick<KeptFileStore, "part">,
  { id, parts }: Pick<KeptFile, "id" | "parts">,
  lineBytesMax: number,
): AsyncGenerator<KeptLine, void, undefined> {
  let [position, number] = [0, 0];
  let pieces: Buffer[] = [];
  let waiting = 0;
  const lineOf = (end: Buffer): Buffer => (pieces.length === 0 ? end : Buffer.concat([...pieces, end]));
  for (let at = 0; at < parts; at += 1) {
    const part = await files.part(id, at);
    if (part === undefined) throw new Error("a part of a kept file is missing");
    const content = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    let from = 0;
    for (let to = content.indexOf(NEWLINE); to !== -1; to = content.indexOf(NEWLINE, from)) {
      const bytes = lineOf(content.subarray(from, to));
      [from, pieces, waiting] = [to + 1, [], 0];
      number += 1;
      if (isBlank(bytes)) continue;
      yield { position, number, bytes: bytes.length > lineBytesMax ? undefined : bytes };
      position += 1;
    }
    const rest = content.subarray(from);
    pieces.push(rest);
    waiting += rest.length;
    if (waiting > lineBytesMax) return yield { position, number: number + 1, bytes: undefined };
    await setImmediate();
  }
  const last = lineOf(Buffer.alloc(0));
  if (!isBlank(last)) yield { position, number: number + 1, bytes: last };
}

function isBlank(bytes: Buffer): boolean {
  return bytes.length <= BLANK_BYTES_MAX && bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);
}
