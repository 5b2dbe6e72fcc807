/** The messages between the gateway and one server, over HTTP, in a session or in none. */
import {
  type AskUpstream,
  CallAborter,
  type CallSignal,
  type JsonObject,
  type UpstreamReply,
} from "../../core/index.ts";
import { capabilitiesKey, clientHeaders, type LogLevel, logLevelKey, STATELESS, versionKey } from "../../mcp/index.ts";
import { EVENT_STREAM, type Ticker } from "../../streaming/index.ts";
import { askServer, type TimeLimit, tooLate } from "./ask-server.ts";
import { isEventStream, readMessages, type MessageReading } from "./read-messages.ts";
import { readResumed } from "./resumed-answer.ts";
import type { Answered } from "./server-answer.ts";
import { ServerQuestions } from "./server-questions.ts";
import { type McpRequest, type ServerSession, type Session, stateless } from "./session.ts";

export const CONNECT_MS_MAX = 10_000;

/** Of one notification on a stream of changes. */
export const NOTIFICATION_BYTES_MAX = 256 * 1024;

/** For clients that have named no level, of servers that send nothing without one. */
const DEFAULT_LEVEL: LogLevel = "info";

export interface ServerWireOptions {
  /** For messages: the name of the server. */
  name: string;
  url: string;
  /** The operator's credentials. */
  headers: Readonly<Record<string, string>>;
  version: string;
  ask: AskUpstream;
  ticker: Ticker;
}

/** One message on its way: the signal that ends it, and the time that it has left. */
interface Sending {
  abort: CallAborter;
  limit: TimeLimit;
}

export class ServerWire {
  readonly #options: ServerWireOptions;
  #lastId = 0;

  constructor(options: ServerWireOptions) {
    this.#options = options;
  }

  /** The gateway as servers know it. */
  get info(): JsonObject {
    return { name: "tollgate", version: this.#options.version };
  }

  /** Rejects with a `GatewayError`, or the reason of the signal. */
  send(request: McpRequest, session: Session): Promise<Answered> {
    const { timeoutMs, signal } = request;
    const { name, ticker } = this.#options;
    return askServer({ name, ticker, timeoutMs, signal }, (abort, limit) =>
      session.isStateless
        ? this.#sendStateless(request, { abort, limit })
        : this.#sendIn(session, request, { abort, limit }),
    );
  }

  async #sendStateless(request: McpRequest, { abort }: Sending): Promise<Answered> {
    const { method, headers = {}, onSent } = request;
    const { id, message } = this.#messageOf(request, stateless);
    const extra = { ...clientHeaders({ method, params: message.params }), ...headers };
    const reply = await this.post(message, extra, { signal: abort, onSent });
    const { bytesMax, onNotification } = request;
    const answer = await readMessages(reply, { id, bytesMax, onNotification });
    return answeredWith(reply, answer);
  }

  /** The answer may come on several streams, the request is sent once. */
  async #sendIn(session: ServerSession, request: McpRequest, { abort, limit }: Sending): Promise<Answered> {
    const { id, message } = this.#messageOf(request, session);
    const { asked, bytesMax, onSent } = request;
    const questions = new ServerQuestions({
      ask: asked && ((question) => limit.without(() => asked.ask(question))),
      answer: (answer) => void this.tell(answer, session).catch(() => undefined),
      clock: () => this.#options.ticker.now(),
    });
    const leave = session.stream?.enter(questions);
    const reading: MessageReading = {
      id,
      bytesMax,
      onNotification: (method, given) => {
        if (!questions.withdrawn(method, given)) request.onNotification?.(method, given);
      },
      onRequest: questions.onRequest,
    };
    let isAnswered = false;
    let isSent = false;
    try {
      const reply = await this.post(message, session.headers, { signal: abort, onSent });
      isSent = true;
      const { name, ticker } = this.#options;
      const resuming = { name, ticker, signal: abort, leftMs: () => limit.leftMs };
      const answer = await readResumed(reply, reading, {
        ...resuming,
        reopen: (eventId) => this.open(session, abort, eventId),
      });
      isAnswered = !isCut(reply, answer);
      return answeredWith(reply, answer);
    } finally {
      leave?.(isAnswered);
      questions.end();
      if (!isAnswered && (isSent || abort.aborted) && request.method !== "initialize") void this.#cancel(id, session);
    }
  }

  #messageOf(request: McpRequest, session: Session) {
    this.#lastId += 1;
    const id = this.#lastId;
    return {
      id,
      message: { jsonrpc: "2.0", id, method: request.method, params: this.#paramsOf(request, session, id) },
    };
  }

  #paramsOf(
    { params, wantsProgress = false, capabilities = {}, answers, log, trace }: McpRequest,
    { isStateless }: Session,
    id: number,
  ): JsonObject {
    const own = { ...trace, ...(wantsProgress && { progressToken: id }) };
    if (!isStateless) return Object.keys(own).length > 0 ? { ...params, _meta: own } : params;
    const claims = {
      [versionKey]: STATELESS,
      [capabilitiesKey]: capabilities,
      "io.modelcontextprotocol/clientInfo": this.info,
      ...(log !== undefined && { [logLevelKey]: log.level ?? DEFAULT_LEVEL }),
    };
    return { ...params, ...answers, _meta: { ...own, ...claims } };
  }

  post(
    message: JsonObject,
    extra: Readonly<Record<string, string>>,
    { signal, onSent }: { signal: CallSignal; onSent?: ((isSent: boolean) => void) | undefined },
  ): Promise<UpstreamReply> {
    const { url, headers, ask } = this.#options;
    return ask({
      method: "POST",
      url,
      headers: new Headers({
        "content-type": "application/json",
        accept: `application/json, ${EVENT_STREAM}`,
        ...headers,
        ...extra,
      }),
      body: JSON.stringify(message),
      signal,
      connectMsMax: CONNECT_MS_MAX,
      onSent,
    });
  }

  /** Asks for the stream of a session, or for the rest of the stream that the event is from. */
  open(session: ServerSession, signal: CallSignal, eventId?: string): Promise<UpstreamReply> {
    const { url, headers: own, ask } = this.#options;
    const behind = eventId === undefined ? {} : { "last-event-id": eventId };
    const headers = new Headers({ accept: EVENT_STREAM, ...own, ...session.headers, ...behind });
    return ask({ method: "GET", url, headers, signal, connectMsMax: CONNECT_MS_MAX });
  }

  /** Asks for the changes at a stateless server. */
  listen(notifications: JsonObject, signal: CallSignal): Promise<UpstreamReply> {
    const request = { method: "subscriptions/listen", params: { notifications }, timeoutMs: 0, bytesMax: 0 };
    const { message } = this.#messageOf(request, stateless);
    return this.post(message, clientHeaders(message), { signal });
  }

  /** Sends a message that has no response. */
  async tell(message: JsonObject, session: Session): Promise<void> {
    await this.#briefly((signal) =>
      this.post({ jsonrpc: "2.0", ...message }, session.isStateless ? {} : session.headers, { signal }),
    );
  }

  /** Lets the server forget a session. */
  async end({ headers: named }: ServerSession): Promise<void> {
    const { url, headers, ask } = this.#options;
    await this.#briefly((signal) =>
      ask({
        method: "DELETE",
        url,
        headers: new Headers({ ...headers, ...named }),
        signal,
        connectMsMax: CONNECT_MS_MAX,
      }),
    );
  }

  async #briefly(ask: (signal: CallSignal) => Promise<UpstreamReply>): Promise<void> {
    const signal = new CallAborter();
    const stopTimer = this.#options.ticker.after(CONNECT_MS_MAX, () => signal.abort(tooLate(this.#options.name)));
    try {
      const reply = await ask(signal);
      reply.body.cancel();
    } finally {
      stopTimer();
    }
  }

  /** A server of 2025 goes on when the request is closed. */
  #cancel(requestId: number, session: Session): Promise<void> {
    return this.tell({ method: "notifications/cancelled", params: { requestId } }, session).catch(() => undefined);
  }
}

/** A stream that has ended early. */
function isCut(reply: UpstreamReply, message: JsonObject | undefined): boolean {
  return message === undefined && isEventStream(reply);
}

function answeredWith(reply: UpstreamReply, message: JsonObject | undefined): Answered {
  return {
    status: reply.status,
    message,
    isCut: isCut(reply, message),
    session: reply.headers.get("mcp-session-id"),
  };
}
