/**
 * A server over standard input and output as one over HTTP, so that everything else need not know the difference:
 *
 *   stopped ──a request──▶ running ──no request for a while──▶ stopped
 *      ▲                     └──it ends by itself──▶ waiting (longer each time) ──▶ stopped
 *
 * `initialize` is sent once for each process, and its answer given to all; `mcp-session-id` names the process, so that a session is
 * lost (404) with it, as over HTTP.
 */
import { type JsonObject, objectOf } from "../../core/index.ts";
import { rpcCodes, versionKey } from "../../mcp/index.ts";
import { CallTurns } from "./call-turns.ts";
import { MessageStream } from "./message-stream.ts";
import { type ServerPlan, WAITING_HEADER } from "./plan.ts";
import { ProgramListeners } from "./program-listeners.ts";
import { ServerProcess, type SystemUser } from "./server-process.ts";

/** Older servers may never answer a method that they do not know. */
const DISCOVER_MS_MAX = 5_000;

/** A first start may download the program (`npx`). */
const INITIALIZE_MS_MAX = 120_000;

const LISTEN = "subscriptions/listen";

const INTERNAL_ERROR = -32_603;

/** Questions that wait for answers. */
const QUESTIONS_MAX = 1_000;

const PAUSE_MS_MIN = 250;
const PAUSE_MS_MAX = 60_000;

/** A process that ran for this long did not fail to start. */
const LASTING_MS = 60_000;

export interface BridgeOptions {
  plan: ServerPlan;
  directory: string;
  user: SystemUser | undefined;
  /** Instead of the usual times to wait for the first answers. */
  discoverMsMax?: number;
  initializeMsMax?: number;
  onStart: (pid: number) => void;
  onEnd: (end: {
    pid: number;
    code: number | null;
    signal: string | null;
    lastWords: string;
    isExpected: boolean;
  }) => void;
}

interface Call {
  /** The id and the token for progress as the caller knows them. */
  id: unknown;
  progressToken: unknown;
  user: string;
  stream: MessageStream;
  leave: () => void;
}

/** One process, from its start to its end. */
interface Incarnation {
  session: string;
  process: ServerProcess;
  startedAt: number;
  calls: Map<number, Call>;
  /** The users who may answer the questions of the process. */
  questions: Map<string, string>;
  turns: CallTurns;
  initialized: Promise<JsonObject> | undefined;
  discovered: Promise<JsonObject> | undefined;
  /** Streams of changes of a stateless program, by the ids of their requests. They are no work that keeps it running. */
  listening: Map<number, MessageStream>;
  isAnnounced: boolean;
  /** Resolvers for requests of the bridge itself. */
  own: Map<number, (message: JsonObject) => void>;
}

export class BridgedServer {
  readonly #options: BridgeOptions;
  readonly #listeners = new ProgramListeners();
  #running: Incarnation | undefined;
  #pauseMs = 0;
  #mayStartAt = 0;
  #lastId = 0;
  #active = 0;
  #idleTimer: Timer | undefined;
  #isRetired = false;

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  /** Calls and streams that are open. */
  get active(): number {
    return this.#active;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Takes no more requests, and ends the process after those that it has, or at the latest after `msMax`. */
  async retire(msMax: number): Promise<void> {
    this.#isRetired = true;
    const until = performance.now() + msMax;
    while (this.#running !== undefined && this.#running.calls.size > 0 && performance.now() < until)
      await Bun.sleep(50);
    await this.#stop();
    this.#listeners.close();
  }

  /** The answer to a request over HTTP for this user. */
  async answer(request: Request, user: string): Promise<Response> {
    if (request.method === "GET") return this.#listeners.add(request, this.#running?.isAnnounced === true);
    if (request.method !== "POST") return new Response(undefined, { status: 405 });
    const message = objectOf(await request.json().catch(() => undefined));
    if (message === undefined) return new Response(undefined, { status: 400 });
    const isListening = message["method"] === LISTEN;
    const running = this.#isRetired ? undefined : isListening ? this.#running : this.#start();
    if (running === undefined) return new Response(undefined, { status: 503 });
    const session = request.headers.get("mcp-session-id");
    if (session !== null && session !== running.session) return new Response(undefined, { status: 404 });
    const { method, id } = message;
    if (typeof method !== "string") return answerQuestion(running, message, user);
    if (id === undefined) return notify(running, message);
    if (isListening) return listenAt(running, { ...message, id: (this.#lastId += 1) }, request.signal);
    this.#begin();
    try {
      if (method === "initialize") return await this.#initialize(running, message);
      if (method === "server/discover") return await this.#discover(running, message);
      return await this.#call(running, message, { user, signal: request.signal });
    } finally {
      this.#finish();
    }
  }

  #begin(): void {
    this.#active += 1;
    clearTimeout(this.#idleTimer);
  }

  #finish(): void {
    this.#active -= 1;
    if (this.#active === 0) this.#idleTimer = setTimeout(() => void this.#stop(), this.#options.plan.idle);
  }

  async #stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.process.stop();
  }

  /** Undefined while it has to wait after a failure. */
  #start(): Incarnation | undefined {
    if (this.#running !== undefined) return this.#running;
    if (performance.now() < this.#mayStartAt) return undefined;
    const { plan, directory, user, onStart, onEnd } = this.#options;
    const running: Incarnation = {
      session: crypto.randomUUID(),
      startedAt: performance.now(),
      calls: new Map(),
      questions: new Map(),
      turns: new CallTurns(),
      initialized: undefined,
      discovered: undefined,
      listening: new Map(),
      isAnnounced: false,
      own: new Map(),
      process: new ServerProcess({
        plan,
        directory,
        user,
        onMessage: (message) => this.#receive(running, message),
        onEnd: (end) => {
          const isExpected = this.#running !== running;
          onEnd({ ...end, pid: running.process.pid, isExpected });
          this.#ended(running, isExpected);
        },
      }),
    };
    this.#running = running;
    onStart(running.process.pid);
    return running;
  }

  #ended(running: Incarnation, isExpected: boolean): void {
    if (!isExpected) {
      const lasted = performance.now() - running.startedAt > LASTING_MS;
      this.#pauseMs = lasted ? PAUSE_MS_MIN : Math.min(Math.max(2 * this.#pauseMs, PAUSE_MS_MIN), PAUSE_MS_MAX);
      this.#mayStartAt = performance.now() + this.#pauseMs;
      this.#running = undefined;
    }
    const gone = { code: INTERNAL_ERROR, message: "The server's process has ended." };
    for (const call of running.calls.values()) {
      call.leave();
      call.stream.fail();
    }
    running.calls.clear();
    for (const stream of running.listening.values()) stream.close();
    running.listening.clear();
    for (const resolve of running.own.values()) resolve({ error: gone });
  }

  /** The first one is sent; its answer is that of all. A process that does not answer is ended, and another one tried later. */
  async #initialize(running: Incarnation, { id, params }: JsonObject): Promise<Response> {
    running.initialized ??= this.#askToInitialize(running, objectOf(params) ?? {});
    const message = await running.initialized;
    return Response.json({ ...message, id }, { headers: { "mcp-session-id": running.session } });
  }

  async #askToInitialize(running: Incarnation, params: JsonObject): Promise<JsonObject> {
    const timer = setTimeout(() => running.process.kill(), this.#options.initializeMsMax ?? INITIALIZE_MS_MAX);
    const message = await this.#ask(running, "initialize", params);
    clearTimeout(timer);
    if (message["result"] === undefined) running.initialized = undefined;
    else {
      running.process.send({ jsonrpc: "2.0", method: "notifications/initialized" });
      this.#announce(running);
    }
    return message;
  }

  /** An answer that comes late, since the process took long to start, is that of the next who ask. */
  async #discover(running: Incarnation, { id, params }: JsonObject): Promise<Response> {
    running.discovered ??= this.#askForTime(running, objectOf(params) ?? {});
    return Response.json({ ...(await running.discovered), id });
  }

  #askForTime(running: Incarnation, params: JsonObject): Promise<JsonObject> {
    const error = { code: rpcCodes.methodNotFound, message: "It does not answer." };
    const answered = this.#ask(running, "server/discover", params).then((message) => {
      running.discovered = Promise.resolve(message);
      return message;
    });
    const silent = Bun.sleep(this.#options.discoverMsMax ?? DISCOVER_MS_MAX).then(() => ({ jsonrpc: "2.0", error }));
    return Promise.race([answered, silent]);
  }

  /** A request of the bridge itself. */
  #ask(running: Incarnation, method: string, params: JsonObject): Promise<JsonObject> {
    const { promise, resolve } = Promise.withResolvers<JsonObject>();
    const id = (this.#lastId += 1);
    running.own.set(id, resolve);
    running.process.send({ jsonrpc: "2.0", id, method, params });
    return promise;
  }

  #call(
    running: Incarnation,
    { id, method, params }: JsonObject,
    { user, signal }: { user: string; signal: AbortSignal },
  ): Promise<Response> {
    const { [versionKey]: revision, progressToken } = objectOf(objectOf(params)?.["_meta"]) ?? {};
    // A stateless program has no `initialize`: its first request announces it.
    if (revision !== undefined) this.#announce(running);
    const own = (this.#lastId += 1);
    const stream = new MessageStream(() => this.#cancel(running, own));
    this.#begin();
    const begin = (leave: () => void): void => {
      const call: Call = { id, progressToken, user, stream, leave: () => (leave(), this.#finish()) };
      // It may have ended while the call waited.
      if (this.#running !== running) {
        call.leave();
        return stream.fail();
      }
      running.calls.set(own, call);
      signal.addEventListener("abort", () => this.#cancel(running, own));
      stream.comment();
      const given = objectOf(params) ?? {};
      const meta = progressToken === undefined ? {} : { _meta: { ...objectOf(given["_meta"]), progressToken: own } };
      running.process.send({ jsonrpc: "2.0", id: own, method, params: { ...given, ...meta } });
    };
    // A stateless server asks in its results.
    const leave = revision === undefined ? running.turns.tryEnter(user) : () => undefined;
    if (leave !== undefined) begin(leave);
    else {
      stream.open({ [WAITING_HEADER]: "1" });
      void running.turns.enter(user, signal).then(begin, () => {
        this.#finish();
        stream.fail();
      });
    }
    return stream.response;
  }

  /** Nobody waits for the call any more. */
  #cancel(running: Incarnation, own: number): void {
    const call = running.calls.get(own);
    if (call === undefined) return;
    running.calls.delete(own);
    running.process.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: own } });
    call.leave();
    call.stream.end({ jsonrpc: "2.0", id: call.id, error: { code: INTERNAL_ERROR, message: "cancelled" } });
  }

  #announce(running: Incarnation): void {
    if (!running.isAnnounced) this.#listeners.announce();
    running.isAnnounced = true;
  }

  #receive(running: Incarnation, message: JsonObject): void {
    const { id, method } = message;
    if (typeof method === "string") {
      if (id === undefined) receiveNotification(running, message, this.#listeners);
      else receiveQuestion(running, message);
      return;
    }
    if (typeof id !== "number") return;
    running.own.get(id)?.(message);
    running.own.delete(id);
    running.listening.get(id)?.close();
    running.listening.delete(id);
    const call = running.calls.get(id);
    if (call === undefined) return;
    running.calls.delete(id);
    call.leave();
    call.stream.end({ ...message, id: call.id });
  }
}

/** One who listens to a stateless program. The changes go to all who listen. */
function listenAt(running: Incarnation, message: JsonObject, signal: AbortSignal): Promise<Response> {
  const id = Number(message["id"]);
  const end = (): void => {
    if (running.listening.delete(id))
      running.process.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
  };
  const stream = new MessageStream(end);
  running.listening.set(id, stream);
  signal.addEventListener("abort", end);
  stream.open();
  running.process.send(message);
  return stream.response;
}

/** Progress goes to its call, changes to those who listen. */
function receiveNotification({ calls }: Incarnation, message: JsonObject, listeners: ProgramListeners): void {
  const params = objectOf(message["params"]) ?? {};
  if (message["method"] === "notifications/progress") {
    const call = calls.get(Number(params["progressToken"]));
    if (call?.progressToken === undefined) return;
    call.stream.push({ ...message, params: { ...params, progressToken: call.progressToken } });
  } else if (message["method"] === "notifications/message") {
    // It names no call, and may be about any.
    const [call, ...others] = calls.values();
    if (others.length === 0) call?.stream.push(message);
  } else {
    listeners.pass(message);
  }
}

/** The host's own messages are not repeated: the beginning, and the cancellation of a closed request. */
function notify(running: Incarnation, message: JsonObject): Response {
  const { method } = message;
  if (method !== "notifications/initialized" && method !== "notifications/cancelled") running.process.send(message);
  return new Response(undefined, { status: 202 });
}

function answerQuestion(running: Incarnation, message: JsonObject, user: string): Response {
  const key = JSON.stringify(message["id"]);
  if (running.questions.get(key) !== user) return new Response(undefined, { status: 404 });
  running.questions.delete(key);
  running.process.send(message);
  return new Response(undefined, { status: 202 });
}

/** A question names no call: it is for the latest one of the only user who has any. */
function receiveQuestion(running: Incarnation, message: JsonObject): void {
  const { turns, calls, questions, process: child } = running;
  if (message["method"] === "ping") return child.send({ jsonrpc: "2.0", id: message["id"], result: {} });
  turns.isStrict = true;
  const user = turns.onlyUser;
  const call = [...calls.values()].findLast((each) => each.user === user);
  if (user === undefined || call === undefined || questions.size >= QUESTIONS_MAX) {
    const error = { code: INTERNAL_ERROR, message: "The question belongs to no call." };
    return child.send({ jsonrpc: "2.0", id: message["id"], error });
  }
  questions.set(JSON.stringify(message["id"]), user);
  call.stream.push(message);
}
