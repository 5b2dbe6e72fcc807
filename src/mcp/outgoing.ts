/**
 * The answer to one POST. It is JSON if the result is there soon. A call that takes longer, or reports progress, is
 * answered with events, so that neither a client nor a proxy takes it for dead; its last event is the response.
 */
import { limits, toGatewayError } from "../core/index.ts";
import { EVENT_HEADERS, type Ticker, type Watched } from "../streaming/index.ts";
import { errorText, RpcError, type RpcId } from "./json-rpc.ts";

/** Silence after which an answer becomes a stream, in milliseconds. */
const STREAM_AFTER_MS = 5_000;

/** Updates that wait for a client that does not read them, at most; further ones are dropped. */
const QUEUED_MAX = 100;

/** The text of a response, and the headers that it may have if it is not a stream. */
export interface FinishedAnswer {
  text: string;
  status?: number;
  headers?: Readonly<Record<string, string>>;
}

const encoder = new TextEncoder();

export class Outgoing implements Watched {
  slot = -1;
  readonly #ticker: Ticker;
  readonly #id: RpcId;
  readonly #onClose: () => void;
  /** Events before the stream begins. */
  readonly #queued: string[] = [];
  readonly #hasEvents = Promise.withResolvers<void>();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #sentAt = 0;

  /** `onClose` is called when the client closes a stream before its end. */
  constructor(ticker: Ticker, id: RpcId, onClose: () => void) {
    this.#ticker = ticker;
    this.#id = id;
    this.#onClose = onClose;
  }

  /** Sends a message before the response, which must be one that the client can do without. */
  notify(message: string): void {
    if (this.#controller !== undefined) {
      if ((this.#controller.desiredSize ?? 0) > -QUEUED_MAX) this.#send(`event: message\ndata: ${message}\n\n`);
      return;
    }
    if (this.#queued.length < QUEUED_MAX) this.#queued.push(message);
    this.#hasEvents.resolve();
  }

  /** Sends a message before the response that the client must get. */
  ask(message: string): void {
    if (this.#controller !== undefined) return this.#send(`event: message\ndata: ${message}\n\n`);
    this.#queued.push(message);
    this.#hasEvents.resolve();
  }

  /** The answer, once it is known whether it is a stream; a cancelled call has none. Rejects as `work` does, unless it is a stream. */
  async answer(work: Promise<FinishedAnswer | undefined>, takesEvents: boolean): Promise<Response> {
    if (!takesEvents) return whole(await work);
    const stopWaiting = this.#ticker.after(STREAM_AFTER_MS, () => this.#hasEvents.resolve());
    const settled = await Promise.race([work.then((finished) => ({ finished })), this.#hasEvents.promise]);
    stopWaiting();
    return settled === undefined ? this.stream(work) : whole(settled.finished);
  }

  /** A stream from now on. Without any bytes at its beginning, the client would not learn that it is one. */
  stream(work: Promise<FinishedAnswer | undefined>, beginning?: string): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
        this.#ticker.watch(this);
        this.#sentAt = this.#ticker.now();
        if (beginning !== undefined) this.#send(beginning);
        for (const message of this.#queued) this.#send(`event: message\ndata: ${message}\n\n`);
        void work.catch((thrown: unknown) => this.#failed(thrown)).then((finished) => this.#end(finished));
      },
      cancel: () => {
        this.#controller = undefined;
        this.#ticker.leave(this);
        this.#onClose();
      },
    });
    return new Response(body, { headers: EVENT_HEADERS });
  }

  onTick(now: number): void {
    if (now - this.#sentAt >= limits.keepAliveMs) this.#send(": keep-alive\n\n");
  }

  #failed(thrown: unknown): FinishedAnswer {
    const { status, message } = toGatewayError(thrown);
    return { text: errorText(this.#id, new RpcError(status, message)) };
  }

  #send(event: string): void {
    this.#sentAt = this.#ticker.now();
    this.#controller?.enqueue(encoder.encode(event));
  }

  #end(finished: FinishedAnswer | undefined): void {
    if (this.#controller === undefined) return;
    if (finished !== undefined) this.#send(`event: message\ndata: ${finished.text}\n\n`);
    this.#ticker.leave(this);
    this.#controller.close();
    this.#controller = undefined;
  }
}

/** An answer that is no stream. */
export function whole(finished: (Omit<FinishedAnswer, "text"> & { text: string | Blob }) | undefined): Response {
  // The client has cancelled the call, and expects nothing.
  if (finished === undefined) return new Response(null, { status: 202 });
  const { text, status = 200, headers } = finished;
  return new Response(text, { status, headers: { ...headers, "content-type": "application/json" } });
}
