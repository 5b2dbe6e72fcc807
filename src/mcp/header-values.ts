const SENTINEL = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** A member of the body as the value of a header. */
export function valueForHeader(value: string): string {
  const isPlain = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/.test(value) && !SENTINEL.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

/**
 * The value of a header that repeats a member of the body: as it is, or as base64 of its UTF-8 between `=?base64?` and `?=`.
 * Undefined if it is neither (2026-07-28, transports, "Value Encoding").
 */
export function encodedValue(header: string): string | undefined {
  const text = withoutBlanks(header);
  if (!text.startsWith("=?base64?") || !text.endsWith("?=")) return /^[\t\x20-\x7e]*$/.test(text) ? text : undefined;
  const [, data] = SENTINEL.exec(text) ?? [];
  if (data === undefined || data.length % 4 !== 0) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(data, "base64"));
  } catch {
    return undefined;
  }
}

/** Without the spaces and tabs at its ends; an expression for those would take the square of the header's length. */
function withoutBlanks(header: string): string {
  let [from, to] = [0, header.length];
  while (from < to && isBlank(header[from])) from += 1;
  while (to > from && isBlank(header[to - 1])) to -= 1;
  return header.slice(from, to);
}

const isBlank = (character: string | undefined): boolean => character === " " || character === "\t";
