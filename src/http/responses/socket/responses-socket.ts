/**
 * Responses over a WebSocket: each `response.create` is a call of its own through the pipeline, and the events of its
 * stream are the messages. The turns of one stream follow each other; those of different ones run side by side.
 */
import type { Principal, SocketCaller } from "../../../auth/index.ts";
import type { CallPipeline, IncomingCall } from "../../../calls/index.ts";
import type { PaidAnswer } from "../../../charges/index.ts";
import {
  type Clock,
  GatewayError,
  type JsonObject,
  limits,
  objectOf,
  parseObject,
  requestId,
  type Socket,
  type SocketHandler,
  toGatewayError,
  withoutPrefix,
} from "../../../core/index.ts";
import { dataOf, EventSplitter, eventsOf } from "../../../streaming/index.ts";
import type { Logger } from "../../../telemetry/index.ts";
import type { ContinuedTurn, SocketAsker } from "../../../upstream/index.ts";
import { ConnectionHistory } from "./history.ts";
import {
  answerMessage,
  bytesOf,
  errorMessage,
  eventMessage,
  readTurn,
  refusalMessage,
  streamIdOf,
  type TurnRequest,
} from "./messages.ts";

export interface ResponsesSocketOptions {
  /** Runs one call of the route. */
  run: (incoming: IncomingCall) => ReturnType<CallPipeline["run"]>;
  /** Finds the operation of a model; throws a `GatewayError` if it has none. */
  check: (modelId: string) => void;
  /** Asks upstreams that have such a WebSocket over one of this connection's own. */
  asker: SocketAsker;
  /** The id of the handshake, the parent of all turns. */
  id: string;
  caller: SocketCaller;
  /** Of the handshake. */
  headers: Headers;
  clock: Clock;
  logger: Logger;
  /** The longest connection, in milliseconds. */
  connectionMsMax: number;
  onEnd: () => void;
}

/** The end of a connection, once no turn runs any more. */
interface Ending {
  /** Sent before. */
  message?: string;
  code: number;
  reason: string;
}

/** Turns that wait or run on one connection. */
const TURNS_MAX = 32;

/** Messages in a row that are no turn, after which a client is not listened to any longer. */
const INVALID_MAX = 10;

/** Headers of the handshake that do not belong to its turns. */
const ownHeaders = new Set(["connection", "upgrade", "openai-beta", "idempotency-key", "content-length"]);

const randomBytes = (size: number): Uint8Array => crypto.getRandomValues(new Uint8Array(size));

/** Events after which a response has ended. */
const lastEvents: ReadonlySet<unknown> = new Set(["response.completed", "response.incomplete", "response.failed"]);

export class ResponsesSocket implements SocketHandler {
  readonly #options: ResponsesSocketOptions;
  readonly #headers: Headers;
  readonly #history = new ConnectionHistory();
  /** The last turn of each stream, by its id. */
  readonly #streams = new Map<string, Promise<void>>();
  readonly #gone = new AbortController();
  #socket: Socket | undefined;
  #turns = 0;
  /** Messages in a row that were no turn. */
  #invalid = 0;
  #onDrain: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ending: Ending | undefined;

  constructor(options: ResponsesSocketOptions) {
    this.#options = options;
    this.#headers = new Headers(options.headers);
    options.headers.forEach((_, name) => {
      if (name.startsWith("sec-websocket-") || ownHeaders.has(name)) this.#headers.delete(name);
    });
    this.#headers.set("content-type", "application/json");
  }

  open(socket: Socket): void {
    this.#socket = socket;
    this.#timer = setTimeout(() => {
      const code = "websocket_connection_limit_reached";
      const message = "The connection has reached its maximum length. Open another one to continue.";
      const error = { type: "invalid_request_error", code, message, param: null };
      this.#endOnceIdle({ message: errorMessage(400, error, undefined), code: 1000, reason: code });
    }, this.#options.connectionMsMax);
    this.#timer.unref();
  }

  message(message: string | Uint8Array): void {
    const text = typeof message === "string" ? message : Buffer.from(message).toString("utf8");
    if (this.#ending !== undefined) return;
    if (this.#turns >= TURNS_MAX) {
      const error = new GatewayError("rate_limit_exceeded", `At most ${TURNS_MAX} responses may wait on a connection.`);
      void this.#send(refusalMessage(error, this.#options.id, streamIdOf(text)));
      return;
    }
    this.#turns += 1;
    const stream = streamIdOf(text) ?? "";
    const before = this.#streams.get(stream);
    const turn = this.#take(text, before).finally(() => {
      this.#turns -= 1;
      if (this.#streams.get(stream) === turn) this.#streams.delete(stream);
      this.#endIfIdle();
    });
    this.#streams.set(stream, turn);
  }

  /** One turn, after the one before it. Never rejects. */
  async #take(text: string, before: Promise<void> | undefined): Promise<void> {
    await before;
    if (this.#gone.signal.aborted) return;
    const { caller, clock, logger } = this.#options;
    const id = requestId(clock, randomBytes);
    const streamId = streamIdOf(text);
    try {
      const principal = await caller.recheck();
      const turn = this.#read(text);
      if (turn.generates) await this.#generate(turn, { id, principal });
      else await this.#prepare(turn, id);
    } catch (thrown) {
      if (this.#gone.signal.aborted) return;
      const error = toGatewayError(thrown);
      const line = { request_id: id, parent_id: this.#options.id, status: error.status, error: error.code };
      if (error.fault === "gateway" && error.cause !== undefined) logger.error({ ...line, err: error.cause }, "failed");
      else logger.info(line, "refused");
      await this.#send(refusalMessage(error, id, streamId));
      // The token is gone: no later turn could succeed.
      if (error.status === 401 || this.#invalid >= INVALID_MAX) this.#endOnceIdle({ code: 1008, reason: error.code });
    }
  }

  #read(text: string): TurnRequest {
    this.#invalid += 1;
    const turn = readTurn(text);
    this.#invalid = 0;
    return turn;
  }

  async #generate(turn: TurnRequest, { id, principal }: { id: string; principal: Principal }): Promise<void> {
    const { run, id: parent } = this.#options;
    const expanded = this.#history.expand(turn.body);
    const { signal } = this.#gone;
    const answer = await run({
      requestId: id,
      parent,
      principal,
      headers: this.#headers,
      body: bytesOf(turn, expanded),
      client: { signal },
      ask: this.#options.asker.askFor(continuedBy(turn, expanded)),
    });
    const { body, status } = answer;
    if (!(body instanceof ReadableStream) || status !== 200) {
      await this.#send(answerMessage(status, parseObject(await textOf(body)), turn.streamId));
      return;
    }
    await this.#relay(body, turn, (response) => {
      if (turn.isUnstored) this.#history.add(response.id, expanded, response.output);
    });
  }

  /** Passes the events of a stream on as fast as the client reads them. */
  async #relay(body: ReadableStream<Uint8Array>, { streamId }: TurnRequest, onEnd: OnEnd): Promise<void> {
    const splitter = new EventSplitter(limits.wholeEventBytesMax, { changesCr: true });
    const reader = body.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        const block = done ? splitter.rest() : splitter.push(value);
        for (const event of eventsOf(block)) await this.#sendEvent(dataOf(event), streamId, onEnd);
        if (done) return;
        if (this.#gone.signal.aborted) return;
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  }

  async #sendEvent(data: string | undefined, streamId: TurnRequest["streamId"], onEnd: OnEnd): Promise<void> {
    if (data === undefined || data === "[DONE]") return;
    // The names of the last events are rare words: other events are not parsed.
    if (/"response\.(completed|incomplete|failed)"/.test(data)) noteEnd(data, onEnd);
    await this.#send(eventMessage(data, streamId));
  }

  /** A turn that asks for no output: its input is remembered, and nothing is sent upstream or charged. */
  async #prepare(turn: TurnRequest, callId: string): Promise<void> {
    const { clock, check } = this.#options;
    const { model } = turn.parsed.body;
    if (model === undefined) throw new GatewayError("validation_failed", "model: Required", { param: "model" });
    check(model);
    const expanded = this.#history.expand(turn.body);
    const id = `resp_${callId.slice("req_".length)}`;
    this.#history.add(id, expanded, []);
    const response = {
      id,
      object: "response",
      created_at: Math.floor(clock() / 1_000),
      model: withoutPrefix(model),
      output: [],
      error: null,
      incomplete_details: null,
      instructions: turn.body["instructions"] ?? null,
      metadata: turn.body["metadata"] ?? {},
      parallel_tool_calls: turn.body["parallel_tool_calls"] ?? true,
      previous_response_id: turn.body["previous_response_id"] ?? null,
      temperature: turn.body["temperature"] ?? null,
      tool_choice: turn.body["tool_choice"] ?? "auto",
      tools: turn.body["tools"] ?? [],
      top_p: turn.body["top_p"] ?? null,
      store: turn.body["store"] ?? true,
    };
    const usage = {
      input_tokens: 0,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 0,
    };
    const created = { type: "response.created", sequence_number: 0, response: { ...response, status: "in_progress" } };
    const completed = {
      type: "response.completed",
      sequence_number: 1,
      response: { ...response, status: "completed", usage },
    };
    for (const event of [created, completed]) await this.#send(eventMessage(JSON.stringify(event), turn.streamId));
  }

  /** Resolves once the client has read enough to be sent more. */
  async #send(message: string): Promise<void> {
    if (this.#socket?.send(message) !== "waiting") return;
    await new Promise<void>((resolve) => void this.#onDrain.push(resolve));
  }

  drain(): void {
    const waiting = this.#onDrain;
    this.#onDrain = [];
    for (const resume of waiting) resume();
  }

  #endOnceIdle(ending: Ending): void {
    this.#ending ??= ending;
    this.#endIfIdle();
  }

  #endIfIdle(): void {
    if (this.#ending === undefined || this.#turns > 0) return;
    const { message, code, reason } = this.#ending;
    if (message !== undefined) this.#socket?.send(message);
    this.#socket?.close(code, reason);
  }

  retire(): void {
    this.#endOnceIdle({ code: 1012, reason: "The server is going down." });
  }

  /** The turns that run are streams of the same token, which end too: each with its own error. */
  revoke(error: GatewayError): void {
    const message = this.#turns === 0 ? refusalMessage(error, this.#options.id, undefined) : undefined;
    this.#endOnceIdle({ ...(message === undefined ? {} : { message }), code: 1008, reason: error.code });
  }

  shutdown(): void {
    this.#gone.abort();
    this.#socket?.close(1012, "The server is going down.");
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#gone.abort();
    this.drain();
    await Promise.all(this.#streams.values());
    this.#options.asker.close();
    this.#options.onEnd();
  }
}

/** The items that an upstream which remembers the connection has already. */
function continuedBy({ body }: TurnRequest, expanded: JsonObject): ContinuedTurn | undefined {
  const { previous_response_id: previousId, input } = body;
  return expanded === body || typeof previousId !== "string" ? undefined : { previousId, input };
}

type OnEnd = (response: { id: string; output: unknown }) => void;

function noteEnd(data: string, onEnd: OnEnd): void {
  const event = parseObject(data);
  if (!lastEvents.has(event?.["type"])) return;
  const response = objectOf(event?.["response"]);
  const id = response?.["id"];
  if (typeof id === "string") onEnd({ id, output: response?.["output"] });
}

async function textOf(body: PaidAnswer["body"]): Promise<string> {
  if (typeof body === "string") return body;
  return new Response(body).text();
}
