/**
 * One session: the relay between the client's socket and the upstream's, in both directions and with back-pressure, and
 * its end. `session-works.ts` counts and holds, `client-messages.ts` decides what may pass.
 */
import {
  GatewayError,
  type JsonObject,
  objectOf,
  parseObject,
  type Socket,
  type SocketHandler,
  type SocketSink,
  toGatewayError,
  type UpstreamSocket,
} from "../core/index.ts";
import type { Watched } from "../streaming/index.ts";
import { admitMessage, type ClientRules, RefusedEvent, updateSession } from "./client-messages.ts";
import { closeCodeFor, relayedCode, SESSION_CLOSED } from "./close-codes.ts";
import { errorEvent, typeOfEvent } from "./events.ts";
import type { SeriesEnd } from "./work-series.ts";
import type { RealtimeDependencies, SessionStart } from "./realtime-dependencies.ts";
import { type SessionWorks, transcriptionModelOf } from "./session-works.ts";

/** How long a cancelled response may take to report its usage. */
const CANCELLED_MS_MAX = 2_000;

/** The interval at which the token of a session is checked. */
const RECHECK_MS = 2_000;

/** Silence after which the upstream is pinged, and a second one after which it is taken for dead. */
const PING_MS = 30_000;

/** Bytes that the upstream has not read: above the first the client is paused, below the second it continues. */
const UPSTREAM_QUEUE_MAX = 1024 * 1024;
const UPSTREAM_QUEUE_LOW = 256 * 1024;
const UPSTREAM_QUEUE_POLL_MS = 10;

/** Messages behind one that waits for its charge; beyond it, the upstream waits too. */
const WITHHELD_MAX = 1_000;

/** Bytes that are written to the client at once. */
const FLUSH_BYTES = 256 * 1024;

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

/** What must wait for the client to be read again. */
type PauseReason = "hold" | "upstream-queue" | "ending";

export class RealtimeSession implements SocketHandler, SocketSink, Watched {
  slot = -1;
  readonly #parts: SessionParts;
  #client: Socket | undefined;
  readonly #pauses = new Set<PauseReason>();
  /** The client's messages behind one that waits for a hold. */
  #waiting: Message[] | undefined;
  /** Messages for the client that are written together. */
  #outbox: Message[] = [];
  #outboxBytes = 0;
  #flushScheduled = false;
  /** The upstream's messages behind one that waits for its charge. */
  #withheld: Message[] | undefined;
  /** The client does not read, since this time. */
  #stalledAt: number | undefined;
  #upstreamClosed: { code: number; reason: string } | undefined;
  #onQuiet: (() => void) | undefined;
  #ending: Promise<void> | undefined;
  #isClientGone = false;
  /** The session ends with this error once its running responses have. */
  #endsWith: GatewayError | undefined;
  readonly #startedAt: number;
  #activeAt: number;
  #heardAt: number;
  #pingedAt: number;
  #checkedAt: number;
  #second = 0;
  #messagesInSecond = 0;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    const now = parts.deps.ticker.now();
    this.#startedAt = now;
    this.#activeAt = now;
    this.#heardAt = now;
    this.#pingedAt = now;
    this.#checkedAt = now;
  }

  open(client: Socket): void {
    this.#client = client;
    const { deps, start, upstream, rules } = this.#parts;
    deps.ticker.watch(this);
    if (start.session !== undefined) {
      const session = start.api.toUpstreamSession(start.session, start.type);
      upstream.send(JSON.stringify({ type: "session.update", session: updateSession(rules, session) }));
    }
    upstream.flowTo(this);
  }

  /** A message from the client. */
  message(message: Message): void {
    // What is said after the credits have ended would not be held.
    if (this.#ending !== undefined || this.#endsWith !== undefined) return;
    this.#activeAt = this.#parts.deps.ticker.now();
    if (this.#isTooFast()) {
      const error = new GatewayError("rate_limit_exceeded", "The client sends too many messages a second.");
      void this.#end({ outcome: "abandoned", error, ...closeCodeFor(error) });
    } else if (this.#waiting === undefined) this.#admit(message);
    else this.#waiting.push(message);
  }

  #isTooFast(): boolean {
    const second = Math.floor(this.#activeAt / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#messagesInSecond = 0;
    }
    this.#messagesInSecond += 1;
    return this.#messagesInSecond > this.#parts.deps.bounds.messagesPerSecondMax;
  }

  #admit(message: Message): void {
    try {
      const admitted = admitMessage(this.#parts.rules, message);
      if (admitted.until === undefined) this.#toUpstream(admitted.message);
      else void this.#admitLater(admitted.message, admitted.until);
    } catch (thrown) {
      if (!(thrown instanceof RefusedEvent)) throw thrown;
      this.#toClient(errorEvent(thrown, thrown.eventId));
    }
  }

  /** The client's messages wait until one of them is held for. */
  async #admitLater(message: Message, until: Promise<void>): Promise<void> {
    const waiting: Message[] = [];
    this.#waiting = waiting;
    this.#pause("hold");
    try {
      await until;
    } catch (thrown) {
      this.exhausted(thrown, "ahead");
      return;
    }
    this.#waiting = undefined;
    if (this.#ending !== undefined || this.#endsWith !== undefined) return;
    this.#toUpstream(message);
    while (this.#waiting === undefined) {
      const next = waiting.shift();
      if (next === undefined) break;
      this.#admit(next);
    }
    if (this.#waiting === undefined) this.#unpause("hold");
    else (this.#waiting as Message[]).push(...waiting);
  }

  #toUpstream(message: Message): void {
    const { upstream } = this.#parts;
    if (this.#upstreamClosed !== undefined) return;
    upstream.send(message);
    if (upstream.queuedBytes > UPSTREAM_QUEUE_MAX && !this.#pauses.has("upstream-queue")) {
      this.#pause("upstream-queue");
      this.#waitForUpstream();
    }
  }

  /** Bun's client has no event for it. */
  #waitForUpstream(): void {
    setTimeout(() => {
      if (this.#ending !== undefined) return;
      if (this.#parts.upstream.queuedBytes < UPSTREAM_QUEUE_LOW) this.#unpause("upstream-queue");
      else this.#waitForUpstream();
    }, UPSTREAM_QUEUE_POLL_MS);
  }

  #pause(reason: PauseReason): void {
    if (this.#pauses.size === 0) this.#client?.pause();
    this.#pauses.add(reason);
  }

  #unpause(reason: PauseReason): void {
    if (this.#pauses.delete(reason) && this.#pauses.size === 0) this.#client?.resume();
  }

  /** A message from the upstream. */
  onMessage(message: Message): void {
    this.#heardAt = this.#parts.deps.ticker.now();
    this.#activeAt = this.#heardAt;
    if (this.#withheld !== undefined) {
      this.#withheld.push(message);
      if (this.#withheld.length === WITHHELD_MAX) this.#parts.upstream.pause();
      return;
    }
    const charged = typeof message === "string" ? this.#meter(message) : undefined;
    if (charged === undefined) this.#toClient(message);
    else void this.#withhold(message, charged);
  }

  /** A response is complete for its client only after its charge is durable. */
  async #withhold(message: Message, charged: Promise<boolean>): Promise<void> {
    const withheld: Message[] = [];
    this.#withheld = withheld;
    const isDurable = await charged.catch(() => false);
    if (withheld.length >= WITHHELD_MAX) this.#resumeUpstream();
    this.#withheld = undefined;
    if (isDurable) this.#toClient(message);
    else {
      const error = new GatewayError("storage_unavailable", "The response could not be charged.");
      void this.#end({ outcome: "interrupted", error, ...closeCodeFor(error) });
    }
    while (this.#withheld === undefined) {
      const next = withheld.shift();
      if (next === undefined) break;
      this.onMessage(next);
    }
    if (this.#withheld !== undefined) (this.#withheld as Message[]).push(...withheld);
    this.#settleQuiet();
    if (this.#upstreamClosed !== undefined && this.#withheld === undefined) this.#endAfterUpstream();
  }

  /** Counts an upstream's event. Returns the charge that it must wait for, if any. */
  #meter(text: string): Promise<boolean> | undefined {
    const { works } = this.#parts;
    const type = typeOfEvent(text) ?? "";
    if (type.endsWith(".delta")) {
      if (type.startsWith("response.")) this.#countDelta(type, text);
      return undefined;
    }
    switch (type) {
      case "session.created":
      case "session.updated":
        this.#configured(objectOf(parseObject(text)?.["session"]) ?? {});
        return undefined;
      case "response.created": {
        const id = objectOf(parseObject(text)?.["response"])?.["id"];
        if (typeof id === "string") works.beginResponse(id);
        return undefined;
      }
      case "response.done":
        return this.#endResponse(objectOf(parseObject(text)?.["response"]) ?? {});
      case "input_audio_buffer.speech_started":
      case "input_audio_buffer.speech_stopped":
        works.context.speech(type.endsWith("started"));
        return undefined;
      case "input_audio_buffer.committed": {
        const id = parseObject(text)?.["item_id"];
        works.commitAudio(typeof id === "string" ? id : undefined);
        return undefined;
      }
      case "conversation.item.input_audio_transcription.completed":
      case "conversation.item.input_audio_transcription.failed":
        return this.#endTranscription(parseObject(text) ?? {}, type.endsWith("failed"));
      case "error":
        works.refused(objectOf(parseObject(text)?.["error"]) ?? {});
        return undefined;
      default:
        return undefined;
    }
  }

  /** The upstream's own account of the session is the one that counts. */
  #configured(session: JsonObject): void {
    const { works, rules, start } = this.#parts;
    works.context.configure(session);
    const model = transcriptionModelOf(session);
    if (typeof model !== "string" || start.api.readTranscriptionUsage === undefined) return;
    try {
      works.transcribe(model, rules.resolveTranscription);
    } catch (thrown) {
      this.exhausted(thrown, "running");
    }
  }

  #countDelta(type: string, text: string): void {
    const { works, upstream } = this.#parts;
    const bytes = deltaBytesOf(text);
    const isAudio = type === "response.output_audio.delta" || type === "response.audio.delta";
    const id = works.hasSeveral ? parseObject(text)?.["response_id"] : undefined;
    const raised = works.passed(
      typeof id === "string" ? id : undefined,
      isAudio ? { audioBytes: bytes } : { textBytes: bytes },
    );
    if (raised === undefined) return;
    upstream.pause();
    void raised.finally(() => this.#resumeUpstream());
  }

  #resumeUpstream(): void {
    if (this.#stalledAt === undefined) this.#parts.upstream.resume();
  }

  #endResponse(response: JsonObject): Promise<boolean> | undefined {
    const { works, start } = this.#parts;
    const { id, status, usage } = response;
    if (typeof id !== "string") return undefined;
    return works.endResponse(id, { status, observed: start.api.readUsage(usage) });
  }

  #endTranscription({ item_id: id, usage }: JsonObject, hasFailed: boolean): Promise<boolean> | undefined {
    const { works, start } = this.#parts;
    if (typeof id !== "string" || works.transcriptions === undefined) return undefined;
    return works.endTranscription(id, start.api.readTranscriptionUsage?.(usage), hasFailed);
  }

  /** Messages of the same turn of the event loop are written together. */
  #toClient(message: Message): void {
    if (this.#isClientGone) return;
    this.#outbox.push(message);
    this.#outboxBytes += message.length;
    if (this.#outboxBytes >= FLUSH_BYTES) this.#flush();
    else if (!this.#flushScheduled) {
      this.#flushScheduled = true;
      setImmediate(this.#flush);
    }
  }

  readonly #flush = (): void => {
    this.#flushScheduled = false;
    const client = this.#client;
    const messages = this.#outbox;
    if (client === undefined || messages.length === 0 || this.#isClientGone) return;
    this.#outbox = [];
    this.#outboxBytes = 0;
    let isWaiting = false;
    client.cork(() => {
      for (const message of messages) isWaiting = client.send(message) === "waiting" || isWaiting;
    });
    if (!isWaiting || this.#stalledAt !== undefined) return;
    this.#stalledAt = this.#parts.deps.ticker.now();
    this.#parts.upstream.pause();
  };

  /** The client has read what was queued. */
  drain(): void {
    this.#stalledAt = undefined;
    this.#parts.upstream.resume();
  }

  onPong(): void {
    this.#heardAt = this.#parts.deps.ticker.now();
  }

  onTick(now: number): void {
    if (this.#ending !== undefined) return;
    const { bounds } = this.#parts.deps;
    if (now - this.#startedAt >= bounds.sessionMsMax)
      this.#expire("session_expired", "The session has reached its maximum length.");
    else if (now - this.#activeAt >= bounds.idleMsMax)
      this.#expire("session_idle", "The session was idle for too long.");
    else if (this.#stalledAt !== undefined && now - this.#stalledAt >= bounds.stalledMsMax) {
      this.#expire("slow_consumer", "The client does not read.");
    } else if (now - this.#heardAt >= 2 * PING_MS && this.#stalledAt === undefined) this.#parts.upstream.terminate();
    else if (now - Math.max(this.#heardAt, this.#pingedAt) >= PING_MS) {
      this.#pingedAt = now;
      this.#parts.upstream.ping();
    }
    if (now - this.#checkedAt < RECHECK_MS) return;
    this.#checkedAt = now;
    this.#parts.start.recheck().catch((thrown: unknown) => {
      if (!(thrown instanceof GatewayError) || thrown.status !== 401) return;
      void this.#end({ outcome: "interrupted", error: thrown, ...closeCodeFor(thrown) });
    });
  }

  #expire(code: "session_expired" | "session_idle" | "slow_consumer", message: string): void {
    const error = new GatewayError(code, message);
    void this.#end({ outcome: "interrupted", error, ...closeCodeFor(error) });
  }

  /** No credits are left: for what runs, so that it must stop, or for the next response, so that it may still end. */
  exhausted(thrown: unknown, what: "running" | "ahead"): void {
    const error = toGatewayError(thrown);
    // A response that has ended but is not charged yet has not reached its client: its end must.
    const isBusy = (this.#parts.works.responses?.running ?? 0) > 0 || this.#withheld !== undefined;
    if (what === "ahead" && isBusy) {
      this.#endsWith ??= error;
      this.#pause("ending");
    } else void this.#end({ outcome: "interrupted", error, ...closeCodeFor(error) });
  }

  /** The upstream has closed its socket. */
  onClose(code: number, reason: string): void {
    this.#upstreamClosed = { code, reason };
    this.#settleQuiet();
    if (this.#withheld === undefined) this.#endAfterUpstream();
  }

  #endAfterUpstream(): void {
    const { code, reason } = this.#upstreamClosed ?? { code: SESSION_CLOSED, reason: "" };
    const relayed = relayedCode(code);
    if (relayed !== undefined) {
      void this.#end({
        outcome: "interrupted",
        code: relayed,
        reason: this.#parts.start.target.route.keys.redact(reason),
      });
      return;
    }
    const error = new GatewayError("upstream_interrupted", "The upstream has ended the session unexpectedly.");
    void this.#end({ outcome: "interrupted", error, ...closeCodeFor(error) });
  }

  /** The server stops. */
  shutdown(): void {
    const error = new GatewayError("shutting_down", "The server is going down.");
    void this.#end({ outcome: "interrupted", error, ...closeCodeFor(error) });
  }

  /** The client has closed its socket, or was closed. */
  async close(code: number): Promise<void> {
    this.#isClientGone = true;
    await this.#end({ outcome: "abandoned", code: relayedCode(code) ?? SESSION_CLOSED, reason: "" });
  }

  #end(ending: Ending): Promise<void> {
    this.#ending ??= this.#finish(ending);
    return this.#ending;
  }

  async #finish({ outcome, error, code, reason }: Ending): Promise<void> {
    const { deps, upstream, works, onEnd } = this.#parts;
    deps.ticker.leave(this);
    this.#pause("ending");
    try {
      if (error !== undefined) this.#toClient(errorEvent(error, undefined));
      await works.responses?.finishRunning();
      await this.#cancelResponses();
      await works.close(outcome, error);
    } finally {
      onEnd();
      if (this.#upstreamClosed === undefined) upstream.close(relayedCode(code) === code ? code : SESSION_CLOSED);
      this.#farewell(code, reason);
    }
  }

  /** Stops what the upstream generates, and waits for its usage. */
  async #cancelResponses(): Promise<void> {
    const { upstream, works, deps } = this.#parts;
    const ids = works.responses?.runningIds ?? [];
    if (ids.length === 0 || this.#upstreamClosed !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onQuiet = resolve;
    const stopWaiting = deps.ticker.after(CANCELLED_MS_MAX, resolve);
    upstream.resume();
    for (const id of ids) upstream.send(JSON.stringify({ type: "response.cancel", response_id: id }));
    await promise;
    stopWaiting();
  }

  /** Ends the wait for cancelled responses once none runs any more; and a session that was waiting for its last one. */
  #settleQuiet(): void {
    const isQuiet = (this.#parts.works.responses?.running ?? 0) === 0 || this.#upstreamClosed !== undefined;
    if (!isQuiet) return;
    this.#onQuiet?.();
    const error = this.#endsWith;
    if (error !== undefined) void this.#end({ outcome: "interrupted", error, ...closeCodeFor(error) });
  }

  /** A client that does not read would keep its connection open for ever. */
  #farewell(code: number, reason: string): void {
    const client = this.#client;
    if (client === undefined || this.#isClientGone) return;
    this.#flush();
    client.resume();
    if (this.#stalledAt === undefined) client.close(code, reason);
    else client.terminate();
  }
}

/** The bytes of the text `delta` of an event, as they stand in it. */
function deltaBytesOf(text: string): number {
  const at = text.indexOf('"delta"', text.indexOf(".delta") + 1);
  if (at === -1) return 0;
  const start = text.indexOf('"', at + '"delta"'.length) + 1;
  let end = text.indexOf('"', start);
  while (end > 0 && text[end - 1] === "\\") end = text.indexOf('"', end + 1);
  return end === -1 ? 0 : end - start;
}
