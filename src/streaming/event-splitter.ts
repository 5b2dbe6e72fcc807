/**
 * Splits a byte stream at the ends of server-sent events, without decoding it. Whole events are passed on as views of
 * the received bytes; only an event that spans several reads is copied.
 *
 *   whole ──bytes without an event's end──▶ partial (kept back) ──its end──▶ whole
 *                                              └──over `eventBytesMax`──▶ oversize (passed on as it comes) ──its end──▶ whole
 *
 * An event ends with an empty line; lines end with LF or CRLF. The format also allows a lone CR: a stream of such lines is passed on
 * once it ends or exceeds the bound, unless its reader asks for LF in their place.
 */
import { endsEmptyLine, lineEndBefore } from "./events.ts";
import { LineEnds } from "./line-ends.ts";

const NOTHING = Buffer.alloc(0);

export class EventSplitter {
  readonly #eventBytesMax: number;
  readonly #lineEnds: LineEnds | undefined;
  /** The retained bytes, with spare capacity: an event of megabytes arrives in a thousand pieces. */
  #retained: Buffer = NOTHING;
  #retainedBytes = 0;
  #oversize = false;

  /** `changesCr`: lines that end with a lone CR end with LF afterwards. */
  constructor(eventBytesMax: number, { changesCr = false }: { changesCr?: boolean | undefined } = {}) {
    this.#eventBytesMax = eventBytesMax;
    this.#lineEnds = changesCr ? new LineEnds() : undefined;
  }

  /** Whether everything passed on so far ended with a whole event: only there may something be inserted. */
  get atBoundary(): boolean {
    return !this.#oversize;
  }

  /** Takes the next bytes; returns those that can be passed on: whole events, or a part of an oversize one. */
  push(chunk: Uint8Array): Buffer {
    const received = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const arrived = this.#lineEnds === undefined ? received : this.#lineEnds.toLf(received);
    const before = this.#retainedBytes;
    const bytes = before === 0 ? arrived : this.#append(arrived);
    const end = lastEventEnd(bytes, before);
    if (end > 0) this.#oversize = false;
    const rest = bytes.length - end;
    if (rest > this.#eventBytesMax) this.#oversize = true;
    // The last bytes of an oversize event are retained, because its end may span two reads as well.
    const keep = this.#oversize ? Math.min(rest, 3) : rest;
    if (keep === bytes.length && before > 0) return NOTHING;
    this.#retained = keep === 0 ? NOTHING : Buffer.from(bytes.subarray(bytes.length - keep));
    this.#retainedBytes = keep;
    return keep === 0 ? bytes : bytes.subarray(0, bytes.length - keep);
  }

  /** The remainder when the stream ends: an incomplete event. */
  rest(): Buffer {
    const rest = this.#retained.subarray(0, this.#retainedBytes);
    this.#retained = NOTHING;
    this.#retainedBytes = 0;
    return rest;
  }

  /** All retained bytes, including the new ones. The capacity doubles, so that each byte is moved only a few times. */
  #append(arrived: Buffer): Buffer {
    const bytes = this.#retainedBytes + arrived.length;
    if (bytes > this.#retained.length) {
      const larger = Buffer.allocUnsafe(Math.max(bytes, 2 * this.#retained.length));
      this.#retained.copy(larger, 0, 0, this.#retainedBytes);
      this.#retained = larger;
    }
    arrived.copy(this.#retained, this.#retainedBytes);
    this.#retainedBytes = bytes;
    return this.#retained.subarray(0, bytes);
  }
}

/**
 * The index after the last empty line, or 0. None ends within the first `before` bytes, which were searched already.
 */
function lastEventEnd(bytes: Buffer, before: number): number {
  const fresh = before === 0 ? bytes : bytes.subarray(before);
  for (let at = lineEndBefore(fresh, fresh.length); at !== -1; at = lineEndBefore(fresh, at)) {
    if (endsEmptyLine(bytes, before + at)) return before + at + 1;
  }
  return 0;
}
