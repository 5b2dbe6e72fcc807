/**
 * One session: the relay between the client's socket and the upstream's, and its end. `client-flow.ts` and `upstream-flow.ts`
 * are the two directions, each a `GatedQueue` that holds messages back while there is a reason to. `session-works.ts` counts
 * and holds, `client-messages.ts` decides what may pass.
 */
import {
  GatewayError,
  type Socket,
  type SocketHandler,
  type SocketSink,
  toGatewayError,
  type UpstreamSocket,
} from "../core/index.ts";
import type { Watched } from "../streaming/index.ts";
import { ClientFlow } from "./client-flow.ts";
import { type ClientRules, updateSession } from "./client-messages.ts";
import { ClientOutbox } from "./client-outbox.ts";
import { closeCodeFor, relayedCode, SESSION_CLOSED } from "./close-codes.ts";
import { errorEvent } from "./events.ts";
import type { Message } from "./gated-queue.ts";
import type { RealtimeDependencies, SessionStart } from "./realtime-dependencies.ts";
import { SessionTimes, type TimeVerdict } from "./session-times.ts";
import type { SessionWorks } from "./session-works.ts";
import { UpstreamEvents } from "./upstream-events.ts";
import { UpstreamFlow } from "./upstream-flow.ts";

/** How long a cancelled response may take to report its usage. */
const CANCELLED_MS_MAX = 2_000;

interface SessionParts {
  deps: RealtimeDependencies;
  start: SessionStart;
  upstream: UpstreamSocket;
  works: SessionWorks;
  rules: ClientRules;
  onEnd: () => void;
}

/** Why a session ends. */
interface Ending {
  /** Undefined if the client has left. */
  error: GatewayError | undefined;
  /** Whether the client gets no event of the error: its upstream has told it the reason. */
  isSilent?: boolean;
  code: number;
  reason: string;
}

const expiries: Readonly<Record<Exclude<TimeVerdict, "dead" | "ping" | undefined>, string>> = {
  session_expired: "The session has reached its maximum length.",
  session_idle: "The session was idle for too long.",
  slow_consumer: "The client does not read.",
};

export class RealtimeSession implements SocketHandler, SocketSink, Watched {
  slot = -1;
  readonly #parts: SessionParts;
  readonly #times: SessionTimes;
  #client: Socket | undefined;
  #outbox: ClientOutbox | undefined;
  readonly #fromClient: ClientFlow;
  readonly #fromUpstream: UpstreamFlow;
  #upstreamClosed: { code: number; reason: string } | undefined;
  #onQuiet: (() => void) | undefined;
  #ending: Promise<void> | undefined;
  /** The session ends with this error once its running responses have. */
  #endsWith: GatewayError | undefined;

  constructor(parts: SessionParts) {
    const { deps, start, upstream, works, rules } = parts;
    const { ticker, bounds } = deps;
    const { resolveTranscription } = rules;
    this.#parts = parts;
    this.#times = new SessionTimes(bounds, ticker.now());
    const fail = (error: GatewayError): void => this.#endWith(error);
    this.#fromClient = new ClientFlow({
      source: { pause: () => this.#client?.pause(), resume: () => this.#client?.resume() },
      upstream,
      rules,
      ticker,
      answer: (event) => this.#outbox?.send(event),
      onRefused: (thrown) => this.exhausted(thrown, "ahead"),
      fail,
    });
    const onRefused = (thrown: unknown): void => this.exhausted(thrown, "running");
    const resume = (): void => {
      this.#times.heard(ticker.now());
      upstream.resume();
    };
    this.#fromUpstream = new UpstreamFlow({
      source: { pause: () => upstream.pause(), resume },
      events: new UpstreamEvents({
        works,
        api: start.api,
        resolveTranscription,
        // One that begins while the session ends was asked for before.
        onBegun: (id) => {
          if (this.#onQuiet !== undefined) this.#cancel(id);
        },
        onRefused,
      }),
      redact: start.target.route.keys.redact,
      keepUp: (response) => works.keepUp(response),
      send: (message) => this.#outbox?.send(message),
      fail,
      onPassed: () => this.#settle(),
    });
  }

  open(client: Socket): void {
    const { deps, start, upstream, rules } = this.#parts;
    const onStalled = (): void => this.#fromUpstream.holdForClient();
    this.#client = client;
    this.#outbox = new ClientOutbox({ client, now: () => deps.ticker.now(), onStalled });
    deps.ticker.watch(this);
    if (start.session !== undefined) {
      const session = start.api.toUpstreamSession(start.session, start.type);
      upstream.send(JSON.stringify({ type: "session.update", session: updateSession(rules, session) }));
    }
    upstream.flowTo(this);
  }

  /** A message from the client. */
  message(message: Message): void {
    if (this.#ending !== undefined) return;
    const now = this.#parts.deps.ticker.now();
    this.#times.active(now);
    if (this.#times.isTooFast(now)) {
      this.#endWith(new GatewayError("rate_limit_exceeded", "The client sends too many messages a second."));
    } else this.#fromClient.push(message);
  }

  /** A message from the upstream. */
  onMessage(message: Message): void {
    const now = this.#parts.deps.ticker.now();
    this.#times.heard(now);
    this.#times.active(now);
    this.#fromUpstream.push(message);
  }

  /** The client has read what was queued. */
  drain(): void {
    if (this.#outbox !== undefined) this.#outbox.stalledAt = undefined;
    this.#fromUpstream.clientDrained();
  }

  onPong(): void {
    this.#times.heard(this.#parts.deps.ticker.now());
  }

  onTick(now: number): void {
    if (this.#ending !== undefined) return;
    const { upstream } = this.#parts;
    const verdict = this.#times.judge(now, this.#outbox?.stalledAt, !this.#fromUpstream.isHeld);
    if (verdict === "ping") upstream.ping();
    else if (verdict === "dead") upstream.terminate();
    else if (verdict !== undefined) this.#endWith(new GatewayError(verdict, expiries[verdict]));
  }

  /** No credits are left: for what runs, so that it must stop, or for the next response, so that it may still end. */
  exhausted(thrown: unknown, what: "running" | "ahead"): void {
    const error = toGatewayError(thrown);
    // A response that has ended but is not charged yet has not reached its client: its end must.
    const isBusy = (this.#parts.works.responses?.activeIds.length ?? 0) > 0 || this.#fromUpstream.isCharging;
    if (what === "running" || !isBusy) return this.#endWith(error);
    this.#endsWith ??= error;
    this.#fromClient.close();
  }

  /** The upstream has closed its socket. */
  onClose(code: number, reason: string): void {
    this.#upstreamClosed = { code, reason };
    this.#fromClient.loseUpstream();
    this.#settle();
  }

  /** Ends the session after the upstream has closed its socket. */
  #endAfter({ code, reason }: { code: number; reason: string }): void {
    const relayed = relayedCode(code);
    const { keys } = this.#parts.start.target.route;
    const error = new GatewayError("upstream_interrupted", "The upstream has ended the session unexpectedly.");
    if (relayed === undefined) this.#endWith(error);
    else void this.#end({ error, isSilent: true, code: relayed, reason: keys.redact(reason) });
  }

  /** Its token may no longer be used, or an operator ends it. */
  revoke(error: GatewayError): void {
    this.#endWith(error);
  }

  /** The server stops. */
  shutdown(): void {
    this.#endWith(new GatewayError("shutting_down", "The server is going down."));
  }

  /** The client has closed its socket, or was closed. */
  async close(code: number): Promise<void> {
    this.#outbox?.leave();
    await this.#end({ error: undefined, code: relayedCode(code) ?? SESSION_CLOSED, reason: "" });
  }

  #endWith(error: GatewayError): void {
    void this.#end({ error, ...closeCodeFor(error) });
  }

  #end(ending: Ending): Promise<void> {
    // Known to be ending before anything of it happens.
    this.#fromUpstream.end();
    this.#ending ??= Promise.resolve().then(() => this.#finish(ending));
    return this.#ending;
  }

  async #finish({ error, isSilent = false, code, reason }: Ending): Promise<void> {
    const { deps, upstream, works, onEnd } = this.#parts;
    deps.ticker.leave(this);
    this.#fromClient.close();
    try {
      if (error !== undefined && !isSilent) this.#outbox?.send(errorEvent(error, undefined));
      await works.responses?.finishRunning();
      await this.#cancelResponses();
      const isGivenUp = this.#upstreamClosed !== undefined;
      // One that an operator has ended is charged as if its client had left.
      const hasLeft = error === undefined || error.code === "session_ended";
      await works.close({ error: hasLeft ? undefined : error, hasLeft, isGivenUp });
    } finally {
      onEnd();
      if (this.#upstreamClosed === undefined) upstream.close(relayedCode(code) === code ? code : SESSION_CLOSED);
      this.#outbox?.farewell(code, reason);
    }
  }

  /** Stops what the upstream generates, or is about to, and waits for its usage: for that it is read, whatever held it back. */
  async #cancelResponses(): Promise<void> {
    const { works, deps } = this.#parts;
    this.#fromUpstream.readForUsage();
    const ids = works.responses?.activeIds ?? [];
    if (ids.length === 0 || (this.#upstreamClosed !== undefined && !this.#fromUpstream.isHeld)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onQuiet = resolve;
    const stopWaiting = deps.ticker.after(CANCELLED_MS_MAX, resolve);
    for (const id of new Set(ids)) this.#cancel(id);
    await promise;
    stopWaiting();
  }

  /** Without an id: the response that the upstream is about to begin. */
  #cancel(id: string | undefined): void {
    this.#parts.upstream.send(JSON.stringify({ type: "response.cancel", response_id: id }));
  }

  /**
   * Something has passed, or the upstream has closed. Ends the wait for cancelled responses once none runs any more, a session
   * that was waiting for its last one, and one whose upstream has closed and all of whose messages have passed.
   */
  #settle(): void {
    const closed = this.#upstreamClosed;
    const isQuiet = (this.#parts.works.responses?.activeIds.length ?? 0) === 0;
    const hasSentAll = closed !== undefined && !this.#fromUpstream.isHeld;
    if (isQuiet || hasSentAll) this.#onQuiet?.();
    const isDone = isQuiet || closed !== undefined;
    if (isDone && this.#endsWith !== undefined && !this.#fromUpstream.isCharging) this.#endWith(this.#endsWith);
    if (closed !== undefined && hasSentAll) this.#endAfter(closed);
  }
}
