/**
 * The messages of a crawl's WebSocket, in Firecrawl's format: what there is (`catchup`), then each document, then `done`. An
 * end other than `completed` is in a status before it, since `done` has none.
 */
import type { AcceptedSocket, JsonObject, Socket, SocketHandler } from "../../core/index.ts";
import type { Ticker } from "../../streaming/index.ts";

const POLL_MS = 500;

export interface WatchOptions {
  /** The state of the crawl without its results. */
  summary: () => Promise<JsonObject>;
  /** Results from a position on, as JSON texts. */
  documents: (from: number) => Promise<string[]>;
  ticker: Pick<Ticker, "after">;
}

/** Accepts the WebSocket. Rejects with 404 if the caller has no such crawl. */
export async function watchCrawl(options: WatchOptions): Promise<AcceptedSocket> {
  return { socket: new Watch(options, await options.summary()) };
}

class Watch implements SocketHandler {
  readonly #options: WatchOptions;
  #summary: JsonObject;
  #socket: Socket | undefined;
  #sent = 0;
  #isWaiting = false;
  #cancel: (() => void) | undefined;

  constructor(options: WatchOptions, summary: JsonObject) {
    this.#options = options;
    this.#summary = summary;
  }

  async open(socket: Socket): Promise<void> {
    this.#socket = socket;
    this.#send("catchup", { ...this.#summary, status: "scraping", data: [] });
    await this.#advance();
  }

  /** Nothing is expected from the client. */
  message(): void {}

  async drain(): Promise<void> {
    this.#isWaiting = false;
    await this.#advance();
  }

  close(): void {
    this.#socket = undefined;
    this.#cancel?.();
  }

  async #advance(): Promise<void> {
    const { summary, documents: documentsFrom, ticker } = this.#options;
    // The state first: what is complete by then is among the documents.
    this.#summary = await summary();
    for (;;) {
      const documents = await documentsFrom(this.#sent);
      for (const document of documents) this.#sendText(`{"type":"document","data":${document}}`);
      this.#sent += documents.length;
      if (this.#socket === undefined || this.#isWaiting) return;
      if (documents.length === 0) break;
    }
    const { status } = this.#summary;
    if (status === "scraping") {
      this.#cancel = ticker.after(POLL_MS, () => void this.#advance().catch(() => this.#socket?.close(1011)));
      return;
    }
    if (status !== "completed") this.#send("status", { ...this.#summary, data: [] });
    this.#send("done", { ...this.#summary, data: [] });
    this.#socket.close(1000);
  }

  #send(type: string, data: JsonObject): void {
    this.#sendText(JSON.stringify({ type, data }));
  }

  #sendText(text: string): void {
    if (this.#socket?.send(text) === "waiting") this.#isWaiting = true;
  }
}
