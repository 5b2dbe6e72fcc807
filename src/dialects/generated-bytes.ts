/** Which strings of a dialect are generated text, as bytes to search for. */
export interface GeneratedKeys {
  /** Ends of the keys of generated text. */
  own: readonly Buffer[];
  /** Keys of values that the model has not written, such as quotations and results of tools, or that repeat another one. */
  others: readonly Buffer[];
}

/** `own` are ends of keys, `others` whole keys. */
export function generatedKeys(own: readonly string[], others: readonly string[] = []): GeneratedKeys {
  return {
    own: own.map((key) => Buffer.from(`${key}"`)),
    others: others.map((key) => Buffer.from(`"${key}"`)),
  };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;
const UNICODE = Buffer.from(String.raw`\u`);
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * The bytes of generated text in JSON: of all strings under these keys, found by search instead of parsing, because it
 * may run on every block of a stream, and its result is only used if a stream ends without usage.
 */
export function generatedBytes(json: Buffer, { own, others }: GeneratedKeys): number {
  const total = stringBytes(json, own);
  // Nothing is subtracted that has not been counted.
  return total === 0 ? 0 : total - othersBytes(json, own, others);
}

/** Of `own` strings within the values of `others`, each counted once however they are nested. */
function othersBytes(json: Buffer, own: readonly Buffer[], others: readonly Buffer[]): number {
  let total = 0;
  const found = others.map((key) => ({ key, at: json.indexOf(key) }));
  for (;;) {
    let first: (typeof found)[number] | undefined;
    for (const each of found) if (each.at !== -1 && (first === undefined || each.at < first.at)) first = each;
    if (first === undefined) return total;
    const { at, key } = first;
    const end = endOfValue(json, at + key.length);
    total += stringBytes(json.subarray(at, end), own);
    for (const each of found) if (each.at !== -1 && each.at < end) each.at = json.indexOf(each.key, end);
  }
}

function stringBytes(json: Buffer, keys: readonly Buffer[]): number {
  let total = 0;
  const firstEscape = json.indexOf(UNICODE);
  for (const key of keys) {
    let escape = firstEscape;
    for (let at = json.indexOf(key); at !== -1; at = json.indexOf(key, at)) {
      at += key.length;
      const start = startOfString(json, at);
      if (start === undefined) continue;
      at = endOfString(json, start);
      total += at - start;
      if (escape !== -1 && escape < start) escape = json.indexOf(UNICODE, start);
      for (; escape !== -1 && escape < at; escape = json.indexOf(UNICODE, escape + 2))
        total -= savedBytes(json, escape);
    }
  }
  return total;
}

/** Blocks that may wait to be counted: a stream may stay open for long. */
const WAITING_BYTES_MAX = 32 * 1024;
const WAITING_BLOCKS_MAX = 12;

/**
 * Counts the generated text of a stream as late as possible: most streams report their usage before the count is
 * needed.
 */
export class GeneratedBytesMeter {
  readonly #keys: GeneratedKeys;
  #counted = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** The number of waiting blocks before the mark; -1 if it has been counted. */
  #blocksToMark = -1;
  #countedAtMark = 0;

  constructor(keys: GeneratedKeys) {
    this.#keys = keys;
  }

  add(block: Buffer): void {
    this.#waitingBytes += block.length;
    if (this.#waiting.push(block) > WAITING_BLOCKS_MAX || this.#waitingBytes > WAITING_BYTES_MAX) this.#count();
  }

  /** Marks the end of the last block, or its beginning. */
  mark(end: boolean): void {
    this.#blocksToMark = this.#waiting.length - (end ? 0 : 1);
    // The last block may have been counted with all others.
    if (this.#blocksToMark >= 0) return;
    this.#blocksToMark = 0;
  }

  /** Since the mark, or since the beginning if nothing has been marked. */
  get bytesSinceMark(): number {
    // Nothing came after it.
    if (this.#blocksToMark !== -1 && this.#blocksToMark === this.#waiting.length) return 0;
    this.#count();
    return this.#counted - this.#countedAtMark;
  }

  /** Of all blocks so far. */
  get bytes(): number {
    this.#count();
    return this.#counted;
  }

  #count(): void {
    for (const [index, block] of this.#waiting.entries()) {
      if (index === this.#blocksToMark) this.#countedAtMark = this.#counted;
      this.#counted += generatedBytes(block, this.#keys);
    }
    if (this.#blocksToMark === this.#waiting.length) this.#countedAtMark = this.#counted;
    this.#blocksToMark = -1;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}

/** The start of the string whose key ends at `at`; undefined if no string follows. */
function startOfString(json: Buffer, at: number): number | undefined {
  const colon = skipSpaces(json, at);
  if (json[colon] !== COLON) return undefined;
  const quote = skipSpaces(json, colon + 1);
  return json[quote] === QUOTE ? quote + 1 : undefined;
}

/**
 * How many bytes less than in its `\uXXXX` at `at` a letter has in UTF-8, half a pair counted for itself: some upstreams
 * escape every letter beyond ASCII.
 */
function savedBytes(json: Buffer, at: number): number {
  if (isEscaped(json, at)) return 0;
  const code = Number.parseInt(json.toString("latin1", at + 2, at + 6), 16);
  if (code < 0x80) return 5;
  return code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 4 : 3;
}

/** The end of the string, list or object whose key ends at `at`; `at` if it has none of these. */
function endOfValue(json: Buffer, at: number): number {
  const start = skipSpaces(json, at);
  if (json[start] !== COLON) return at;
  let depth = 0;
  let end = skipSpaces(json, start + 1);
  do {
    const byte = json[end];
    if (byte === undefined) return json.length;
    if (byte === QUOTE) end = endOfString(json, end + 1);
    else if (OPENING.has(byte)) depth += 1;
    else if (CLOSING.has(byte)) depth -= 1;
    else if (depth === 0) return at;
    end += 1;
  } while (depth > 0);
  return end;
}

function skipSpaces(json: Buffer, start: number): number {
  let at = start;
  while (json[at] === SPACE) at += 1;
  return at;
}

function endOfString(json: Buffer, start: number): number {
  let at = json.indexOf(QUOTE, start);
  while (at !== -1 && isEscaped(json, at)) at = json.indexOf(QUOTE, at + 1);
  return at === -1 ? json.length : at;
}

function isEscaped(json: Buffer, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
