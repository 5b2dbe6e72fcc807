/**
 * One session: the relay between the client's socket and the upstream's, and its end. In each direction a `GatedQueue` holds
 * messages back while there is a reason to. `session-works.ts` counts and holds, `client-messages.ts` decides what may pass.
 */
import {
  GatewayError,
  limits,
  type Socket,
  type SocketHandler,
  type SocketSink,
  toGatewayError,
  type UpstreamSocket,
} from "../core/index.ts";
import type { Watched } from "../streaming/index.ts";
import { admitMessage, type ClientRules, RefusedEvent, updateSession } from "./client-messages.ts";
import { ClientOutbox } from "./client-outbox.ts";
import { closeCodeFor, relayedCode, SESSION_CLOSED } from "./close-codes.ts";
import { errorEvent } from "./events.ts";
import { GatedQueue } from "./gated-queue.ts";
import type { RealtimeDependencies, SessionStart } from "./realtime-dependencies.ts";
import { SessionTimes, type TimeVerdict } from "./session-times.ts";
import type { SessionWorks } from "./session-works.ts";
import { type Metered, UpstreamEvents } from "./upstream-events.ts";
import type { SeriesEnd } from "./work-series.ts";

/** How long a cancelled response may take to report its usage. */
const CANCELLED_MS_MAX = 2_000;

/** Bytes that the upstream has not read: above the first the client is paused, below the second it continues. */
const UPSTREAM_QUEUE_MAX = 1024 * 1024;
const UPSTREAM_QUEUE_LOW = 256 * 1024;
const UPSTREAM_QUEUE_POLL_MS = 10;

type Message = string | Uint8Array;

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
  outcome: SeriesEnd["outcome"];
  /** Sent to the client as an event. */
  error?: GatewayError | undefined;
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
  readonly #events: UpstreamEvents;
  readonly #times: SessionTimes;
  #client: Socket | undefined;
  #outbox: ClientOutbox | undefined;
  /** A message waits for a hold, the upstream does not read, or the session is about to end. */
  readonly #fromClient: GatedQueue<"hold" | "upstream-queue" | "ending">;
  /** A message waits for its charge, the hold is used up, or the client does not read. */
  readonly #fromUpstream: GatedQueue<"charge" | "hold" | "client">;
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
    const onRefused = (thrown: unknown): void => this.exhausted(thrown, "running");
    this.#events = new UpstreamEvents({ works, api: start.api, resolveTranscription, onRefused });
    const bytesMax = limits.wholeEventBytesMax;
    this.#fromClient = new GatedQueue({
      pass: (message) => this.#admit(message),
      source: { pause: () => this.#client?.pause(), resume: () => this.#client?.resume() },
      bytesMax,
      onOverflow: () => this.#fail("rate_limit_exceeded", "The client sends more than the session can take."),
    });
    const resume = (): void => {
      this.#times.heard(ticker.now());
      upstream.resume();
    };
    this.#fromUpstream = new GatedQueue({
      pass: (message) => this.#relay(message),
      source: { pause: () => upstream.pause(), resume },
      bytesMax,
      onOverflow: () => this.#fail("upstream_interrupted", "The upstream went on sending while it was paused."),
    });
  }

  open(client: Socket): void {
    const { deps, start, upstream, rules } = this.#parts;
    const onStalled = (): void => {
      if (this.#ending === undefined) this.#fromUpstream.hold("client");
    };
    this.#client = client;
    this.#outbox = new ClientOutbox({ client, now: () => deps.ticker.now(), onStalled });
    deps.ticker.watch(this);
    if (start.session !== undefined) {
      const session = start.api.toUpstreamSession(start.session, start.type);
      upstream.send(JSON.stringify({ type: "session.update", session: updateSession(rules, session) }));
    }
    upstream.flowTo(this);
  }

  /** A message from the client. What is sent after the credits have ended would not be held. */
  message(message: Message): void {
    if (this.#isOver) return;
    const now = this.#parts.deps.ticker.now();
    this.#times.active(now);
    if (this.#times.isTooFast(now)) {
      this.#fail("rate_limit_exceeded", "The client sends too many messages a second.", "abandoned");
    } else this.#fromClient.push(message);
  }

  get #isOver(): boolean {
    return this.#ending !== undefined || this.#endsWith !== undefined;
  }

  #admit(message: Message): void {
    if (this.#isOver) return;
    try {
      const admitted = admitMessage(this.#parts.rules, message);
      if (admitted.until === undefined) this.#toUpstream(admitted.message);
      else void this.#admitLater(admitted.message, admitted.until);
    } catch (thrown) {
      if (!(thrown instanceof RefusedEvent)) throw thrown;
      this.#outbox?.send(errorEvent(thrown, thrown.eventId));
    }
  }

  /** The client's messages wait until one of them is held for. */
  async #admitLater(message: Message, until: Promise<void>): Promise<void> {
    this.#fromClient.hold("hold");
    try {
      await until;
    } catch (thrown) {
      return this.exhausted(thrown, "ahead");
    }
    if (this.#isOver) return;
    this.#toUpstream(message);
    this.#fromClient.lift("hold");
  }

  #toUpstream(message: Message): void {
    const { upstream } = this.#parts;
    if (this.#upstreamClosed !== undefined) return;
    upstream.send(message);
    if (upstream.queuedBytes <= UPSTREAM_QUEUE_MAX || this.#fromClient.isHeldBy("upstream-queue")) return;
    this.#fromClient.hold("upstream-queue");
    this.#waitForUpstream();
  }

  /** Bun's client has no event for it. */
  #waitForUpstream(): void {
    const { deps, upstream } = this.#parts;
    deps.ticker.after(UPSTREAM_QUEUE_POLL_MS, () => {
      if (this.#ending !== undefined) return;
      if (upstream.queuedBytes < UPSTREAM_QUEUE_LOW) this.#fromClient.lift("upstream-queue");
      else this.#waitForUpstream();
    });
  }

  /** A message from the upstream. */
  onMessage(message: Message): void {
    const now = this.#parts.deps.ticker.now();
    this.#times.heard(now);
    this.#times.active(now);
    this.#fromUpstream.push(message);
  }

  #relay(message: Message): void {
    const metered = typeof message === "string" ? this.#events.count(message) : undefined;
    if (metered?.kind === "charge") return void this.#withhold(message, metered.isDurable);
    // A session that ends is read for what it has used.
    if (this.#ending !== undefined) return;
    this.#outbox?.send(message);
    if (metered !== undefined) void this.#waitForRaise(metered);
  }

  /** A response is complete for its client only after its charge is durable. */
  async #withhold(message: Message, charged: Promise<boolean>): Promise<void> {
    this.#fromUpstream.hold("charge");
    if (await charged.catch(() => false)) this.#outbox?.send(message);
    else this.#fail("storage_unavailable", "The response could not be charged.");
    this.#fromUpstream.lift("charge");
    this.#settleQuiet();
    if (this.#upstreamClosed !== undefined && !this.#fromUpstream.isHeldBy("charge")) this.#endAfterUpstream();
  }

  /** Nothing more passes before the hold was raised, however often that is tried. */
  async #waitForRaise({ response, raised }: Extract<Metered, { kind: "raise" }>): Promise<void> {
    this.#fromUpstream.hold("hold");
    for (let next: Promise<void> | undefined = raised; next !== undefined; next = this.#parts.works.keepUp(response)) {
      await next;
      // Whatever it waited for, timers and sockets have a turn before it waits again.
      await new Promise(setImmediate);
      if (this.#ending !== undefined) break;
    }
    this.#fromUpstream.lift("hold");
  }

  /** The client has read what was queued. */
  drain(): void {
    if (this.#outbox !== undefined) this.#outbox.stalledAt = undefined;
    this.#fromUpstream.lift("client");
  }

  onPong(): void {
    this.#times.heard(this.#parts.deps.ticker.now());
  }

  onTick(now: number): void {
    if (this.#ending !== undefined) return;
    const { upstream, start } = this.#parts;
    const verdict = this.#times.judge(now, this.#outbox?.stalledAt, !this.#fromUpstream.isHeld);
    if (verdict === "ping") upstream.ping();
    else if (verdict === "dead") upstream.terminate();
    else if (verdict !== undefined) this.#fail(verdict, expiries[verdict]);
    if (!this.#times.isRecheckDue(now)) return;
    start.recheck().catch((thrown: unknown) => {
      if (thrown instanceof GatewayError && thrown.status === 401) this.#endWith(thrown);
    });
  }

  /** No credits are left: for what runs, so that it must stop, or for the next response, so that it may still end. */
  exhausted(thrown: unknown, what: "running" | "ahead"): void {
    const error = toGatewayError(thrown);
    // A response that has ended but is not charged yet has not reached its client: its end must.
    const isBusy = (this.#parts.works.responses?.running ?? 0) > 0 || this.#fromUpstream.isHeldBy("charge");
    if (what === "running" || !isBusy) return this.#endWith(error);
    this.#endsWith ??= error;
    this.#fromClient.hold("ending");
  }

  /** The upstream has closed its socket. */
  onClose(code: number, reason: string): void {
    this.#upstreamClosed = { code, reason };
    this.#settleQuiet();
    if (!this.#fromUpstream.isHeldBy("charge")) this.#endAfterUpstream();
  }

  #endAfterUpstream(): void {
    const { code, reason } = this.#upstreamClosed ?? { code: SESSION_CLOSED, reason: "" };
    const relayed = relayedCode(code);
    const { keys } = this.#parts.start.target.route;
    if (relayed !== undefined) void this.#end({ outcome: "interrupted", code: relayed, reason: keys.redact(reason) });
    else this.#fail("upstream_interrupted", "The upstream has ended the session unexpectedly.");
  }

  /** The server stops. */
  shutdown(): void {
    this.#fail("shutting_down", "The server is going down.");
  }

  /** The client has closed its socket, or was closed. */
  async close(code: number): Promise<void> {
    this.#outbox?.leave();
    await this.#end({ outcome: "abandoned", code: relayedCode(code) ?? SESSION_CLOSED, reason: "" });
  }

  #fail(code: GatewayError["code"], message: string, outcome?: Ending["outcome"]): void {
    this.#endWith(new GatewayError(code, message), outcome);
  }

  #endWith(error: GatewayError, outcome: Ending["outcome"] = "interrupted"): void {
    void this.#end({ outcome, error, ...closeCodeFor(error) });
  }

  #end(ending: Ending): Promise<void> {
    // Known to be ending before anything of it happens.
    this.#ending ??= Promise.resolve().then(() => this.#finish(ending));
    return this.#ending;
  }

  async #finish({ outcome, error, code, reason }: Ending): Promise<void> {
    const { deps, upstream, works, onEnd } = this.#parts;
    deps.ticker.leave(this);
    this.#fromClient.hold("ending");
    try {
      if (error !== undefined) this.#outbox?.send(errorEvent(error, undefined));
      await works.responses?.finishRunning();
      await this.#cancelResponses();
      await works.close(outcome, error);
    } finally {
      onEnd();
      if (this.#upstreamClosed === undefined) upstream.close(relayedCode(code) === code ? code : SESSION_CLOSED);
      this.#outbox?.farewell(code, reason);
    }
  }

  /** Stops what the upstream generates, and waits for its usage: for that it is read, whatever held it back. */
  async #cancelResponses(): Promise<void> {
    const { upstream, works, deps } = this.#parts;
    this.#fromUpstream.lift("hold");
    this.#fromUpstream.lift("client");
    const ids = works.responses?.runningIds ?? [];
    if (ids.length === 0 || this.#upstreamClosed !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onQuiet = resolve;
    const stopWaiting = deps.ticker.after(CANCELLED_MS_MAX, resolve);
    for (const id of ids) upstream.send(JSON.stringify({ type: "response.cancel", response_id: id }));
    await promise;
    stopWaiting();
  }

  /** Ends the wait for cancelled responses once none runs any more; and a session that was waiting for its last one. */
  #settleQuiet(): void {
    const isQuiet = (this.#parts.works.responses?.running ?? 0) === 0 || this.#upstreamClosed !== undefined;
    if (!isQuiet) return;
    this.#onQuiet?.();
    if (this.#endsWith !== undefined) this.#endWith(this.#endsWith);
  }
}
