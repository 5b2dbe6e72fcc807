/** Server-sent events in bytes: their bounds and content. Lines end with LF or CRLF. */
const LF = 0x0a;
const CR = 0x0d;

/** The last LF before `at`, or -1. */
export function lineEndBefore(bytes: Buffer, at: number): number {
  return at <= 0 ? -1 : bytes.lastIndexOf(LF, at - 1);
}

/** Whether the LF at `at` ends an empty line. */
export function endsEmptyLine(bytes: Buffer, at: number): boolean {
  const before = bytes[at - 1] === CR ? at - 2 : at - 1;
  return before >= 0 && bytes[before] === LF;
}

/** Whether a block ends with an event, and not within one. */
export function endsWithEvent(block: Buffer): boolean {
  return block.at(-1) === LF && endsEmptyLine(block, block.length - 1);
}

/** The events in a block of whole ones, in order, as views of it. */
export function* eventsOf(block: Buffer): Generator<Buffer> {
  for (let start = 0; start < block.length;) {
    const end = endOfEvent(block, start, start);
    yield block.subarray(start, end);
    start = end;
  }
}

/** The end of the event that begins at `start`, which contains the byte at `at`, within a block of whole events. */
function endOfEvent(block: Buffer, start: number, at: number): number {
  for (let lf = block.indexOf(LF, at); lf !== -1; lf = block.indexOf(LF, lf + 1)) {
    if (lf > start && endsEmptyLine(block, lf)) return lf + 1;
  }
  return block.length;
}

/** The end of the last event that ends before `below`, but of the one at `start` at least, within a block of whole events. */
export function endOfEvents(block: Buffer, start: number, below: number): number {
  if (block.length < below) return block.length;
  for (let lf = lineEndBefore(block, Math.ceil(below) - 1); lf > start; lf = lineEndBefore(block, lf)) {
    if (endsEmptyLine(block, lf)) return lf + 1;
  }
  return endOfEvent(block, start, start);
}

/** The event that contains the byte at `at`, within a block of whole events. */
export function eventAround(block: Buffer, at: number): { start: number; end: number } {
  let start = 0;
  for (let lf = lineEndBefore(block, at); lf !== -1; lf = lineEndBefore(block, lf)) {
    if (!endsEmptyLine(block, lf)) continue;
    start = lf + 1;
    break;
  }
  return { start, end: endOfEvent(block, start, at) };
}

/**
 * The events that contain one of the words, within a block of whole events, in order, as views of it. Other events are
 * not parsed.
 */
export function* eventsWith(block: Buffer, words: readonly Buffer[]): Generator<Buffer> {
  const found = words.map((word) => block.indexOf(word));
  for (;;) {
    const places = found.filter((at) => at !== -1);
    if (places.length === 0) return;
    const { start, end } = eventAround(block, Math.min(...places));
    yield block.subarray(start, end);
    for (const [index, word] of words.entries()) {
      const at = found[index] ?? -1;
      if (at !== -1 && at < end) found[index] = block.indexOf(word, end);
    }
  }
}

/** The `data` of an event, its lines joined; undefined for a comment or an event without data. */
export function dataOf(event: Buffer): string | undefined {
  const lines = event.toString("utf8").split(/\r?\n/);
  const data = lines
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(line.startsWith("data: ") ? 6 : 5));
  return data.length === 0 ? undefined : data.join("\n");
}
