/** The kept events of a response as a stream, of which more are looked for until its end: on any node, for any number of clients. */
import { GatewayError, limits, parseObject } from "../../core/index.ts";
import { responsesCodec } from "../../dialects/index.ts";
import type { Ticker } from "../../streaming/index.ts";
import type { BackgroundKey, BackgroundStore, EventBatch } from "./store.ts";

/** The pause before the storage is asked for more events. */
const AGAIN_MS = 200;

const DONE = "data: [DONE]\n\n";

interface EventStreamOptions {
  background: BackgroundStore;
  ticker: Ticker;
  /** The id of the request, for an error. */
  requestId: string;
  /** The number of the event before the first one. */
  after: number;
  onEnd: () => void;
}

export class EventStream {
  readonly #key: BackgroundKey;
  readonly #options: EventStreamOptions;
  #after: number;
  #isClosed = false;
  #error: GatewayError | undefined;
  #sentAt: number;

  constructor(key: BackgroundKey, options: EventStreamOptions) {
    this.#key = key;
    this.#options = options;
    this.#after = options.after;
    this.#sentAt = options.ticker.now();
  }

  /** The stream for the client. */
  get body(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const text = await this.#next();
          if (text !== undefined && !this.#isClosed) controller.enqueue(Buffer.from(text));
          if (this.#isClosed) return;
          if (text === undefined || text.endsWith(DONE)) {
            this.#close();
            controller.close();
          }
        },
        cancel: () => this.#close(),
      },
      { highWaterMark: 0 },
    );
  }

  /** Ends the stream with an error. */
  fail(error: GatewayError): void {
    this.#error = error;
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.onEnd();
  }

  /** The next bytes; undefined at the end. */
  async #next(): Promise<string | undefined> {
    const { background, ticker, requestId } = this.#options;
    while (!this.#isClosed) {
      if (this.#error !== undefined) return responsesCodec.errorEvent(this.#error, requestId) + DONE;
      const state = await background.stateOf(this.#key);
      const batches = await background.eventsAfter(this.#key, this.#after);
      if (batches.length > 0) return this.#read(batches);
      if (state === "ended" || state === undefined) return DONE;
      await ticker.pause(AGAIN_MS);
      if (ticker.now() - this.#sentAt >= limits.keepAliveMs) return this.#sent(": keep-alive\n\n");
    }
    return undefined;
  }

  #read(batches: readonly EventBatch[]): string {
    let text = "";
    for (const line of batches.flatMap(({ events }) => events.split("\n"))) {
      const { type, sequence_number: number } = parseObject(line) ?? {};
      if (typeof number !== "number" || number <= this.#after) continue;
      this.#after = number;
      text += `event: ${String(type)}\ndata: ${line}\n\n`;
    }
    return this.#sent(text);
  }

  #sent(text: string): string {
    this.#sentAt = this.#options.ticker.now();
    return text;
  }
}
