import type { JsonString } from "./scan.ts";

/** Bytes of a string that are decoded in one step. */
const STEP_BYTES = 4 * 1024 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Of UTF-8, a byte that continues a character is `10xxxxxx`. */
const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/**
 * Parses JSON with all of its strings, as `JSON.parse` does, but decodes very long strings in several steps with a pause
 * between them: thirty megabytes of escapes take a tenth of a second. `strings` are the positions of the long values;
 * throws or rejects with a `SyntaxError` for invalid JSON.
 */
export async function decodeInSteps(
  bytes: Buffer,
  strings: readonly JsonString[],
  pause: () => Promise<void>,
): Promise<unknown> {
  const long = strings.filter(({ start, end }) => end - start > STEP_BYTES && !isKey(bytes, end));
  if (long.length === 0) return JSON.parse(bytes.toString("utf8"));
  // No caller can have written it.
  const mark = crypto.randomUUID();
  const decoded = new Map<unknown, string>();
  const rest: string[] = [];
  let from = 0;
  for (const [index, { start, end }] of long.entries()) {
    const placeholder = `${mark} ${index}`;
    decoded.set(placeholder, await decodeString(bytes, start + 1, end - 1, pause));
    rest.push(bytes.toString("utf8", from, start), JSON.stringify(placeholder));
    from = end;
  }
  rest.push(bytes.toString("utf8", from));
  return replaceIn(JSON.parse(rest.join("")), decoded);
}

function isKey(bytes: Buffer, end: number): boolean {
  return /^\s*:/.test(bytes.toString("latin1", end, end + 64));
}

async function decodeString(bytes: Buffer, start: number, end: number, pause: () => Promise<void>): Promise<string> {
  if (bytes[end] !== QUOTE) throw new SyntaxError("a string is not closed");
  const pieces: string[] = [];
  for (let from = start; from < end;) {
    const to = pieceEnd(bytes, from, end);
    pieces.push(String(JSON.parse(`"${bytes.toString("utf8", from, to)}"`)));
    from = to;
    await pause();
  }
  return pieces.join("");
}

/** An end of a piece that cuts neither a character nor an escape in two. */
function pieceEnd(bytes: Buffer, from: number, end: number): number {
  let to = Math.min(from + STEP_BYTES, end);
  if (to === end) return end;
  while (isContinuation(bytes[to])) to -= 1;
  // The longest escape has six bytes. Its backslash follows an even number of others.
  for (let at = to - 1; at >= to - 5; at -= 1) {
    if (bytes[at] !== BACKSLASH) continue;
    let first = at;
    while (first > from && bytes[first - 1] === BACKSLASH) first -= 1;
    return (at - first) % 2 === 0 ? at : at - 1;
  }
  return to;
}

/** The value with its placeholders replaced, in place. */
function replaceIn(value: unknown, decoded: ReadonlyMap<unknown, string>): unknown {
  if (typeof value !== "object" || value === null) return decoded.get(value) ?? value;
  const entries = value as Record<string, unknown>;
  for (const key of Object.keys(entries)) {
    const inner = entries[key];
    if (typeof inner === "object") replaceIn(inner, decoded);
    else if (typeof inner === "string" && decoded.has(inner)) {
      // Assigning to `__proto__` would set the prototype.
      const own = { enumerable: true, configurable: true, writable: true };
      Object.defineProperty(entries, key, { ...own, value: decoded.get(inner) });
    }
  }
  return entries;
}
