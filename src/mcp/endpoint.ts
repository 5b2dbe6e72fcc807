/**
 * The messages at one URL, of every revision. Which one a client speaks is read from each message by itself, so that any
 * node can answer it.
 */
import type { JsonObject, RandomBytes } from "../core/index.ts";
import { EVENT_STREAM, type Ticker } from "../streaming/index.ts";
import { errorText, readMessage, RpcError, type RpcId, type RpcRequest } from "./json-rpc.ts";
import { followSession, listen } from "./listen.ts";
import { type McpCall, methodOf } from "./methods.ts";
import { type FinishedAnswer, Outgoing } from "./outgoing.ts";
import { type Era, eraOf } from "./revisions.ts";
import type { McpServer } from "./server.ts";
import type { SessionState, SessionStates } from "./session-states.ts";
import type { Questions } from "./questions.ts";
import { shortMethodOf } from "./short-methods.ts";
import { newSession, ownsSession } from "./session-id.ts";

const LISTEN = "subscriptions/listen";

/** Streams of changes that one token may have open in a process. */
const LISTENERS_PER_OWNER_MAX = 100;

export interface EndpointOptions {
  ticker: Ticker;
  randomBytes: RandomBytes;
  /** Those that clients of 2025 are asked. */
  questions: Questions;
  states: SessionStates;
}

/** One POST of an authenticated caller. */
export interface McpPost {
  headers: Headers;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  body: JsonObject;
  /** The owner of the session: the id of the token. */
  owner: string;
  server: McpServer;
}

/** A request that is being answered. */
interface Running {
  /** By which a client of 2025 cancels it. */
  key: string | undefined;
  owner: string;
  isListening: boolean;
  abort: AbortController;
  isCancelled: boolean;
}

/** Identifies a client of 2025 and its message. */
interface Sender {
  era: Era;
  session: string | undefined;
}

export class McpEndpoint {
  readonly #options: EndpointOptions;
  readonly #running = new Set<Running>();
  /** Of streams of changes, for the end of the server. */
  readonly #stops = new Set<() => void>();

  constructor(options: EndpointOptions) {
    this.#options = options;
    options.states.onEnd((session) => this.#cancelIn(session));
  }

  /** Requests that are being answered, without streams of changes. */
  get active(): number {
    let count = 0;
    for (const { isListening } of this.#running) if (!isListening) count += 1;
    return count;
  }

  /** The server stops: streams of changes end, each with its response. */
  close(): void {
    for (const stop of this.#stops) stop();
  }

  abortAll(): void {
    for (const { abort } of this.#running) abort.abort();
  }

  /** Answers one message. Throws every failure that is not a fault of the message. */
  async post(post: McpPost): Promise<Response> {
    let message: RpcRequest | undefined;
    try {
      message = readMessage(post.body);
      if (message === undefined) return await this.#receiveAnswer(post);
      const era = eraOf(post.headers, message);
      const session = era.stateless ? undefined : sessionOf(post, message);
      const { id } = message;
      if (id === undefined) return this.#receive(post, message, session);
      // Only the first message of a session has to wait: what a process knows of it stays true.
      const state = session === undefined ? undefined : (this.#known(session) ?? (await this.#stateOf(session)));
      if (state?.isEnded === true) throw new RpcError(404, NO_SESSION, { status: 404 });
      const short = shortMethodOf(era, message.method);
      if (short !== undefined) {
        const { method, params } = message;
        const newId = (capabilities: JsonObject): string => this.#begin(post.owner, capabilities);
        return await short({ id, method, params, era, server: post.server, newSession: newId });
      }
      return await this.#request(post, { ...message, id }, { era, session });
    } catch (thrown) {
      if (!(thrown instanceof RpcError)) throw thrown;
      return new Response(errorText(message?.id, thrown), {
        status: thrown.status,
        headers: { "content-type": "application/json" },
      });
    }
  }

  #begin(owner: string, capabilities: JsonObject): string {
    const session = newSession(owner, this.#options.randomBytes, capabilities);
    this.#options.states.begin(session);
    return session;
  }

  #known(session: string): SessionState | undefined {
    return this.#options.states.known(session);
  }

  /** A session has no rights of its own: if the storage does not answer, it is taken for one that goes on. */
  #stateOf(session: string): Promise<SessionState | undefined> {
    return this.#options.states.of(session).catch(() => undefined);
  }

  /** `GET`: the changes for the client of a session; undefined if there are none here. */
  async get(get: Omit<McpPost, "body">): Promise<Response | undefined> {
    const { headers, owner, server, signal } = get;
    const session = headers.get("mcp-session-id") ?? "";
    if (!ownsSession(owner, session) || (await this.#stateOf(session))?.isEnded === true) return noSession();
    if (server.watch === undefined) return undefined;
    const key = `${session}\n${server.door}\nGET`;
    const before = [...this.#running].filter((running) => running.key === key);
    const flood = this.#floodOf(owner, before.length);
    if (flood !== undefined) return refused(flood);
    // The client gets each message once: on its latest stream.
    for (const running of before) cancel(running);
    const running: Running = { key, owner, isListening: true, abort: new AbortController(), isCancelled: false };
    const onGone = (): void => running.abort.abort();
    const outgoing = new Outgoing(this.#options.ticker, 0, onGone);
    signal.addEventListener("abort", onGone);
    if (signal.aborted) onGone();
    this.#running.add(running);
    const call = { server, signal: running.abort.signal, outgoing, states: this.#options.states, session };
    const work = followSession(call, this.#onStop).finally(() => {
      signal.removeEventListener("abort", onGone);
      this.#running.delete(running);
    });
    return outgoing.stream(work, ": open\n\n");
  }

  readonly #onStop = (callback: () => void): (() => void) => {
    this.#stops.add(callback);
    return () => this.#stops.delete(callback);
  };

  #cancelIn(session: string): void {
    for (const running of this.#running) if (running.key?.startsWith(`${session}\n`) === true) cancel(running);
  }

  /** `DELETE`: the calls of a session end, and it takes no others. */
  async endSession(headers: Headers, owner: string): Promise<Response> {
    const session = headers.get("mcp-session-id") ?? "";
    if (!ownsSession(owner, session)) return noSession();
    this.#cancelIn(session);
    await this.#options.states.end(session, owner);
    return new Response(null, { status: 204 });
  }

  /** As the protocol has it, an answer to nothing is accepted too. */
  async #receiveAnswer({ headers, owner, body }: McpPost): Promise<Response> {
    const session = headers.get("mcp-session-id") ?? "";
    if (ownsSession(owner, session)) await this.#options.questions.answer({ owner, session }, body);
    return new Response(null, { status: 202 });
  }

  /** A notification. Those that are not known change nothing. */
  #receive({ owner }: McpPost, { method, params }: RpcRequest, session: string | undefined): Response {
    if (method === "notifications/cancelled") {
      const key = keyOf(session ?? owner, params["requestId"]);
      for (const running of this.#running) if (running.key === key) cancel(running);
    }
    return new Response(null, { status: 202 });
  }

  async #request(post: McpPost, message: RpcRequest & { id: RpcId }, { era, session }: Sender): Promise<Response> {
    const isListening = era.stateless && message.method === LISTEN;
    const perform = isListening ? (call: McpCall) => listen(call, this.#onStop) : methodOf(era, message.method);
    const { owner, server, headers, signal } = post;
    const flood = isListening ? this.#floodOf(owner) : undefined;
    if (flood !== undefined) throw flood;
    const key = era.stateless ? undefined : keyOf(session ?? owner, message.id);
    const running: Running = { key, owner, isListening, abort: new AbortController(), isCancelled: false };
    const onGone = (): void => running.abort.abort();
    const outgoing = new Outgoing(this.#options.ticker, message.id, onGone);
    signal.addEventListener("abort", onGone);
    if (signal.aborted) onGone();
    this.#running.add(running);
    const call: McpCall = {
      ...message,
      era,
      server,
      signal: running.abort.signal,
      outgoing,
      states: this.#options.states,
      session,
      owner,
      ask: this.#askerOf({ era, session }, { owner, outgoing, takesEvents: takesEvents(headers) }),
    };
    const work = respond(call, perform, running).finally(() => {
      signal.removeEventListener("abort", onGone);
      this.#running.delete(running);
    });
    return isListening ? outgoing.stream(work) : outgoing.answer(work, takesEvents(headers));
  }

  /** A client without a session, or one that takes no events, is not asked. */
  #askerOf(
    { era, session }: Sender,
    { owner, outgoing, takesEvents: isStream }: { owner: string; outgoing: Outgoing; takesEvents: boolean },
  ): McpCall["ask"] {
    if (era.stateless || session === undefined || !isStream) return undefined;
    return (question) => this.#options.questions.ask({ owner, session }, outgoing, question);
  }

  /** The refusal of another stream; undefined if there may be one. `ending`: those that it replaces. */
  #floodOf(owner: string, ending = 0): RpcError | undefined {
    let open = -ending;
    for (const running of this.#running) if (running.isListening && running.owner === owner) open += 1;
    if (open < LISTENERS_PER_OWNER_MAX) return undefined;
    return new RpcError(429, `A token may have ${LISTENERS_PER_OWNER_MAX} open streams of changes.`, { status: 429 });
  }
}

async function respond(
  call: McpCall,
  perform: (call: McpCall) => FinishedAnswer | Promise<FinishedAnswer>,
  running: Running,
): Promise<FinishedAnswer | undefined> {
  try {
    const finished = await Promise.race([perform(call), aborted(call.signal)]);
    return running.isCancelled ? undefined : finished;
  } catch (thrown) {
    if (running.isCancelled) return undefined;
    if (!(thrown instanceof RpcError)) throw thrown;
    return { text: errorText(call.id, thrown), status: thrown.status };
  }
}

/** The client waits no longer. The work of the call ends by itself. */
function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
}

/** As the client has asked: it expects no response. */
function cancel(running: Running): void {
  running.isCancelled = true;
  running.abort.abort();
}

/** Ids of one client are unique; a text and a number with the same characters are two ids. */
function keyOf(sender: string, id: unknown): string {
  return `${sender}\n${JSON.stringify(id)}`;
}

function takesEvents(headers: Headers): boolean {
  return headers.get("accept")?.includes(EVENT_STREAM) === true;
}

/** The session that a message names, if it names one. Another token's is as if it were not there. */
function sessionOf({ headers, owner }: McpPost, { method }: RpcRequest): string | undefined {
  const session = headers.get("mcp-session-id");
  if (session === null || method === "initialize") return undefined;
  if (ownsSession(owner, session)) return session;
  throw new RpcError(404, NO_SESSION, { status: 404 });
}

const NO_SESSION = "There is no such session: begin one with initialize.";

function noSession(): Response {
  return refused(new RpcError(404, NO_SESSION, { status: 404 }));
}

/** The answer to a request that is no message. */
function refused(error: RpcError): Response {
  return new Response(errorText(undefined, error), {
    status: error.status,
    headers: { "content-type": "application/json" },
  });
}
