/**
 * One call to an upstream, with as many attempts as make sense. Another attempt follows only where the client has
 * received nothing: a failed connection, 500, 502, or 429 and 503 with a wait that is short enough, or with another key.
 */
import { type Environment, GatewayError, limits } from "../core/index.ts";
import { readBounded, type Ticker, watchSilence } from "../streaming/index.ts";
import { judgeFailure, type Verdict } from "./judge-failure.ts";
import { upstreamHeaders } from "./headers.ts";
import type { Target } from "../routing/index.ts";

export interface SendOptions {
  retries: number;
  retryAfterMsMax: number;
  firstByteMsMax: number;
  idleMsMax: number;
  ticker: Ticker;
}

export interface UpstreamCall {
  target: Target;
  body: string;
  streamed: boolean;
  clientHeaders: Headers;
  /** Ends the call: the client went away, or the gateway gave up. */
  abort: AbortController;
}

/** A success whose body is still to come, or a failure read whole. */
export type UpstreamAnswer =
  | { ok: true; response: Response }
  | { ok: false; status: number; headers: Headers; body: string };

/** Waits between attempts grow from this, halved or not by chance, up to the cap. */
const BACKOFF_MS = 250;
const BACKOFF_MS_MAX = 4_000;

type Attempt = { answer: UpstreamAnswer; retryInMs: number | undefined };

/**
 * Throws `upstream_unreachable` or `upstream_timeout` where no answer came, and the abort's own reason where the call
 * was ended from outside.
 */
export async function sendUpstream(
  environment: Environment,
  options: SendOptions,
  call: UpstreamCall,
): Promise<UpstreamAnswer> {
  for (let attempt = 0; ; attempt += 1) {
    const last = attempt >= options.retries;
    try {
      const { answer, retryInMs } = await sendOnce(environment, options, call, attempt);
      if (retryInMs === undefined || last) return answer;
      await sleep(retryInMs, call.abort.signal);
    } catch (reason) {
      if (last || !isUnreachable(reason)) throw reason;
      await sleep(backoff(environment, attempt), call.abort.signal);
    }
  }
}

async function sendOnce(
  environment: Environment,
  options: SendOptions,
  call: UpstreamCall,
  attempt: number,
): Promise<Attempt> {
  const { route } = call.target;
  const key = route.keys.take();
  if (key === undefined) throw new Error(`provider ${route.prefix} is routed without a key`);
  const response = await fetchAnswer(environment, options, call, key);
  if (response.ok) return { answer: { ok: true, response }, retryInMs: undefined };
  const body = await readError(response, options, call.abort);
  const verdict = judgeFailure(route.provider.failures, response.status, response.headers, body, environment.clock());
  if (verdict.key !== "fine") route.keys.rest(key, verdict.key, verdict.retryAfterMs);
  const answer = {
    ok: false,
    status: response.status,
    headers: response.headers,
    body: route.keys.scrub(body),
  } as const;
  return {
    answer,
    retryInMs: waitFor(verdict, route.keys.hasOther(key), options, () => backoff(environment, attempt)),
  };
}

/** How long to wait before the next attempt, or undefined where there is to be none. */
function waitFor(
  verdict: Verdict,
  otherKey: boolean,
  options: SendOptions,
  backoffMs: () => number,
): number | undefined {
  if (verdict.key !== "fine" && otherKey) return 0;
  if (!verdict.retryable) return undefined;
  if (verdict.retryAfterMs === undefined) return verdict.needsRetryAfter ? undefined : backoffMs();
  return verdict.retryAfterMs <= options.retryAfterMsMax ? verdict.retryAfterMs : undefined;
}

async function fetchAnswer(
  environment: Environment,
  options: SendOptions,
  call: UpstreamCall,
  key: string,
): Promise<Response> {
  const { target, abort } = call;
  const cancelTimeout = options.ticker.after(options.firstByteMsMax, () =>
    abort.abort(new GatewayError("upstream_timeout", "The upstream did not begin to answer in time.")),
  );
  try {
    return await environment.fetch(target.route.baseUrl + target.operation.path, {
      method: "POST",
      headers: upstreamHeaders(target.route, key, call.clientHeaders, call.streamed),
      body: call.body,
      signal: abort.signal,
      // The key must not follow a redirection to another host.
      redirect: "manual",
    });
  } catch (cause) {
    if (abort.signal.aborted) throw abort.signal.reason;
    throw new GatewayError("upstream_unreachable", `The upstream of ${target.route.prefix} could not be reached.`, {
      cause,
    });
  } finally {
    cancelTimeout();
  }
}

function isUnreachable(reason: unknown): boolean {
  return reason instanceof GatewayError && reason.code === "upstream_unreachable";
}

async function readError(response: Response, options: SendOptions, abort: AbortController): Promise<string> {
  if (response.body === null) return "";
  const silence = watchSilence(options.ticker, options.idleMsMax, () =>
    abort.abort(new GatewayError("upstream_timeout", "The upstream's answer fell silent.")),
  );
  try {
    const read = await readBounded(response.body, limits.upstreamErrorBytesMax, () => silence.heard());
    return "bytes" in read ? Buffer.from(read.bytes).toString("utf8") : "";
  } catch {
    // The status is known; a body that breaks off or stalls tells no more.
    return "";
  } finally {
    silence.end();
  }
}

function backoff(environment: Environment, attempt: number): number {
  return Math.min(BACKOFF_MS * 2 ** attempt, BACKOFF_MS_MAX) * (0.5 + environment.randomFraction() / 2);
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = (): void => {
    clearTimeout(timer);
    reject(signal.reason);
  };
  const timer = setTimeout(() => {
    signal.removeEventListener("abort", onAbort);
    resolve();
  }, milliseconds);
  signal.addEventListener("abort", onAbort, { once: true });
  return promise;
}
