import {
  type AbortListener,
  type BodySink,
  type CallSignal,
  limits,
  type ReplyBody,
  type ReplyHeaders,
  type UpstreamReply,
  type UpstreamRequest,
} from "../core/index.ts";
import type { Connection, ConnectionUser } from "./connection.ts";
import { decodedReply } from "./decode.ts";
import type { ReplyHead } from "./reply-head.ts";
import { headOpening, type RequestTarget } from "./request-head.ts";
import { bytesOf, type OutgoingRequest, piecesOf, type WholeBody } from "./request-writer.ts";

const noHeaders: ReplyHeaders = { get: () => null };

/** A request whose body is in memory. */
export interface WholeRequest extends UpstreamRequest {
  body?: WholeBody | undefined;
}

/** Opens a new connection for an exchange. */
export type Dial = (exchange: HttpExchange) => Connection;

/**
 * One request and its reply. It is the reply, its body and the signal's listener at once, so each call allocates one
 * object.
 *
 *   asked → replying → replied → over
 *
 * `replied`: the reply has arrived or broken off, but there is no sink yet to notify.
 */
export class HttpExchange implements UpstreamReply, ReplyBody, ConnectionUser, AbortListener {
  status = 0;
  headers: ReplyHeaders = noHeaders;
  readonly body: ReplyBody = this;
  readonly target: RequestTarget;
  readonly #signal: CallSignal;
  /** Kept until the reply begins, which may take long. */
  #request: WholeRequest | undefined;
  readonly #opening: string;
  readonly #dial: Dial;
  readonly #promised = Promise.withResolvers<UpstreamReply>();
  #state: "asked" | "replying" | "replied" | "over" = "asked";
  #connection: Connection | null = null;
  #sink: BodySink | null = null;
  /** Data that arrived before the sink. */
  #unread: Buffer[] | null = null;
  #unreadBytes = 0;
  /** The reason why the reply broke off. */
  #failure: { cause: unknown } | null = null;
  /** The sink cannot accept more. */
  #isHeldUp = false;

  /** Throws a TypeError if the headers are invalid. */
  constructor(request: WholeRequest, target: RequestTarget, dial: Dial) {
    this.target = target;
    this.#signal = request.signal;
    this.#request = request;
    this.#opening = headOpening(request, target);
    this.#dial = dial;
  }

  /** Sends the request, on an idle connection if there is one. */
  start(kept: Connection | undefined): Promise<UpstreamReply> {
    this.#signal.addEventListener("abort", this);
    if (kept === undefined) {
      this.#connection = this.#dial(this);
    } else {
      this.#connection = kept;
      kept.reuse(this);
    }
    return this.#promised.promise;
  }

  get isRepeatable(): boolean {
    return this.#request?.method === "GET";
  }

  retryOnNewConnection(): void {
    this.#request?.onSent?.(false);
    this.#connection = this.#dial(this);
  }

  /** The time-out for a new connection, in milliseconds. */
  get connectMsMax(): number | undefined {
    return this.#request?.connectMsMax;
  }

  /** The address to connect to, if it is not the host's. */
  get address(): string | undefined {
    return this.#request?.address;
  }

  outgoing(): OutgoingRequest {
    this.#request?.onSent?.(true);
    const pieces = piecesOf(this.#request?.body);
    const bodyBytes = bytesOf(pieces);
    const hasNoLength = this.#request?.body === undefined && this.#request?.method !== "POST";
    const ending = hasNoLength ? "\r\n" : `content-length: ${bodyBytes}\r\n\r\n`;
    return { opening: this.#opening, ending, pieces, bodyBytes };
  }

  begin(head: ReplyHead): void {
    this.#state = "replying";
    this.#request = undefined;
    this.status = head.status;
    this.headers = head;
    const { contentEncoding } = head;
    this.#promised.resolve(contentEncoding === undefined ? this : decodedReply(this, contentEncoding, this.#signal));
  }

  receive(bytes: Buffer): void {
    if (this.#sink !== null) {
      this.#deliver(this.#sink, bytes);
      return;
    }
    this.#unread ??= [];
    this.#unread.push(bytes);
    this.#unreadBytes += bytes.length;
    if (this.#unreadBytes > limits.unreadReplyBytesMax) this.#connection?.pause();
  }

  end(lastBytes: Buffer | undefined): void {
    this.#detach();
    if (lastBytes !== undefined) this.receive(lastBytes);
    if (this.#state === "replying") this.#conclude();
  }

  fail(cause: unknown): void {
    this.#detach();
    if (this.#state === "asked") {
      this.#state = "over";
      this.#promised.reject(cause);
    } else if (this.#state === "replying") {
      this.#failure = { cause };
      this.#conclude();
    }
  }

  /** The request's signal was aborted. */
  handleEvent(): void {
    this.#connection?.destroy();
    this.fail(this.#signal.reason);
  }

  flowTo(sink: BodySink): void {
    this.#sink = sink;
    const unread = this.#unread;
    this.#unread = null;
    if (unread !== null) for (const bytes of unread) this.#deliver(sink, bytes);
    if (this.#state === "replied") this.#conclude();
    else if (!this.#isHeldUp) this.#connection?.resume();
  }

  pause(): void {
    this.#isHeldUp = true;
    this.#connection?.pause();
  }

  resume(): void {
    this.#isHeldUp = false;
    this.#connection?.resume();
  }

  cancel(): void {
    this.#connection?.destroy();
    this.#detach();
    this.#state = "over";
    this.#unread = null;
  }

  #deliver(sink: BodySink, bytes: Buffer): void {
    if (this.#state === "over") return;
    try {
      sink.onBytes(bytes);
    } catch (cause) {
      this.#connection?.destroy();
      this.#detach();
      // Also if everything has arrived: the reader has not received it.
      this.#failure = { cause };
      this.#conclude();
    }
  }

  /** No more data will arrive. */
  #conclude(): void {
    const sink = this.#sink;
    if (sink === null) {
      this.#state = "replied";
      return;
    }
    this.#state = "over";
    if (this.#failure === null) sink.onEnd();
    else sink.onFailure(this.#failure.cause);
  }

  /** The connection serves another request or is closed, and the signal no longer affects this exchange. */
  #detach(): void {
    this.#connection = null;
    this.#signal.removeEventListener("abort", this);
  }
}
