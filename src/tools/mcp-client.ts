/**
 * The gateway as a client of another MCP server, in the server's own revision: it is asked in that of 2026-07-28, and if it does not
 * know that, a session of 2025 is begun.
 *
 *   unknown ──server/discover──▶ stateless
 *      │  ▲                         refused, but not by that revision ──initialize──▶ session ──404──▶ unknown
 */
import {
  type AskUpstream,
  CallAborter,
  type CallSignal,
  GatewayError,
  type JsonObject,
  listOf,
  objectOf,
  type UpstreamReply,
} from "../core/index.ts";
import {
  capabilitiesKey,
  clientHeaders,
  type ClientQuestion,
  isLogged,
  type LogLevel,
  logLevelKey,
  rpcCodes,
  sessionRevisions,
  STATELESS,
  versionKey,
} from "../mcp/index.ts";
import { EVENT_STREAM, type Ticker } from "../streaming/index.ts";
import { type Answered, invalidAnswer, refuseStatus, resultOf, ServerError } from "./server-answer.ts";
import { askServer, type TimeLimit, tooLate } from "./ask-server.ts";
import { ServerQuestions } from "./relay/server-questions.ts";
import { isEventStream, readMessages } from "./read-messages.ts";

const CONNECT_MS_MAX = 10_000;

export interface McpClientOptions {
  /** For messages: the name of the server. */
  name: string;
  url: string;
  /** The operator's credentials. */
  headers: Readonly<Record<string, string>>;
  version: string;
  ask: AskUpstream;
  ticker: Ticker;
  /** Whether it is started by requests: one who listens does not start it. */
  isProgram?: boolean;
}

export interface McpRequest {
  method: string;
  params: JsonObject;
  /** For the whole request. */
  timeoutMs: number;
  /** Bytes of the answer with everything before it. */
  bytesMax: number;
  signal?: CallSignal;
  /** Further headers for a stateless server. */
  headers?: Readonly<Record<string, string>>;
  /** Called with each notification that belongs to the request. */
  onNotification?: (method: string, params: JsonObject) => void;
  onSent?: (isSent: boolean) => void;
  /** Those of the caller's client that are declared to a stateless server. */
  capabilities?: JsonObject | undefined;
  /** The client's answers to a stateless server that has asked in an earlier result. */
  answers?: JsonObject | undefined;
  /** Whether the server is asked for progress. */
  wantsProgress?: boolean;
  /** The log messages that the client wants: from a level on, or as the server decides. */
  log?: { level: LogLevel | undefined } | undefined;
  /** Whether it is asked in a session, if the server has both: its client has one, and some servers ask such clients alone. */
  prefersSession?: boolean | undefined;
  /** Asks the client for a server of 2025; rejects with its refusal, an `RpcError`. Without it no question is taken. */
  ask?: ((question: ClientQuestion) => Promise<JsonObject>) | undefined;
}

/** A stream of changes. */
export interface ListenRequest {
  /** The resources whose updates are wanted. */
  uris: readonly string[];
  /** Its abort ends the stream. */
  signal: CallSignal;
  /** Called once the server has begun the stream. */
  onOpen: () => void;
  onNotification: (method: string, params: JsonObject) => void;
}

interface ServerSession {
  isStateless: false;
  headers: Readonly<Record<string, string>>;
  /** Of its log messages; undefined if the server has none. */
  log: { level: LogLevel | undefined } | undefined;
}

type Session = { isStateless: true } | ServerSession;

interface Attempt extends Answered {
  hasSession: boolean;
  /** By which the session was begun. */
  opening: Promise<Session | undefined>;
}

/**
 * Declared to a server of 2025, whose session is that of many clients. A question that the client of its request does not take is
 * refused.
 */
const sessionCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
} as const;

/** For clients that have named no level, of servers that send nothing without one. */
const DEFAULT_LEVEL: LogLevel = "info";

/** Without a session. */
const listening: Session = { isStateless: false, headers: {}, log: undefined };

/** Of one notification on a stream of changes. */
const NOTIFICATION_BYTES_MAX = 256 * 1024;

const stateless: Session = { isStateless: true };
const modernCodes: ReadonlySet<number> = new Set([
  rpcCodes.headerMismatch,
  rpcCodes.missingCapability,
  rpcCodes.unsupportedVersion,
]);

export class McpClient {
  readonly #options: McpClientOptions;
  #session: Promise<Session> | undefined;
  /** Beside a stateless one, for clients of 2025; resolves with undefined if the server has none. */
  #ownSession: Promise<Session | undefined> | undefined;
  #lastId = 0;

  constructor(options: McpClientOptions) {
    this.#options = options;
  }

  /** The result. Rejects with a `ServerError`, a `GatewayError` (502), or the reason of the signal. */
  async request(request: McpRequest): Promise<JsonObject> {
    const answered = await this.#attempt(request);
    // A session that is gone has done nothing of the request. Without a session, 404 says nothing of the kind.
    if (answered.status !== 404 || !answered.hasSession) return resultOf(this.#options.name, answered);
    this.#forget(answered.opening);
    return resultOf(this.#options.name, await this.#attempt(request));
  }

  async #attempt(request: McpRequest): Promise<Attempt> {
    let opening: Attempt["opening"] = (this.#session ??= this.#open(request));
    let session = await this.#opened(this.#session);
    if (request.prefersSession === true && session.isStateless) {
      const own = (this.#ownSession ??= this.#openOwn(request));
      const begun = await this.#opened(own);
      if (begun !== undefined) [opening, session] = [own, begun];
    }
    const hasSession = !session.isStateless && "mcp-session-id" in session.headers;
    if (request.log?.level !== undefined) await this.#wantLog(request.log.level, session);
    return { ...(await this.#send(request, session)), hasSession, opening };
  }

  async #opened<Opened>(opening: Promise<Opened>): Promise<Opened> {
    try {
      return await opening;
    } catch (thrown) {
      this.#forget(opening);
      throw thrown;
    }
  }

  #forget(opening: Promise<unknown>): void {
    if (this.#session === opening) this.#session = undefined;
    if (this.#ownSession === opening) this.#ownSession = undefined;
  }

  async #openOwn({ timeoutMs }: McpRequest): Promise<Session | undefined> {
    try {
      const session = await this.#begin(timeoutMs);
      // Without an id, the server could ask nothing.
      return "mcp-session-id" in session.headers ? session : undefined;
    } catch (thrown) {
      if (thrown instanceof ServerError) return undefined;
      if (thrown instanceof GatewayError && thrown.code === "upstream_invalid_answer") return undefined;
      throw thrown;
    }
  }

  /** Resolves when the stream has ended; rejects if the server has none, or cannot be reached. */
  async listen({ uris, signal, onOpen, onNotification }: ListenRequest): Promise<void> {
    if (this.#options.isProgram !== true || uris.length > 0)
      this.#session ??= this.#open({ timeoutMs: CONNECT_MS_MAX });
    const opening = this.#session ?? Promise.resolve(listening);
    const session = await this.#opened(opening);
    const reply = session.isStateless
      ? await this.#askForChanges(uris, signal)
      : await this.#askForStream(session, { uris, signal });
    if (reply.status === 404 && !session.isStateless) this.#forget(opening);
    if (!isEventStream(reply)) {
      reply.body.cancel();
      throw invalidAnswer(this.#options.name, "has no stream of changes");
    }
    onOpen();
    const bounds = { bytesMax: Number.POSITIVE_INFINITY, messageBytesMax: NOTIFICATION_BYTES_MAX };
    const answer = (message: JsonObject): void => void this.#tell(message, session).catch(() => undefined);
    // A question that belongs to no call is for nobody.
    const questions = new ServerQuestions({ ask: undefined, answer, clock: this.#clock });
    await readMessages(reply, { id: undefined, ...bounds, onNotification, onRequest: questions.onRequest });
  }

  #askForChanges(uris: readonly string[], signal: CallSignal): Promise<UpstreamReply> {
    this.#lastId += 1;
    const method = "subscriptions/listen";
    const params = this.#paramsOf({ params: { notifications: filterWith(uris) } }, stateless, this.#lastId);
    const message = { jsonrpc: "2.0", id: this.#lastId, method, params };
    return this.#post(message, clientHeaders({ method, params }), { signal });
  }

  async #askForStream(
    session: Session & { isStateless: false },
    { uris, signal }: Pick<ListenRequest, "uris" | "signal">,
  ): Promise<UpstreamReply> {
    const { url, headers: own, ask } = this.#options;
    const bounds = { timeoutMs: CONNECT_MS_MAX, bytesMax: NOTIFICATION_BYTES_MAX, signal };
    const headers = new Headers({ accept: EVENT_STREAM, ...own, ...session.headers });
    const reply = await ask({ method: "GET", url, headers, signal, connectMsMax: CONNECT_MS_MAX });
    // One that the server refuses has no updates.
    for (const uri of isEventStream(reply) ? uris : [])
      await this.#send({ ...bounds, method: "resources/subscribe", params: { uri } }, session).catch(() => undefined);
    return reply;
  }

  /** For all requests that wait for it, so by none's signal. */
  async #open({ timeoutMs }: Pick<McpRequest, "timeoutMs">): Promise<Session> {
    const bounds = { timeoutMs: Math.min(timeoutMs, CONNECT_MS_MAX), bytesMax: 1024 * 1024 };
    const discover = { ...bounds, method: "server/discover", params: {} };
    let asked = await this.#send(discover, stateless);
    // It may have refused a revision that it supports, by a check that came too early.
    if (revisionsIn(asked).refused.includes(STATELESS)) asked = await this.#send(discover, stateless);
    const { supported, refused } = revisionsIn(asked);
    if (supported.includes(STATELESS)) return stateless;
    const { code } = objectOf(asked.message?.["error"]) ?? {};
    const hasSessions = sessionRevisions.some((each) => refused.includes(each));
    if (typeof code === "number" && modernCodes.has(code) && !hasSessions) resultOf(this.#options.name, asked);
    refuseStatus(this.#options.name, asked.status);
    return this.#begin(timeoutMs);
  }

  async #begin(timeoutMs: number): Promise<ServerSession> {
    const bounds = { timeoutMs: Math.min(timeoutMs, CONNECT_MS_MAX), bytesMax: 1024 * 1024 };
    const params = {
      protocolVersion: sessionRevisions[0],
      capabilities: sessionCapabilities,
      clientInfo: this.#info,
    };
    const begun = await this.#send({ ...bounds, method: "initialize", params }, listening);
    const { protocolVersion, capabilities } = resultOf(this.#options.name, begun);
    const hasLog = objectOf(objectOf(capabilities)?.["logging"]) !== undefined;
    const revision = typeof protocolVersion === "string" ? { "mcp-protocol-version": protocolVersion } : {};
    const headers = { ...revision, ...(begun.session !== null && { "mcp-session-id": begun.session }) };
    const session: ServerSession = { isStateless: false, headers, log: hasLog ? { level: undefined } : undefined };
    await this.#tell({ method: "notifications/initialized", params: {} }, session);
    return session;
  }

  /** All clients share the session: it has the lowest level that one of them wants, and each client's own level decides about the rest. */
  async #wantLog(level: LogLevel, session: Session): Promise<void> {
    const log = session.isStateless ? undefined : session.log;
    if (log === undefined || (log.level !== undefined && isLogged(level, log.level))) return;
    log.level = level;
    const bounds = { timeoutMs: CONNECT_MS_MAX, bytesMax: 64 * 1024 };
    // The call is worth more than its messages.
    await this.#send({ ...bounds, method: "logging/setLevel", params: { level } }, session).catch(() => undefined);
  }

  readonly #clock = (): number => this.#options.ticker.now();

  get #info(): JsonObject {
    return { name: "tollgate", version: this.#options.version };
  }

  async #send(request: McpRequest, session: Session): Promise<Answered> {
    const { method, timeoutMs, bytesMax, signal, headers = {}, onSent } = request;
    this.#lastId += 1;
    const id = this.#lastId;
    const params = this.#paramsOf(request, session, id);
    const extra = session.isStateless ? { ...clientHeaders({ method, params }), ...headers } : session.headers;
    const { name, ticker } = this.#options;
    return askServer({ name, ticker, timeoutMs, signal }, async (abort, limit) => {
      const questions = session.isStateless ? undefined : this.#questionsOf(request, session, limit);
      try {
        const reply = await this.#post({ jsonrpc: "2.0", id, method, params }, extra, { signal: abort, onSent });
        const onNotification = (notified: string, given: JsonObject): void => {
          if (questions?.withdrawn(notified, given) !== true) request.onNotification?.(notified, given);
        };
        const message = await readMessages(reply, { id, bytesMax, onNotification, onRequest: questions?.onRequest });
        const isCut = message === undefined && isEventStream(reply);
        return { status: reply.status, message, isCut, session: reply.headers.get("mcp-session-id") };
      } catch (thrown) {
        if (abort.aborted && !session.isStateless && method !== "initialize") void this.#cancel(id, session);
        throw thrown;
      } finally {
        questions?.end();
      }
    });
  }

  #paramsOf(
    {
      params,
      wantsProgress = false,
      capabilities = {},
      answers,
      log,
    }: Omit<McpRequest, "method" | "timeoutMs" | "bytesMax">,
    { isStateless }: Session,
    id: number,
  ): JsonObject {
    const progress = wantsProgress ? { progressToken: id } : {};
    if (!isStateless) return wantsProgress ? { ...params, _meta: progress } : params;
    const claims = {
      [versionKey]: STATELESS,
      [capabilitiesKey]: capabilities,
      "io.modelcontextprotocol/clientInfo": this.#info,
      ...(log !== undefined && { [logLevelKey]: log.level ?? DEFAULT_LEVEL }),
    };
    return { ...params, ...answers, _meta: { ...progress, ...claims } };
  }

  #post(
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

  #questionsOf({ ask }: McpRequest, session: Session, limit: TimeLimit): ServerQuestions {
    return new ServerQuestions({
      ask: ask && ((question) => limit.without(() => ask(question))),
      answer: (message) => void this.#tell(message, session).catch(() => undefined),
      clock: this.#clock,
    });
  }

  /** Sends a message that has no response. */
  async #tell(message: JsonObject, session: Session): Promise<void> {
    const extra = session.isStateless ? {} : session.headers;
    const signal = new CallAborter();
    const stopTimer = this.#options.ticker.after(CONNECT_MS_MAX, () => signal.abort(tooLate(this.#options.name)));
    try {
      const reply = await this.#post({ jsonrpc: "2.0", ...message }, extra, { signal });
      reply.body.cancel();
    } finally {
      stopTimer();
    }
  }

  /** A server of 2025 goes on when the request is closed. */
  #cancel(requestId: number, session: Session): Promise<void> {
    return this.#tell({ method: "notifications/cancelled", params: { requestId } }, session).catch(() => undefined);
  }
}

/** All changes of lists, and the updates of these resources. */
function filterWith(uris: readonly string[]): JsonObject {
  const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  return { ...lists, ...(uris.length > 0 && { resourceSubscriptions: uris }) };
}

/** The revisions that a server supports: by its answer to `server/discover`, or by its refusal of another one. */
function revisionsIn({ message }: Answered): { supported: readonly unknown[]; refused: readonly unknown[] } {
  const { code, data } = objectOf(message?.["error"]) ?? {};
  const refused = code === rpcCodes.unsupportedVersion ? listOf(objectOf(data)?.["supported"]) : undefined;
  return { supported: listOf(objectOf(message?.["result"])?.["supportedVersions"]) ?? [], refused: refused ?? [] };
}
