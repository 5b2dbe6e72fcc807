import type { JsonString } from "./scan.ts";

/** JSON text, as Latin-1, with its long strings truncated. */
export interface TruncatedStrings {
  /** Each of them is replaced by its beginning and a mark. */
  text: string;
  /** The former length of a string of the parsed text, given the length of its own characters. */
  sizeOf: (value: string, plain: (text: string) => number) => number;
}

/** Bytes are read as Latin-1, so no character of a body is one of these; an escape in a short string may be. */
const OPEN = "\ue000";
const CLOSE = "\ue001";
const MARKS = /\ue000(\d{1,7})\ue001/g;

const BACKSLASH = 0x5c;

/** Enough to distinguish a data URL from another URL. */
const BEGINNING = 64;

/**
 * Truncates the long strings. Their content is the upstream's to read: here only their size matters, and parsing them
 * is most of the cost of a large body. Escapes within them are therefore not validated.
 */
export function truncateLongStrings(bytes: Buffer, strings: readonly JsonString[]): TruncatedStrings {
  const sizes: number[] = [];
  let shortened = "";
  let from = 0;
  for (const { start, end } of strings) {
    // The quotes stay; an escape is not cut in two.
    const escape = bytes.subarray(start + 1, start + 1 + BEGINNING).indexOf(BACKSLASH);
    const keptEnd = start + 1 + (escape === -1 ? BEGINNING : escape);
    shortened += `${bytes.toString("latin1", from, keptEnd)}${OPEN}${sizes.length}${CLOSE}`;
    sizes.push(end - 1 - keptEnd);
    from = end - 1;
  }
  return {
    text: shortened + bytes.toString("latin1", from),
    sizeOf(value, plain) {
      if (!value.includes(OPEN)) return plain(value);
      let left = 0;
      const rest = value.replaceAll(MARKS, (mark, index: string) => {
        const size = sizes[Number(index)];
        // A mark written by a caller counts as itself.
        if (size === undefined) return mark;
        left += size;
        return "";
      });
      return left + plain(rest);
    },
  };
}
