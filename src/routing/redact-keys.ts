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
  /\\+(?:u00([\da-f]{2}))?|%(?:25)*([\da-f]{2})|&(?:amp;)*(?:#0*(\d{1,3})|#x0*([\da-f]{1,2})|(amp|lt|gt|quot|apos));/gi;

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** A function that replaces all of these keys in a text. */
export function keyRedactor(secrets: readonly string[]): (text: string) => string {
  const hidden = secrets.filter((secret) => secret.length >= SECRET_CHARACTERS_MIN);
  const written = hidden.flatMap(writingsOf);
  return (text) => {
    const plain = written.reduce((redacted, secret) => redacted.replaceAll(secret, REDACTED), text);
    return /[\\%&]/.test(plain) ? withoutEscaped(plain, written) : plain;
  };
}

/** The key, and the base64 of it alone and as the headers `Bearer` and `Basic` carry it; the longest ones first. */
function writingsOf(secret: string): string[] {
  const encoded = [`Bearer ${secret}`, `:${secret}`, secret].flatMap((value) => {
    const bytes = Buffer.from(value);
    return [bytes.toString("base64").replace(/=+$/, ""), bytes.toString("base64url")];
  });
  return [...new Set([...encoded, secret])];
}

/** Finds the keys in the text without its escapes, and replaces them in the original. */
function withoutEscaped(text: string, written: readonly string[]): string {
  const { plain, starts } = unescaped(text);
  const found = written
    .flatMap((secret) => placesOf(secret, plain))
    .map(([from, to]): [number, number] => [starts[from] ?? 0, starts[to] ?? text.length])
    .toSorted(([one], [other]) => one - other);
  let result = "";
  let end = 0;
  for (const [from, to] of found) {
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
function unescaped(text: string): { plain: string; starts: number[] } {
  const starts: number[] = [];
  let plain = "";
  let end = 0;
  /** Backslashes belong to the character after them. */
  let pending: number | undefined;
  const add = (characters: string, from: number): void => {
    for (let index = 0; index < characters.length; index += 1) starts.push(from + index);
    if (pending !== undefined && characters !== "") starts[starts.length - characters.length] = pending;
    if (characters !== "") pending = undefined;
    plain += characters;
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
  starts.push(text.length);
  return { plain, starts };
}
