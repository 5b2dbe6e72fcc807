import { GatewayError, limits, type ObservedUsage, parseObject } from "../core/index.ts";
import { type ChargedUsage, type StreamObserver, EventSplitter } from "../streaming/index.ts";
import {
  type Answer,
  type AnswerEvent,
  type ClientContext,
  type DialectTranslation,
  eventsOfAnswer,
  failureOf,
  type StreamReader,
  type StreamWriter,
  type UpstreamContext,
} from "./conversation/index.ts";

const NOTHING = Buffer.alloc(0);

/** The two dialects of a translated stream. */
export interface TranslatedStreamOptions {
  upstream: DialectTranslation;
  upstreamContext: UpstreamContext;
  client: DialectTranslation;
  clientContext: ClientContext;
  /** The usage in a whole stream for the client. */
  charged: ChargedUsage;
}

/** Translates a stream of the upstream's dialect to the client's. */
export function translateStream(options: TranslatedStreamOptions): TranslatedStream {
  return new TranslatedStream(options);
}

/**
 * A stream of one dialect translated to another: an observer that changes the bytes. Bytes may be cut anywhere.
 *
 *   translating ──`end`──▶ done, complete
 *      ├──`error`, from upstream or by `fail`──▶ done, failed
 *      └──the upstream closes before its end──▶ done, failed and cut: charged as a stream whose bytes pass
 */
export class TranslatedStream implements StreamObserver {
  readonly #reader: StreamReader;
  readonly #writer: StreamWriter;
  readonly #splitter = new EventSplitter(limits.wholeEventBytesMax, { changesCr: true });
  readonly #charged: ChargedUsage;
  #usage: ObservedUsage | undefined;
  #outputBytes = 0;
  /** Whether the model has written the last block that began. */
  #isWritten = true;
  #outputBytesAtUsage = 0;
  #state: "telling" | "complete" | "failed" = "telling";
  #cut = false;
  /** The last events of a stream that was cut. */
  #held = NOTHING;

  constructor({ upstream, upstreamContext, client, clientContext, charged }: TranslatedStreamOptions) {
    this.#charged = charged;
    this.#reader = upstream.streamReader({
      ...upstreamContext,
      readUsage: (answer) => {
        const observed = upstreamContext.readUsage(answer);
        if (observed !== undefined) this.#usage = observed;
        return observed;
      },
    });
    this.#writer = client.streamWriter(clientContext);
  }

  get usage(): ObservedUsage | undefined {
    return this.#usage;
  }

  get outputBytes(): number {
    return this.#outputBytes;
  }

  get outputBytesSinceUsage(): number {
    return this.#outputBytes - this.#outputBytesAtUsage;
  }

  get done(): boolean {
    return this.#state !== "telling";
  }

  get complete(): boolean {
    return this.#state === "complete";
  }

  get failed(): boolean {
    return this.#state === "failed";
  }

  see(block: Buffer): Buffer {
    const whole = this.#splitter.push(block);
    if (!this.#splitter.atBoundary) {
      return Buffer.from(
        this.fail(new GatewayError("upstream_invalid_answer", "The upstream sent too large an event.")),
      );
    }
    return whole.length === 0 ? NOTHING : this.#translate(whole.toString("utf8"));
  }

  /** The upstream has closed: the rest of the client's stream, which is an error event if the answer is incomplete. */
  close(): Buffer {
    const rest = this.#splitter.rest();
    const shown = rest.length === 0 ? NOTHING : this.#translate(`${rest.toString("utf8")}\n\n`, true);
    const wasTelling = !this.done;
    const last = Buffer.concat([shown, Buffer.from(this.#write(this.#reader.close()))]);
    if (!wasTelling || !this.failed) return last;
    this.#cut = true;
    this.#held = last;
    return last;
  }

  get cut(): boolean {
    return this.#cut;
  }

  heldBack(): Buffer {
    const held = this.#held;
    this.#held = NOTHING;
    return held;
  }

  /** The event that reports a gateway error to the client; nothing follows it. */
  fail(error: GatewayError): string {
    return this.#write([{ type: "error", failure: failureOf(error) }]);
  }

  /** `isRest`: the text may be half an event. */
  #translate(text: string, isRest = false): Buffer {
    let shown = "";
    for (const data of dataIn(text)) {
      const before = this.#usage;
      const events = this.#reader.read(data);
      shown += events.length === 0 && !isRest && this.#isBroken(data) ? this.fail(brokenEvent()) : this.#write(events);
      // The usage in an event counts what that event contains.
      if (this.#usage !== before) this.#outputBytesAtUsage = this.#outputBytes;
    }
    return shown === "" ? NOTHING : Buffer.from(shown);
  }

  /** Unreadable data that begins like an event was part of the answer; anything else may be a proxy's ping. */
  #isBroken(data: string): boolean {
    return !this.done && data.startsWith("{") && parseObject(data) === undefined;
  }

  #write(events: readonly AnswerEvent[]): string {
    let shown = "";
    for (const event of events) {
      if (this.#state !== "telling") return shown;
      if (event.type === "block-start")
        this.#isWritten = event.block.kind !== "tool-call" || event.block.byProgram !== true;
      else if (event.type === "delta") this.#outputBytes += this.#isWritten ? Buffer.byteLength(event.text) : 0;
      else if (event.type === "end") {
        shown += this.#writer.write({
          type: "usage",
          usage: this.#charged(this.#usage, this.#outputBytes),
          serviceTier: undefined,
        });
        this.#state = "complete";
      } else if (event.type === "error") this.#state = "failed";
      shown += this.#writer.write(event);
    }
    return shown;
  }
}

function brokenEvent(): GatewayError {
  return new GatewayError("upstream_invalid_answer", "The upstream sent an event that is not valid JSON.");
}

/** A whole answer as the stream requested by its client. */
export function streamOfAnswer(answer: Answer, client: DialectTranslation, context: ClientContext): string {
  const writer = client.streamWriter(context);
  let shown = "";
  for (const event of eventsOfAnswer(answer)) shown += writer.write(event);
  return shown;
}

/** The data of each event in a text of whole events; events without data are skipped. */
function dataIn(text: string): string[] {
  const found: string[] = [];
  let data: string | undefined;
  for (let start = 0; start < text.length;) {
    const feed = text.indexOf("\n", start);
    const next = feed === -1 ? text.length : feed;
    const end = text.charCodeAt(next - 1) === 0x0d && next > start ? next - 1 : next;
    if (end === start) {
      if (data !== undefined) found.push(data);
      data = undefined;
    } else if (text.startsWith("data:", start)) {
      const line = text.slice(text.charCodeAt(start + 5) === 0x20 ? start + 6 : start + 5, end);
      data = data === undefined ? line : `${data}\n${line}`;
    }
    start = next + 1;
  }
  if (data !== undefined) found.push(data);
  return found;
}
