/**
 * The gateway as a client of another MCP server, in the server's own revision: it is asked in that of 2026-07-28, and if it does not
 * know that, a session of 2025 is begun.
 *
 *   unknown ──server/discover──▶ stateless
 *      │  ▲                         refused, but not by that revision ──initialize──▶ session ──404──▶ unknown
 *
 * The session is that of all requests, but for those of clients that the server may ask: each of them has its own.
 */
import { type CallSignal, GatewayError, type JsonObject, listOf, objectOf } from "../../core/index.ts";
import { isLogged, type LogLevel, rpcCodes, sessionRevisions, STATELESS } from "../../mcp/index.ts";
import { ClientSessions } from "./client-sessions.ts";
import { filterWith, listenToProgram } from "./program-changes.ts";
import { isEventStream, readMessages } from "./read-messages.ts";
import { type Answered, invalidAnswer, refuseStatus, resultOf, ServerError } from "./server-answer.ts";
import { ServerQuestions } from "./server-questions.ts";
import { CONNECT_MS_MAX, NOTIFICATION_BYTES_MAX, ServerWire, type ServerWireOptions } from "./server-wire.ts";
import {
  type AskedClient,
  hasId,
  type ListenRequest,
  type McpRequest,
  type ServerSession,
  type Session,
  sessionless,
  shownCapabilities,
  stateless,
} from "./session.ts";

export interface McpClientOptions extends ServerWireOptions {
  /** Whether it is started by requests: one who listens does not start it. */
  isProgram?: boolean;
}

interface Attempt extends Answered {
  hasSession: boolean;
  /** The session is gone. */
  forget: () => void | Promise<void>;
}

/**
 * Declared in the session that many clients share, so that all tools are listed there. A question that the client of its request does not
 * take is refused.
 */
const sharedCapabilities: JsonObject = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
};

const modernCodes: ReadonlySet<number> = new Set([
  rpcCodes.headerMismatch,
  rpcCodes.missingCapability,
  rpcCodes.unsupportedVersion,
]);

export class McpClient {
  readonly #options: McpClientOptions;
  readonly #wire: ServerWire;
  readonly #sessions: ClientSessions;
  readonly #listeners = new Set<ListenRequest>();
  /** That of all who have none of their own. */
  #session: Promise<Session> | undefined;

  constructor(options: McpClientOptions) {
    this.#options = options;
    this.#wire = new ServerWire(options);
    this.#sessions = new ClientSessions({
      wire: this.#wire,
      ticker: options.ticker,
      listening: {
        uris: () => [...new Set([...this.#listeners].flatMap(({ uris }) => uris))],
        isEmpty: () => this.#listeners.size === 0,
        onNotification: (...given) => {
          for (const { onNotification } of this.#listeners) onNotification(...given);
        },
      },
      begin: ({ capabilities }) => this.#begin(CONNECT_MS_MAX, capabilities),
    });
  }

  /** The result. Rejects with a `ServerError`, a `GatewayError` (502), or the reason of the signal. */
  async request(request: McpRequest): Promise<JsonObject> {
    const answered = await this.#attempt(request);
    // A session that is gone has done nothing of the request. Without a session, 404 says nothing of the kind.
    if (answered.status !== 404 || !answered.hasSession) return resultOf(this.#options.name, answered);
    await answered.forget();
    return resultOf(this.#options.name, await this.#attempt(request));
  }

  async #attempt(request: McpRequest): Promise<Attempt> {
    const opening = (this.#session ??= this.#open(request));
    const common = await this.#opened(opening);
    const own = await this.#ownSession(request, common);
    const session = own ?? common;
    if (request.log?.level !== undefined) await this.#wantLog(request.log.level, session);
    const answered = await this.#wire.send(request, session);
    const forget = (): void | Promise<void> => (own === undefined ? this.#forget(opening) : this.#sessions.forget(own));
    return { ...answered, hasSession: hasId(session), forget };
  }

  /** Undefined for a client that the server cannot ask there. A program has a session of each user anyway. */
  async #ownSession(
    { asked, prefersSession }: McpRequest,
    { isStateless }: Session,
  ): Promise<ServerSession | undefined> {
    if (asked === undefined || this.#options.isProgram === true) return undefined;
    if (!isStateless) return this.#sessions.of(asked);
    if (prefersSession !== true) return undefined;
    try {
      return await this.#sessions.of(asked);
    } catch (thrown) {
      if (thrown instanceof ServerError) return undefined;
      if (thrown instanceof GatewayError && thrown.code === "upstream_invalid_answer") return undefined;
      throw thrown;
    }
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
  }

  /** Resolves when the stream has ended; rejects if the server has none, or cannot be reached. */
  async listen(request: ListenRequest): Promise<void> {
    if (this.#options.isProgram === true) return this.#listenToProgram(request);
    this.#listeners.add(request);
    try {
      void this.#sessions.subscribe();
      await this.#listenToUrl(request);
    } finally {
      this.#listeners.delete(request);
    }
  }

  async #listenToUrl(request: ListenRequest): Promise<void> {
    const { uris, signal, onOpen, onNotification } = request;
    const opening = (this.#session ??= this.#open({ timeoutMs: CONNECT_MS_MAX }));
    const session = await this.#opened(opening);
    const reply = session.isStateless
      ? await this.#wire.listen(filterWith(uris), signal)
      : await this.#askForStream(session, { uris, signal });
    if (reply.status === 404 && (await this.#isGone(session))) this.#forget(opening);
    if (!isEventStream(reply)) {
      reply.body.cancel();
      throw invalidAnswer(this.#options.name, "has no stream of changes");
    }
    onOpen();
    const bounds = { bytesMax: Number.POSITIVE_INFINITY, messageBytesMax: NOTIFICATION_BYTES_MAX };
    const answer = (message: JsonObject): void => void this.#wire.tell(message, session).catch(() => undefined);
    // A question that belongs to no call is for nobody.
    const questions = new ServerQuestions({ ask: undefined, answer, clock: () => this.#options.ticker.now() });
    await readMessages(reply, { id: undefined, ...bounds, onNotification, onRequest: questions.onRequest });
  }

  #listenToProgram(request: ListenRequest): Promise<void> {
    const { name } = this.#options;
    let opening: Promise<Session> | undefined;
    return listenToProgram(request, {
      name,
      wire: this.#wire,
      session: () => this.#opened((opening = this.#session ??= this.#open({ timeoutMs: CONNECT_MS_MAX }))),
      forget: () => opening && this.#forget(opening),
    });
  }

  /** Some servers answer 404 because they have no streams: it says nothing about the session, which others use. */
  async #isGone(session: Session): Promise<boolean> {
    if (!hasId(session)) return false;
    const ping = { method: "ping", params: {}, timeoutMs: CONNECT_MS_MAX, bytesMax: 64 * 1024 };
    const answered = await this.#wire.send(ping, session).catch(() => undefined);
    return answered?.status === 404;
  }

  async #askForStream(session: ServerSession, { uris, signal }: Pick<ListenRequest, "uris" | "signal">) {
    const reply = await this.#wire.open(session, signal);
    // One that the server refuses has no updates.
    for (const uri of isEventStream(reply) ? uris : []) await this.#subscribe(uri, session, signal);
    return reply;
  }

  async #subscribe(uri: string, session: ServerSession, signal: CallSignal): Promise<void> {
    const bounds = { timeoutMs: CONNECT_MS_MAX, bytesMax: NOTIFICATION_BYTES_MAX, signal };
    const request = { ...bounds, method: "resources/subscribe", params: { uri } };
    await this.#wire.send(request, session).catch(() => undefined);
  }

  /** For all requests that wait for it, so by none's signal. */
  async #open({ timeoutMs }: Pick<McpRequest, "timeoutMs">): Promise<Session> {
    const bounds = { timeoutMs: Math.min(timeoutMs, CONNECT_MS_MAX), bytesMax: 1024 * 1024 };
    const discover = { ...bounds, method: "server/discover", params: {} };
    let asked = await this.#wire.send(discover, stateless);
    // It may have refused a revision that it supports, by a check that came too early.
    if (revisionsIn(asked).refused.includes(STATELESS)) asked = await this.#wire.send(discover, stateless);
    const { supported, refused } = revisionsIn(asked);
    if (supported.includes(STATELESS)) return stateless;
    const { code } = objectOf(asked.message?.["error"]) ?? {};
    const hasSessions = sessionRevisions.some((each) => refused.includes(each));
    if (typeof code === "number" && modernCodes.has(code) && !hasSessions) resultOf(this.#options.name, asked);
    refuseStatus(this.#options.name, asked.status);
    return this.#begin(timeoutMs, sharedCapabilities);
  }

  /** `capabilities`: by which the server may ask. */
  async #begin(timeoutMs: number, capabilities: AskedClient["capabilities"]): Promise<ServerSession> {
    const bounds = { timeoutMs: Math.min(timeoutMs, CONNECT_MS_MAX), bytesMax: 1024 * 1024 };
    const declared = { ...capabilities, ...shownCapabilities };
    const params = { protocolVersion: sessionRevisions[0], capabilities: declared, clientInfo: this.#wire.info };
    const begun = await this.#wire.send({ ...bounds, method: "initialize", params }, sessionless);
    const { protocolVersion, capabilities: its } = resultOf(this.#options.name, begun);
    const hasLog = objectOf(objectOf(its)?.["logging"]) !== undefined;
    const revision = typeof protocolVersion === "string" ? { "mcp-protocol-version": protocolVersion } : {};
    const headers = { ...revision, ...(begun.session !== null && { "mcp-session-id": begun.session }) };
    const session: ServerSession = { isStateless: false, headers, log: hasLog ? { level: undefined } : undefined };
    await this.#wire.tell({ method: "notifications/initialized", params: {} }, session);
    return session;
  }

  /** Several clients may share the session: it has the lowest level that one of them wants, and each client's own level decides about the rest. */
  async #wantLog(level: LogLevel, session: Session): Promise<void> {
    const log = session.isStateless ? undefined : session.log;
    if (log === undefined || (log.level !== undefined && isLogged(level, log.level))) return;
    log.level = level;
    const bounds = { timeoutMs: CONNECT_MS_MAX, bytesMax: 64 * 1024 };
    // The call is worth more than its messages.
    await this.#wire.send({ ...bounds, method: "logging/setLevel", params: { level } }, session).catch(() => undefined);
  }
}

/** The revisions that a server supports: by its answer to `server/discover`, or by its refusal of another one. */
function revisionsIn({ message }: Answered): { supported: readonly unknown[]; refused: readonly unknown[] } {
  const { code, data } = objectOf(message?.["error"]) ?? {};
  const refused = code === rpcCodes.unsupportedVersion ? listOf(objectOf(data)?.["supported"]) : undefined;
  return { supported: listOf(objectOf(message?.["result"])?.["supportedVersions"]) ?? [], refused: refused ?? [] };
}
