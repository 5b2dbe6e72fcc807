import type { JsonString } from "./scan.ts";

/** JSON text, bytewise, without what its long strings say. */
export interface TruncatedStrings {
  /** Of each of them its beginning and a mark. */
  text: string;
  /** How long a string of the parsed text was before, given how long its own characters are. */
  sizeOf: (value: string, plain: (text: string) => number) => number;
}

/** Bytes are read as Latin-1, so that no character of a body is one of these; an escape in a short string may be. */
const OPEN = "\ue000";
const CLOSE = "\ue001";
const MARKS = /\ue000(\d{1,7})\ue001/g;

const BACKSLASH = 0x5c;

/** Tells a data URL from an address. */
const BEGINNING = 64;

/**
 * Leaves the long strings out. What they say is the upstream's to read: here only their size matters, and parsing them is
 * most of what a large body costs. So nobody has looked whether escapes within them are valid.
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
        // One that a caller wrote counts as itself.
        if (size === undefined) return mark;
        left += size;
        return "";
      });
      return left + plain(rest);
    },
  };
}
