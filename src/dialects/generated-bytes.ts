/** Ends of the keys whose strings are generated text, as bytes to search for. */
export function generatedKeys(...keys: readonly string[]): readonly Buffer[] {
  return keys.map((key) => Buffer.from(`${key}"`));
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;

/**
 * The bytes of generated text in JSON: of all strings under these keys, found by search instead of parsing, because it
 * may run on every block of a stream, and its result is only used if a stream ends without usage.
 */
export function generatedBytes(json: Buffer, keys: readonly Buffer[]): number {
  let total = 0;
  for (const key of keys) {
    for (let at = json.indexOf(key); at !== -1; at = json.indexOf(key, at)) {
      at += key.length;
      const start = startOfString(json, at);
      if (start === undefined) continue;
      at = endOfString(json, start);
      total += at - start;
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
  readonly #keys: readonly Buffer[];
  #counted = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** The number of waiting blocks before the mark; -1 if it has been counted. */
  #blocksToMark = -1;
  #countedAtMark = 0;

  constructor(keys: readonly Buffer[]) {
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
