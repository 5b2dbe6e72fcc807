/**
 * Requests of the Responses API over a WebSocket to the upstream, in place of HTTP (`docs/wire/openai.md`, "Responses
 * over a WebSocket"). A turn that continues the last one sends its own input only: the upstream has kept the rest. The
 * answer is the stream of events that HTTP would have, so nothing else has to know.
 */
import {
  type AbortListener,
  type AskUpstream,
  type BodySink,
  type JsonObject,
  objectOf,
  type OpenUpstreamSocket,
  parseObject,
  type ReplyBody,
  type SocketSink,
  type UpstreamReply,
  type UpstreamRequest,
  type UpstreamSocket,
} from "../core/index.ts";
import { EVENT_STREAM } from "../streaming/index.ts";

/** What a turn continues, and what it says itself. */
export interface ContinuedTurn {
  previousId: string;
  input: unknown;
}

interface SocketAskerOptions {
  openSocket: OpenUpstreamSocket;
  /** For upstreams without the WebSocket, and while it is busy. */
  ask: AskUpstream;
  openMsMax: number;
}

/** Headers of the handshake are those of the requests, without the ones about a body. */
const bodyHeaders = new Set(["content-type", "content-length", "accept", "accept-encoding"]);

const lastEvents: ReadonlySet<unknown> = new Set([
  "response.completed",
  "response.incomplete",
  "response.failed",
  "error",
]);

/** The connections of one client's connection: one for each upstream and key. */
export class SocketAsker {
  readonly #options: SocketAskerOptions;
  readonly #connections = new Map<string, TurnConnection>();
  /** Upstreams that have refused the handshake. */
  readonly #refused = new Set<string>();

  constructor(options: SocketAskerOptions) {
    this.#options = options;
  }

  /** Sends one turn. Its request must be a streamed one of the Responses API, and have a body in memory. */
  askFor(continued: ContinuedTurn | undefined): AskUpstream {
    return async (request) => {
      const { ask } = this.#options;
      const key = `${request.headers.get("authorization") ?? ""} ${request.url}`;
      if (this.#refused.has(key)) return ask(request);
      let connection = this.#connections.get(key);
      if (connection?.isBusy === true) return ask(request);
      if (connection?.isOpen !== true) {
        try {
          connection = await this.#open(request);
        } catch {
          // Nothing has been asked for yet. An upstream without the WebSocket is not asked for it again.
          this.#refused.add(key);
          return ask(request);
        }
        this.#connections.set(key, connection);
      }
      // A connection that has become too old takes no more turns.
      return (await connection.send(request, continued)) ?? ask(request);
    };
  }

  async #open({ url, headers }: UpstreamRequest): Promise<TurnConnection> {
    const { openSocket, openMsMax } = this.#options;
    const sent: Record<string, string> = {};
    headers.forEach((value, name) => {
      if (!bodyHeaders.has(name)) sent[name] = value;
    });
    return new TurnConnection(await openSocket({ url: url.replace(/^http/, "ws"), headers: sent, openMsMax }));
  }

  close(): void {
    for (const connection of this.#connections.values()) connection.close();
    this.#connections.clear();
  }
}

/** A connection to the upstream, with at most one turn at a time. */
class TurnConnection implements SocketSink {
  readonly #socket: UpstreamSocket;
  #isOpen = true;
  #turn: Turn | undefined;
  /** The response that the upstream remembers: the last one. */
  #lastId: string | undefined;

  constructor(socket: UpstreamSocket) {
    this.#socket = socket;
    socket.flowTo(this);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isBusy(): boolean {
    return this.#turn !== undefined;
  }

  /** Resolves to undefined if the upstream takes no more turns on this connection. */
  async send(request: UpstreamRequest, continued: ContinuedTurn | undefined): Promise<UpstreamReply | undefined> {
    const whole = messageOf(request.body);
    const isShort = continued !== undefined && continued.previousId === this.#lastId;
    const message = isShort ? { ...whole, input: continued.input, previous_response_id: continued.previousId } : whole;
    const { reply, refusal } = await this.#ask(request, message);
    if (refusal === "websocket_connection_limit_reached") {
      this.#isOpen = false;
      this.#socket.close(1000);
      return undefined;
    }
    // The upstream has forgotten the last response: everything is said again.
    return refusal === "previous_response_not_found" && isShort ? (await this.#ask(request, whole)).reply : reply;
  }

  async #ask(request: UpstreamRequest, message: JsonObject): Promise<{ reply: UpstreamReply; refusal: unknown }> {
    const turn = new Turn(this.#socket, request.signal, (id) => {
      this.#turn = undefined;
      this.#lastId = id;
    });
    this.#turn = turn;
    this.#socket.send(JSON.stringify(message));
    request.onSent?.(true);
    const first = await turn.first;
    const error = first["type"] === "error" ? objectOf(first["error"]) : undefined;
    const { status } = first;
    if (error === undefined || typeof status !== "number") return { reply: turn.reply(), refusal: undefined };
    return { reply: turn.refusal(status, error), refusal: error["code"] };
  }

  onMessage(message: string | Uint8Array): void {
    if (typeof message === "string") this.#turn?.receive(message);
  }

  onPong(): void {
    // The turn's own time-outs watch over it.
  }

  onClose(): void {
    this.#isOpen = false;
    this.#turn?.fail(new Error("The upstream closed the connection before the end of its response."));
    this.#turn = undefined;
  }

  close(): void {
    if (this.#isOpen) this.#socket.close(1000);
  }
}

/** The events of one turn as the body of a reply. */
class Turn implements ReplyBody, AbortListener {
  readonly #socket: UpstreamSocket;
  readonly #signal: UpstreamRequest["signal"];
  readonly #onEnd: (id: string | undefined) => void;
  readonly #first = Promise.withResolvers<JsonObject>();
  #hasBegun = false;
  #isOver = false;
  #sink: BodySink | undefined;
  #early: Buffer[] = [];
  #failure: { cause: unknown } | undefined;

  constructor(socket: UpstreamSocket, signal: UpstreamRequest["signal"], onEnd: (id: string | undefined) => void) {
    this.#socket = socket;
    this.#signal = signal;
    this.#onEnd = onEnd;
    signal.addEventListener("abort", this);
  }

  get first(): Promise<JsonObject> {
    return this.#first.promise;
  }

  receive(text: string): void {
    if (this.#isOver) return;
    const isFirst = !this.#hasBegun;
    // Only the first and the last events are parsed.
    const event =
      isFirst || /"(?:response\.(?:completed|incomplete|failed)|error)"/.test(text) ? parseObject(text) : undefined;
    const type = event?.["type"] ?? typeIn(text);
    this.#push(Buffer.from(`event: ${typeof type === "string" ? type : "message"}\ndata: ${text}\n\n`));
    if (event !== undefined && lastEvents.has(event["type"])) {
      const id = objectOf(event["response"])?.["id"];
      this.#end(typeof id === "string" ? id : undefined);
    }
    if (!isFirst) return;
    this.#hasBegun = true;
    this.#first.resolve(event ?? {});
  }

  #push(bytes: Buffer): void {
    if (this.#sink === undefined) this.#early.push(bytes);
    else this.#sink.onBytes(bytes);
  }

  #end(id: string | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal.removeEventListener("abort", this);
    this.#onEnd(id);
    this.#sink?.onEnd();
  }

  /** The connection broke off, or the turn was aborted. */
  fail(cause: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal.removeEventListener("abort", this);
    this.#failure = { cause };
    this.#first.reject(cause);
    this.#sink?.onFailure(cause);
  }

  handleEvent(): void {
    this.fail(this.#signal.reason);
    // The protocol has no cancellation.
    this.#socket.terminate();
  }

  reply(): UpstreamReply {
    return { status: 200, headers: headersWith(EVENT_STREAM), body: this };
  }

  refusal(status: number, error: JsonObject): UpstreamReply {
    this.#early = [Buffer.from(JSON.stringify({ error }))];
    return { status, headers: headersWith("application/json"), body: this };
  }

  flowTo(sink: BodySink): void {
    this.#sink = sink;
    for (const bytes of this.#early.splice(0)) sink.onBytes(bytes);
    if (this.#failure !== undefined) sink.onFailure(this.#failure.cause);
    else if (this.#isOver) sink.onEnd();
  }

  pause(): void {
    if (!this.#isOver) this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  cancel(): void {
    this.#sink = undefined;
    this.#early = [];
    this.#socket.resume();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal.removeEventListener("abort", this);
    this.#socket.terminate();
  }
}

/** The message for a request's body: without `stream`, which a WebSocket always does. */
function messageOf(body: UpstreamRequest["body"]): JsonObject {
  const parsed = parseObject(textOf(body)) ?? {};
  const { stream: _stream, ...rest } = parsed;
  return { type: "response.create", ...rest };
}

function textOf(body: UpstreamRequest["body"]): string {
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString("utf8");
  if (Array.isArray(body)) return Buffer.concat(body as readonly Uint8Array[]).toString("utf8");
  throw new TypeError("a turn needs a body in memory");
}

/** The type of an event, which it usually begins with. */
function typeIn(text: string): string | undefined {
  return /^\{"type":"([\w.]+)"/.exec(text)?.[1];
}

function headersWith(contentType: string): UpstreamReply["headers"] {
  return { get: (name) => (name === "content-type" ? contentType : null) };
}
