/**
 * One call to an upstream, with as many attempts as make sense. Another attempt follows only where the client has
 * received nothing: a failed connection, 500, 502, or 429 and 503 with a wait that is short enough, or with another key.
 */
import {
  type AbortListener,
  type CallSignal,
  type Environment,
  GatewayError,
  limits,
  type ReplyBody,
  type ReplyHeaders,
  type UpstreamReply,
} from "../core/index.ts";
import { BadReply, collectBody } from "../upstream/index.ts";
import type { OutgoingForm } from "../uploads/index.ts";
import { judgeFailure, type Verdict } from "./judge-failure.ts";
import { type UpstreamHead, upstreamHeaders } from "./headers.ts";
import type { Patience } from "./patience.ts";

export interface SendOptions {
  retries: number;
  retryAfterMsMax: number;
  firstByteMsMax: number;
  idleMsMax: number;
}

/** What is used of the outside world. */
export type SendEnvironment = Pick<Environment, "clock" | "randomFraction" | "ask">;

export interface UpstreamCall extends UpstreamHead {
  /** POST, where it is left out. */
  method?: "GET" | "DELETE";
  /** What follows the operation's path. */
  below?: string;
  body?: UpstreamBody;
  /** Its abort ends the call: the client went away, or the gateway gave up. */
  patience: Patience;
}

/** A form is read anew for each attempt; a blob is one piece of memory, however many requests send it. */
export type UpstreamBody = string | Uint8Array | Blob | OutgoingForm;

/** A success whose body is still to come, or a failure read whole. */
export type UpstreamAnswer =
  | { ok: true; reply: UpstreamReply }
  | { ok: false; status: number; headers: ReplyHeaders; body: string };

type Failure = Extract<UpstreamAnswer, { ok: false }>;

/** Waits between attempts grow from this, halved or not by chance, up to the cap. */
const BACKOFF_MS = 250;
const BACKOFF_MS_MAX = 4_000;

/**
 * Throws `upstream_unreachable` or `upstream_timeout` where no answer came, `upstream_invalid_answer` where what came is
 * none (it is not asked for again, since the upstream may have done the work), and the abort's own reason where the call
 * was ended from outside.
 */
export async function sendUpstream(
  environment: SendEnvironment,
  options: SendOptions,
  call: UpstreamCall,
): Promise<UpstreamAnswer> {
  const { patience, target } = call;
  for (let attempt = 0; ; attempt += 1) {
    const last = attempt >= options.retries;
    const key = takeKey(target);
    let waitMs: number | undefined;
    patience.expect(options.firstByteMsMax, "The upstream did not begin to answer in time.");
    try {
      const reply = await ask(environment, call, key);
      if (reply.status >= 200 && reply.status < 300) return { ok: true, reply };
      const { answer, verdict } = await readFailure(environment, options, call, key, reply);
      waitMs = last ? undefined : waitFor(verdict, target.route.keys.hasOther(key), options, environment, attempt);
      if (waitMs === undefined) return answer;
    } catch (cause) {
      const { signal } = patience.abort;
      if (signal.aborted) throw signal.reason;
      if (cause instanceof BadReply) throw invalid(target, cause);
      if (last) throw unreachable(target, cause);
      waitMs = backoff(environment, attempt);
    } finally {
      patience.rest();
    }
    await sleep(waitMs, patience.abort.signal);
  }
}

function takeKey({ route }: UpstreamCall["target"]): string {
  const key = route.keys.take();
  if (key === undefined) throw new Error(`provider ${route.prefix} is routed without a key`);
  return key;
}

function ask(environment: SendEnvironment, call: UpstreamCall, key: string): Promise<UpstreamReply> {
  const { target, patience, body } = call;
  const isForm = typeof body === "object" && "open" in body;
  const headers = upstreamHeaders(call, key);
  return environment.ask({
    url: target.route.baseUrl + target.operation.path + (call.below ?? ""),
    method: call.method ?? "POST",
    headers: isForm ? formHeaders(headers, body) : headers,
    body: isForm ? body.open() : body,
    signal: patience.abort.signal,
  });
}

/** Its length is told, since not every upstream takes a body without. */
function formHeaders(headers: Headers, { contentType, length }: OutgoingForm): Headers {
  const own = new Headers(headers);
  own.set("content-type", contentType);
  own.set("content-length", String(length));
  return own;
}

function unreachable({ route }: UpstreamCall["target"], cause: unknown): GatewayError {
  return new GatewayError("upstream_unreachable", `The upstream of ${route.prefix} could not be reached.`, { cause });
}

function invalid({ route }: UpstreamCall["target"], cause: BadReply): GatewayError {
  const message = `The upstream of ${route.prefix} answered with something that is no HTTP.`;
  return new GatewayError("upstream_invalid_answer", message, { cause });
}

async function readFailure(
  environment: SendEnvironment,
  options: SendOptions,
  { target: { route }, patience }: UpstreamCall,
  key: string,
  { status, headers, body: replyBody }: UpstreamReply,
): Promise<{ answer: Failure; verdict: Verdict }> {
  patience.expect(options.idleMsMax, "The upstream's answer fell silent.");
  const body = await readError(replyBody, patience);
  const verdict = judgeFailure(route.provider.failures, status, headers, body, environment.clock());
  if (verdict.key !== "fine") route.keys.rest(key, verdict.key, verdict.retryAfterMs);
  return { answer: { ok: false, status, headers, body: route.keys.scrub(body) }, verdict };
}

async function readError(body: ReplyBody, patience: Patience): Promise<string> {
  try {
    const read = await collectBody(body, limits.upstreamErrorBytesMax, () => patience.heard());
    return "bytes" in read ? read.bytes.toString("utf8") : "";
  } catch {
    // The status is known; a body that breaks off or stalls tells no more.
    return "";
  }
}

/** How long to wait before the next attempt, or undefined where there is to be none. */
function waitFor(
  verdict: Verdict,
  otherKey: boolean,
  options: SendOptions,
  environment: SendEnvironment,
  attempt: number,
): number | undefined {
  if (verdict.key !== "fine" && otherKey) return 0;
  if (!verdict.retryable) return undefined;
  if (verdict.retryAfterMs === undefined) return verdict.needsRetryAfter ? undefined : backoff(environment, attempt);
  return verdict.retryAfterMs <= options.retryAfterMsMax ? verdict.retryAfterMs : undefined;
}

function backoff(environment: SendEnvironment, attempt: number): number {
  return Math.min(BACKOFF_MS * 2 ** attempt, BACKOFF_MS_MAX) * (0.5 + environment.randomFraction() / 2);
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
