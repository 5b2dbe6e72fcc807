import type { WorkOrder } from "../charges/index.ts";
import { type ReplyHeaders, version } from "../core/index.ts";
import type { AttemptRecord } from "../ledger/index.ts";
import type { Provider } from "../providers/index.ts";
import type { Key, Target, UpstreamRoute } from "../routing/index.ts";

/**
 * Headers cross the gateway by permission, in both directions. An upstream must not see a caller's token, cookies and
 * SDK telemetry; a caller must not see an upstream's cookies, organisation and the rate limits of our shared key.
 */
const FORWARDED_REQUEST_HEADERS = ["openai-beta", "x-client-request-id"];

/** Makes a simulator fail on request; never sent to real upstreams. */
const SIMULATOR_HEADERS = ["x-sim-fault"];
const FORWARDED_IN_SANDBOX = [...FORWARDED_REQUEST_HEADERS, ...SIMULATOR_HEADERS];

const RELAYED_RESPONSE_HEADERS = [
  "content-type",
  "content-disposition",
  "content-language",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
  "openai-processing-ms",
  "openai-version",
];

/** Values of almost every answer, which need not be searched for keys. */
const commonValues: ReadonlySet<string> = new Set([
  "application/json",
  "application/json; charset=utf-8",
  "text/event-stream",
  "text/event-stream; charset=utf-8",
]);

/** The names of request ids in upstreams' answers. */
const UPSTREAM_REQUEST_IDS = ["x-request-id", "request-id"];

type RelayingRoute = Pick<UpstreamRoute, "sandbox" | "keys">;

const USER_AGENT = `tollgate/${version}`;

/** The inputs of a call's headers, besides the key. */
export interface UpstreamHead {
  target: Pick<Target, "route" | "operation">;
  /** The requested media type. */
  accept: string;
  clientHeaders: Headers;
  /** Whether the body is the client's own, so that headers of its dialect apply to it. */
  passesThrough: boolean;
}

/** The headers of a call to an upstream. Must not be modified. */
export function upstreamHeaders(
  { target: { route, operation }, clientHeaders, passesThrough, accept }: UpstreamHead,
  key: Key,
): Headers {
  const own = ownHeaders(route.provider, key, operation.path, accept);
  const common = route.sandbox ? FORWARDED_IN_SANDBOX : FORWARDED_REQUEST_HEADERS;
  const headers = withForwarded(own, own, clientHeaders, common);
  if (!passesThrough || operation.forwardedHeaders === undefined) return headers;
  return withForwarded(headers, own, clientHeaders, operation.forwardedHeaders);
}

/** Adds the client's headers with these names; `own` is shared by all calls and stays unchanged. */
function withForwarded(headers: Headers, own: Headers, clientHeaders: Headers, names: readonly string[]): Headers {
  let all = headers;
  for (const name of names) {
    const value = clientHeaders.get(name);
    // The one control character that the server accepts. The upstream client would refuse it, and the upstream would
    // appear unreachable.
    if (value === null || value.includes("\u007f")) continue;
    if (all === own) all = new Headers(own);
    all.set(name, value);
  }
  return all;
}

/** The headers of a handshake for a session at an upstream. */
export function sessionHeaders(
  { target: { route, operation }, clientHeaders }: Pick<UpstreamHead, "target" | "clientHeaders">,
  key: Key,
): Record<string, string> {
  const headers: Record<string, string> = {
    "user-agent": USER_AGENT,
    ...route.provider.headers(key.secret, operation.path),
  };
  const names = route.sandbox ? FORWARDED_IN_SANDBOX : FORWARDED_REQUEST_HEADERS;
  for (const name of names) {
    const value = clientHeaders.get(name);
    if (value !== null && !value.includes("\u007f")) headers[name] = value;
  }
  return headers;
}

/** Headers independent of the caller, created once per key, path and media type. */
function ownHeaders(provider: Provider, key: Key, path: string, accept: string): Headers {
  // A few at most; scanning them is faster than concatenating a key.
  for (const head of key.cachedHeaders) if (head.path === path && head.accept === accept) return head.headers;
  const headers = new Headers({
    "content-type": "application/json",
    accept,
    // Relayed answers must be readable by intermediaries.
    "accept-encoding": "identity",
    "user-agent": USER_AGENT,
    ...provider.headers(key.secret, path),
  });
  key.cachedHeaders.push({ path, accept, headers });
  return headers;
}

/**
 * Of bytes that somebody else has written, relayed on the console's origin: no browser should guess that they are a page, nor run the
 * scripts of one.
 */
export const INERT_HEADERS = {
  "content-security-policy": "default-src 'none'; sandbox",
  "x-content-type-options": "nosniff",
} as const;

/** The same for an error of the upstream: its 401 is about the operator's key, not about the caller's token. */
export function relayedErrorHeaders(upstream: ReplyHeaders, route: RelayingRoute): Record<string, string> {
  const headers = relayedHeaders(upstream, route);
  headers["x-tollgate-error-source"] = "upstream";
  return Object.assign(headers, INERT_HEADERS);
}

/** The upstream's own id of a request. The keys are redacted. */
export function upstreamRequestIdOf(upstream: ReplyHeaders, { redact }: RelayingRoute["keys"]): string | undefined {
  let id: string | undefined;
  for (const name of UPSTREAM_REQUEST_IDS) id = upstream.get(name) ?? id;
  return id === undefined ? undefined : redact(id);
}

/** The headers of the answer to a client, from the upstream's. The keys are redacted, whatever the status. */
export function relayedHeaders(upstream: ReplyHeaders, { sandbox, keys }: RelayingRoute): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of RELAYED_RESPONSE_HEADERS) {
    const value = upstream.get(name);
    if (value !== null) headers[name] = commonValues.has(value) ? value : keys.redact(value);
  }
  const id = upstreamRequestIdOf(upstream, keys);
  if (id !== undefined) headers["x-upstream-request-id"] = id;
  if (sandbox) headers["x-tollgate-sandbox"] = "true";
  return headers;
}

/** Names the target that was asked last, and how many requests all providers together have got. */
export function setTarget(
  headers: Record<string, string>,
  { provider, model }: Pick<WorkOrder["source"], "provider" | "model">,
  attempts: number,
): void {
  headers["x-tollgate-provider"] = provider;
  headers["x-tollgate-model"] = `${provider}/${model}`;
  headers["x-tollgate-attempts"] = String(attempts);
}

/** Adds the classes of all failures to the headers of an error, in the order of the requests. */
export function withFailures(
  headers: Record<string, string>,
  attempts: readonly AttemptRecord[] = [],
): Record<string, string> {
  const failures = attempts.toSorted((a, b) => a.number - b.number).flatMap(({ class: name }) => name ?? []);
  if (failures.length > 0) headers["x-tollgate-failures"] = failures.join(", ");
  return headers;
}
