/**
 * Finds an upstream's keys in its errors. Some repeat the key that they refuse: as it is, escaped as the format of the error escapes
 * text, or as the base64 of the header that it came in.
 */

/**
 * Shorter keys are placeholders for servers without keys (`ollama`, `none`), and may occur as words in their errors.
 */
const SECRET_CHARACTERS_MIN = 12;

const REDACTED = "[redacted]";

/**
 * One character, escaped: in JSON (also within the JSON of a string), in a URL, or in HTML. Backslashes before any other character
 * escape it, or the backslash before it.
 */
const escaped =
  /\\+(?:u00([\da-f]{2}))?|%(?:25)*([\da-f]{2})|&(?:amp;)*(?:#0*(\d{2,3})(?!\d);?|#x0*([\da-f]{2})(?![\da-f]);?|(amp|lt|gt|quot|apos);)/gi;

/** Something that stands for another character. */
const escape = /\\|%[\da-f]{2}|&(?:#x?\d|amp|lt|gt|quot|apos)/i;

/** Escapes within escapes, as of HTML in JSON that escapes `&`. */
const DEPTH_MAX = 6;

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** A function that replaces all of these keys in a text. */
export function keyRedactor(secrets: readonly string[]): (text: string) => string {
  const hidden = secrets.filter((secret) => secret.length >= SECRET_CHARACTERS_MIN);
  const written = hidden.flatMap(writingsOf);
  // Most keys are longer than the headers of an answer, which need not be searched. No escape is shorter than its character.
  const shortest = Math.min(...written.map(({ length }) => length));
  return (text) => {
    if (text.length < shortest) return text;
    const plain = written.reduce((redacted, secret) => redacted.replaceAll(secret, REDACTED), text);
    return escape.test(plain) ? withoutEscaped(plain, written) : plain;
  };
}

/**
 * The key, and the base64 of it alone and as the headers `Bearer` and `Basic` carry it, the longest ones first; then its base64 at
 * any place of a longer text, without the characters that depend on what is around it.
 */
function writingsOf(secret: string): string[] {
  const encoded = [`Bearer ${secret}`, `:${secret}`, secret].flatMap((value) => base64Of(Buffer.from(value)));
  const within = [0, 1, 2].flatMap((before) => {
    const padded = base64Of(Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]));
    const [from, bits] = [Math.ceil((before * 8) / 6), (before + Buffer.byteLength(secret)) * 8];
    return padded.map((text) => text.slice(from, Math.floor(bits / 6)));
  });
  return [...new Set([...encoded, secret, ...within])];
}

/** Both alphabets, without padding. */
function base64Of(bytes: Buffer): string[] {
  return [bytes.toString("base64").replace(/=+$/, ""), bytes.toString("base64url")];
}

/** Finds the keys in the text without its escapes, however deep, and replaces them in the original. */
function withoutEscaped(text: string, written: readonly string[]): string {
  let { plain, starts } = unescaped(text);
  const found: [from: number, to: number][] = [];
  for (let depth = 1; ; depth += 1) {
    for (const secret of written)
      for (const [from, to] of placesOf(secret, plain)) found.push([starts[from] ?? 0, starts[to] ?? text.length]);
    if (depth === DEPTH_MAX || !escape.test(plain)) break;
    const next = unescaped(plain);
    const outer = starts;
    plain = next.plain;
    starts = next.starts.map((at) => outer[at] ?? text.length);
  }
  return replaceAt(text, found);
}

function replaceAt(text: string, places: readonly [from: number, to: number][]): string {
  let result = "";
  let end = 0;
  for (const [from, to] of places.toSorted(([one], [other]) => one - other)) {
    if (from >= end) result += text.slice(end, from) + REDACTED;
    end = Math.max(end, to);
  }
  return result + text.slice(end);
}

function placesOf(secret: string, plain: string): [from: number, to: number][] {
  const places: [number, number][] = [];
  for (let at = plain.indexOf(secret); at !== -1; at = plain.indexOf(secret, at + secret.length))
    places.push([at, at + secret.length]);
  return places;
}

/** A text without escapes, and where each of its characters begins in the original. */
function unescaped(text: string): { plain: string; starts: Uint32Array } {
  const starts = new Uint32Array(text.length + 1);
  const pieces: string[] = [];
  let length = 0;
  let end = 0;
  /** Backslashes belong to the character after them. */
  let pending: number | undefined;
  const add = (characters: string, from: number): void => {
    if (characters === "") return;
    pieces.push(characters);
    const first = length;
    for (let at = from; length < first + characters.length; at += 1) starts[length++] = at;
    if (pending !== undefined) starts[first] = pending;
    pending = undefined;
  };
  for (const { 0: whole, 1: json, 2: url, 3: decimal, 4: hex, 5: name, index } of text.matchAll(escaped)) {
    add(text.slice(end, index), end);
    const code = json ?? url ?? hex;
    if (code !== undefined) add(String.fromCodePoint(Number.parseInt(code, 16)), index);
    else if (decimal !== undefined) add(String.fromCodePoint(Number(decimal)), index);
    else if (name !== undefined) add(named[name.toLowerCase()] ?? "", index);
    else pending ??= index;
    end = index + whole.length;
  }
  add(text.slice(end), end);
  starts[length] = text.length;
  return { plain: pieces.join(""), starts };
}
