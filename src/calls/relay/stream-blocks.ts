import type { ContentSink, StoredBody } from "../../charges/index.ts";
import type { GatewayError } from "../../core/index.ts";
import { endsWithEvent, EventSplitter, type StreamObserver } from "../../streaming/index.ts";

const NOTHING = Buffer.alloc(0);

/** Of a part of an event, so many bytes wait for the next one: as many as a key has, however it is written. */
const KEPT_BYTES = 4_096;

export interface StreamBlocksOptions {
  observer: StreamObserver;
  /** Undefined for a stream of bytes. */
  events: StreamEvents | undefined;
  /** Collects the sent bytes of a call with a retry key. */
  recorder: StoredBody | undefined;
  /** The same for a trace with content. */
  content?: ContentSink | undefined;
  /** Redacts the upstream's key from an error that repeats it. */
  redact: (text: string) => string;
}

/** How the events of a stream are separated, and how its client is notified of a break. */
export interface StreamEvents {
  /** The maximum size of an event that is passed on in one piece. */
  bytesMax: number;
  /** Lines that end with a lone CR get LF: the events are translated. */
  changesCr?: true;
  errorEvent: (error: GatewayError) => string;
}

/** Turns the upstream's bytes into blocks of whole events, and shows them to the observer. */
export class StreamBlocks {
  readonly #options: StreamBlocksOptions;
  readonly #splitter: EventSplitter | undefined;
  #hasBegun = false;
  /** Whether the last bytes belonged to an event that is too large to be passed on in one piece. */
  #isWithinEvent = false;
  /** The end of such a part, as Latin-1. */
  #kept = "";

  constructor(options: StreamBlocksOptions) {
    this.#options = options;
    this.#splitter = options.events && new EventSplitter(options.events.bytesMax, options.events);
  }

  /** Whether there has been anything for the client. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether a comment may be inserted: everything passed on so far ended with a whole event. */
  get atBoundary(): boolean {
    return this.#splitter?.atBoundary === true;
  }

  /** The whole events in the received bytes. */
  split(bytes: Buffer): Buffer {
    return this.#splitter === undefined ? bytes : this.#splitter.push(bytes);
  }

  /** Shows events to the observer. Returns the client's bytes. */
  see(block: Buffer): Buffer {
    if (block.length === 0) return block;
    const { observer, recorder, content } = this.#options;
    const shown = observer.see(block);
    if (shown.length > 0) this.#hasBegun = true;
    const wasWithin = this.#isWithinEvent;
    this.#isWithinEvent = this.#splitter !== undefined && !endsWithEvent(block);
    const isPart = wasWithin || this.#isWithinEvent;
    // Latin-1 preserves every byte, also if a block begins or ends within a character.
    const passed =
      observer.failed || isPart ? Buffer.from(this.#withoutKeys(shown.toString("latin1")), "latin1") : shown;
    recorder?.add(passed);
    content?.add(passed);
    return passed;
  }

  /** Nobody knows yet whether a part of an event belongs to an error. A key may begin in one part and end in the next. */
  #withoutKeys(shown: string): string {
    const text = this.#options.redact(this.#kept + shown);
    const passing = this.#isWithinEvent ? Math.max(text.length - KEPT_BYTES, 0) : text.length;
    this.#kept = text.slice(passing);
    return text.slice(0, passing);
  }

  /** What is left of an event that never ended. */
  #unkept(): Buffer {
    const left = Buffer.from(this.#kept, "latin1");
    this.#kept = "";
    if (left.length > 0) this.#options.recorder?.add(left);
    return left;
  }

  /** The bytes after the last whole event, when the upstream has closed. */
  closing(): Buffer {
    const { observer, recorder, content } = this.#options;
    const seen = this.see(this.#splitter?.rest() ?? NOTHING);
    const rest = this.#kept === "" ? seen : Buffer.concat([seen, this.#unkept()]);
    if (observer.close === undefined || observer.done) return rest;
    const last = observer.close();
    recorder?.add(last);
    content?.add(last);
    return rest.length === 0 ? last : Buffer.concat([rest, last]);
  }

  /** The bytes with which a broken stream ends: the events that the observer has retained, and the error event. */
  withError(errorEvent: string): Buffer {
    const gap = Buffer.from(this.#splitter?.atBoundary === false ? "\n\n" : "");
    const held = this.#options.observer.heldBack?.() ?? NOTHING;
    if (held.length > 0) this.#hasBegun = true;
    return Buffer.concat([this.#unkept(), gap, held, Buffer.from(errorEvent)]);
  }
}
