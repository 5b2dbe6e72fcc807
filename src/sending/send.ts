/**
 * One request to an upstream, with as many attempts as make sense. Another attempt is only made if the client has
 * received nothing, and if the kind of work permits it (`repeat-rule.ts`): after a failed connection, 500, 502, or 429
 * and 503 with a short enough delay, or with another key.
 */
import type { OutgoingForm } from "../bodies/index.ts";
import type { WorkObserver } from "../charges/index.ts";
import {
  type AbortListener,
  type AskUpstream,
  type CallSignal,
  type Environment,
  GatewayError,
  limits,
  loggableId,
  type ReplyBody,
  type ReplyHeaders,
  type UpstreamReply,
} from "../core/index.ts";
import type { AttemptRecord } from "../ledger/index.ts";
import { rateRoomOf } from "../providers/index.ts";
import { circuitIdOf, type CircuitOutcome, type Circuits, type Key } from "../routing/index.ts";
import { BadReply, collectBody, StaleConnection } from "../upstream/index.ts";
import { type AttemptPolicy, Attempts, operationName } from "./attempts.ts";
import {
  type AnyFailure,
  circuitOutcomeOf,
  classifyFailure,
  type FailureClass,
  invalidAnswer,
  refusedByAll,
  silentUpstream,
  staleConnection,
  unreachableUpstream,
} from "./classify-failure.ts";
import { type UpstreamHead, upstreamHeaders, upstreamRequestIdOf } from "./headers.ts";
import { keptFromClient, keyRefused } from "./kept-from-client.ts";
import type { FailedAttempt, RepeatRule } from "./repeat-rule.ts";
import type { FailedReply, StreamReply } from "./reply.ts";
import type { CallWatchdog } from "../charges/index.ts";

export interface SendOptions extends AttemptPolicy {
  connectMsMax: number;
  firstByteMsMax: number;
  idleMsMax: number;
  /** For an answer that is not streamed, from its first attempt on. */
  totalMsMax: number;
}

/** The external dependencies of sending. */
type SendEnvironment = Pick<Environment, "clock" | "randomFraction" | "ask">;

export interface SendDependencies {
  environment: SendEnvironment;
  send: SendOptions;
  observer: Pick<WorkObserver, "attempted">;
  /** Paid calls are not repeated at a target whose circuit is open. Absent if they always are. */
  circuits?: Circuits | undefined;
}

export interface UpstreamCall extends UpstreamHead {
  target: UpstreamHead["target"] & { model?: string };
  /** The work that the request belongs to; absent for a free request. */
  workId?: string;
  /** POST by default. */
  method?: "GET" | "DELETE" | undefined;
  /** Appended to the operation's path. */
  subpath?: string;
  body?: UpstreamBody;
  repeats: RepeatRule;
  /** The id of the one key that may be used. */
  pinnedKeyId?: string | undefined;
  /** The key of its session, whose calls prefer one key of the provider. */
  session?: string | undefined;
  /** The id of the key of the first attempt. */
  preferredKeyId?: string | undefined;
  /** Sends the request in place of the environment's client. */
  ask?: AskUpstream | undefined;
  /** Its abort ends the call: the client disconnected, or the gateway gave up. */
  watchdog: CallWatchdog;
  /** Whether another target is left: this one is asked again only with another key. Absent for a call with one target. */
  hasNext?: boolean | undefined;
  /** Whether the caller reports the attempt whose head is a success, once it knows whether another target follows. */
  isHeld?: boolean | undefined;
  /** Called when the last attempt has failed. */
  onFailure?: ((failed: FailedAttempt) => void) | undefined;
  /** The paid work; absent for a free request. */
  work?: SentWork | undefined;
}

/** The work that a request is sent for. */
interface SentWork {
  /** Called when an attempt begins. Returns its number among all of the work. */
  noteAttempt?(): number;
  /** The attempts in its record, from the first one on that has failed. */
  readonly work?: { asked: { attempts?: readonly AttemptRecord[] | undefined } };
  /**
   * Called with true once an attempt's request has been written, from which moment it may be billed, and with false if the
   * upstream has then refused it. An attempt whose answer is lost remains sent.
   */
  noteSent(isSent: boolean): void;
  /** The price of an attempt whose answer is lost, in credits; undefined if it is not known. */
  lostCredits(): string | undefined;
}

/** A form is read again for each attempt; a blob stays one piece of memory for any number of requests. */
export type UpstreamBody = string | readonly Uint8Array[] | Blob | OutgoingForm;

/**
 * Throws `upstream_unreachable` or `upstream_timeout` without an answer, `upstream_invalid_answer` if the answer is not
 * valid HTTP (there is no further attempt, because the upstream may have performed the request) or a redirection,
 * `provider_key_refused` if the upstream refuses all keys, and the abort's own reason if the call was ended from outside.
 */
export async function sendUpstream(deps: SendDependencies, call: UpstreamCall): Promise<StreamReply | FailedReply> {
  const { send: options } = deps;
  const { watchdog, target, method, work, hasNext } = call;
  const circuits = work === undefined ? undefined : deps.circuits;
  // A call with several targets notes one outcome for all attempts at one of them.
  const isNoted = hasNext === undefined;
  const attempts = new Attempts(call, options, deps.environment.randomFraction);
  for (;;) {
    const attempt = attempts.begin();
    if (attempt === undefined) throw refusedKeys(call);
    const { key } = attempt;
    const number = work?.noteAttempt?.() ?? attempt.number;
    const begunAt = performance.now();
    const openings = circuits?.openings ?? 0;
    let waitMs: number | undefined;
    let kept: GatewayError | undefined;
    let isSent = false;
    const noteSent = (sent: boolean): void => {
      if (sent !== isSent) work?.noteSent(sent);
      isSent = sent;
    };
    watchdog.expect(options.firstByteMsMax, "The upstream did not begin to answer in time.");
    try {
      const { status, headers, body } = await ask(deps, call, key, noteSent);
      if (status >= 200 && status < 300) {
        noteSuccess(circuits, { target, method, openings, isNoted }, key, headers);
        return succeeded(deps, call, { key, number, begunAt }, { status, headers, body });
      }
      noteSent(false);
      const { reply, failure } = await readFailure(deps, call, key, { status, headers, body });
      const failed = { failure, status, isSent };
      waitMs = waitUnlessOpen(circuits, { target, openings, isNoted }, failure, attempts.waitAfter(attempt, failed));
      reportAttempt(deps, call, { key, number }, { begunAt, status, headers, failure, waitMs });
      if (waitMs === undefined) call.onFailure?.(failed);
      if (waitMs === undefined) kept = keptFromClient(target.route.prefix, failed);
      if (waitMs === undefined && kept === undefined) return reply;
    } catch (cause) {
      const { signal } = watchdog.abort;
      const failure = signal.aborted ? abortedUpstream(signal.reason) : unansweredBy(cause);
      const failed = { failure, status: undefined, isSent };
      waitMs = waitUnlessOpen(circuits, { target, openings, isNoted }, failure, attempts.waitAfter(attempt, failed));
      const unbilled = isSent && failure !== "abandoned" ? work?.lostCredits() : undefined;
      reportAttempt(deps, call, { key, number }, { begunAt, status: undefined, failure, waitMs, unbilled });
      if (waitMs === undefined) call.onFailure?.(failed);
      if (signal.aborted) throw signal.reason;
      if (waitMs === undefined) throw cause instanceof BadReply ? invalid(target, cause) : unreachable(target, cause);
    } finally {
      watchdog.stopWaiting();
    }
    if (kept !== undefined) throw kept;
    await sleep(waitMs ?? 0, watchdog.abort.signal);
  }
}

/** All keys of the provider are refused, so that it is not asked at all. */
function refusedKeys({ target, onFailure }: UpstreamCall): GatewayError {
  onFailure?.({ failure: refusedByAll, status: undefined, isSent: false });
  return keyRefused(target.route.prefix);
}

/** The delay before the same target is asked again; undefined if the failure has opened its circuit, or it was open before. */
function waitUnlessOpen(
  circuits: Circuits | undefined,
  asked: Asked,
  failure: AnyFailure,
  waitMs: number | undefined,
): number | undefined {
  // Another key comes at once: the failure was that of a key.
  if (circuits === undefined || waitMs === 0) return waitMs;
  if (asked.isNoted) noteOutcome(circuits, asked, circuitOutcomeOf(failure));
  return circuits.isOpen(circuitIdOf(asked.target)) ? undefined : waitMs;
}

interface Asked extends Pick<UpstreamCall, "target" | "method"> {
  /** The openings of circuits before the attempt. */
  openings: number;
  isNoted: boolean;
}

/** The head of an answer has come. As long as nothing has failed, there is nothing to be learnt from it. */
function noteSuccess(circuits: Circuits | undefined, asked: Asked, key: Key, headers: ReplyHeaders): void {
  const { keys } = asked.target.route;
  if (keys.learns) keys.noteAnswer(key, rateRoomOf(headers), operationName(asked));
  if (asked.isNoted && circuits?.isWatching === true) noteOutcome(circuits, asked, "works");
}

function noteOutcome(circuits: Circuits, { target, openings }: Asked, outcome: CircuitOutcome): void {
  circuits.note({ id: circuitIdOf(target), openings, isProbe: false }, outcome);
}

/** An attempt that was answered with a success, reported unless the call holds it. */
function succeeded(
  deps: SendDependencies,
  call: UpstreamCall,
  { key, number, begunAt }: { key: Key; number: number; begunAt: number },
  { status, headers, body }: Pick<StreamReply, "status" | "headers" | "body">,
): StreamReply {
  const headAt = performance.now();
  const reply: StreamReply = { kind: "stream", status, headers, body, keyId: key.id, attempt: number, begunAt, headAt };
  if (call.isHeld !== true) reportAttempt(deps, call, { key, number }, answered(reply));
  return reply;
}

/** The start of an attempt, and its outcome. */
interface AttemptResult {
  /** By the performance clock. */
  begunAt: number;
  status: number | undefined;
  /** Of the answer; absent without one. */
  headers?: ReplyHeaders;
  failure: AnyFailure | undefined;
  /** Until the next attempt; absent if none follows. */
  waitMs?: number | undefined;
  unbilled?: string | undefined;
  /** Its duration; by default until now. */
  milliseconds?: number;
}

/** The result of an attempt that was answered with a success. */
export function answered({ begunAt, headAt, status, headers }: StreamReply): AttemptResult {
  return { begunAt, status, headers, failure: undefined, milliseconds: headAt - begunAt };
}

/** Notifies the observer and the work of an attempt, once. */
export function reportAttempt(
  { observer, environment }: { observer: SendDependencies["observer"]; environment: Pick<Environment, "clock"> },
  { workId, target, work }: Pick<UpstreamCall, "workId" | "target" | "work">,
  { key, number }: { key: Pick<Key, "id">; number: number },
  {
    begunAt,
    status,
    headers,
    failure: failed,
    waitMs,
    unbilled,
    milliseconds = performance.now() - begunAt,
  }: AttemptResult,
): void {
  const provider = target.route.prefix;
  const failure = typeof failed === "object" ? failed.name : failed;
  const upstreamRequestId =
    failure === undefined || headers === undefined ? undefined : boundedIdOf(headers, target.route.keys);
  observer.attempted?.({
    workId,
    provider,
    model: target.model,
    keyId: key.id,
    attempt: number,
    status,
    upstreamRequestId,
    failure,
    begunAt,
    milliseconds,
    retryInMs: waitMs,
    unbilled,
  });
  const asked = work?.work?.asked;
  if (asked === undefined || (failure === undefined && asked.attempts === undefined)) return;
  const noted: AttemptRecord = {
    number,
    provider,
    model: target.model ?? "",
    key: key.id,
    class: failure,
    status,
    codes: typeof failed === "object" ? failed.codes : undefined,
    upstreamRequestId: upstreamRequestId ?? (headers && boundedIdOf(headers, target.route.keys)),
    startedAt: environment.clock() - Math.round(performance.now() - begunAt),
    milliseconds,
    unbilled,
  };
  asked.attempts = [...(asked.attempts ?? []), noted];
}

/** An id as records have it: a longer one could not be in an index. */
function boundedIdOf(...answer: Parameters<typeof upstreamRequestIdOf>): string | undefined {
  return loggableId(upstreamRequestIdOf(...answer));
}

/** The gateway stopped waiting, or the client disconnected. */
function abortedUpstream(reason: unknown): AnyFailure {
  return reason instanceof GatewayError && reason.code === "upstream_timeout" ? silentUpstream : "abandoned";
}

/** There was no answer, or none in valid HTTP. */
function unansweredBy(cause: unknown): FailureClass {
  if (cause instanceof StaleConnection) return staleConnection;
  return cause instanceof BadReply ? invalidAnswer : unreachableUpstream;
}

function ask(
  { environment, send: { connectMsMax } }: SendDependencies,
  call: UpstreamCall,
  key: Key,
  onSent: (isSent: boolean) => void,
): Promise<UpstreamReply> {
  const { target, watchdog, body } = call;
  const isForm = typeof body === "object" && "open" in body;
  const headers = upstreamHeaders(call, key);
  return (call.ask ?? environment.ask)({
    url: (target.operation.baseUrl ?? target.route.baseUrl) + target.operation.path + (call.subpath ?? ""),
    method: call.method ?? "POST",
    headers: isForm ? formHeaders(headers, body) : headers,
    body: isForm ? body.open() : body,
    signal: watchdog.abort.signal,
    connectMsMax,
    onSent,
  });
}

/** The length is sent because some upstreams refuse a body without it. */
function formHeaders(headers: Headers, { contentType, length }: OutgoingForm): Headers {
  const own = new Headers(headers);
  own.set("content-type", contentType);
  own.set("content-length", String(length));
  return own;
}

/** No connection to the upstream, or none that lasted until an answer. */
export function unreachable({ route }: UpstreamCall["target"], cause: unknown): GatewayError {
  return new GatewayError("upstream_unreachable", `The upstream of ${route.prefix} could not be reached.`, { cause });
}

function invalid({ route }: UpstreamCall["target"], cause: BadReply): GatewayError {
  const message = `The upstream of ${route.prefix} answered with something that is no HTTP.`;
  return new GatewayError("upstream_invalid_answer", message, { cause });
}

async function readFailure(
  { environment, send }: SendDependencies,
  { target, method, watchdog }: UpstreamCall,
  key: Key,
  { status, headers, body: replyBody }: UpstreamReply,
): Promise<{ reply: FailedReply; failure: FailureClass }> {
  watchdog.expect(send.idleMsMax, "The upstream's answer fell silent.");
  const body = await readError(replyBody, watchdog);
  const { route } = target;
  const failure = classifyFailure(route.provider.failures, { status, headers, body }, environment.clock());
  route.keys.note(key, failure, operationName({ target, method }));
  return { reply: { kind: "failed", status, headers, body: route.keys.redact(body) }, failure };
}

async function readError(body: ReplyBody, watchdog: CallWatchdog): Promise<string> {
  try {
    const read = await collectBody(body, limits.upstreamErrorBytesMax, () => watchdog.restart());
    return "bytes" in read ? read.bytes.toString("utf8") : "";
  } catch {
    // The status is known; a body that breaks off or stalls adds nothing.
    return "";
  }
}

function sleep(milliseconds: number, signal: CallSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const wake: AbortListener = {
    handleEvent() {
      clearTimeout(timer);
      reject(signal.reason);
    },
  };
  const timer = setTimeout(() => {
    signal.removeEventListener("abort", wake);
    resolve();
  }, milliseconds);
  signal.addEventListener("abort", wake);
  return promise;
}
