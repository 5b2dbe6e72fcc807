/**
 * Calls from pages of other origins. A browser asks first (a preflight, without a token), and shows its page an answer only
 * if the headers here permit it. None lets a browser send cookies along: a page of another origin needs a token like any other client.
 */
import { matchesGlob } from "../core/index.ts";

/** The pages that may call the gateway. */
export interface CorsPolicy {
  /** Globs of origins; `*` alone is every origin. */
  origins: readonly string[];
  /** How long a browser may remember the answer to a preflight. */
  maxAgeMs: number;
}

type Fetch = (request: Request) => Response | Promise<Response>;

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";

/** The headers that a page may read without permission. */
const safelisted: ReadonlySet<string> = new Set([
  "cache-control",
  "content-language",
  "content-length",
  "content-type",
  "expires",
  "last-modified",
  "pragma",
  // No page can read it.
  "set-cookie",
]);

/** `fetch`, answering preflights and marking the answers that a page may read. Errors are readable like other answers. */
export function withCors(fetch: Fetch, policy: CorsPolicy | undefined): Fetch {
  if (policy === undefined || policy.origins.length === 0) return fetch;
  return (request) => {
    const origin = request.headers.get("origin");
    if (origin !== null && isPreflight(request)) return preflightAnswer(request, origin, policy);
    const answered = fetch(request);
    return answered instanceof Promise
      ? answered.then((response) => permit(response, origin, policy))
      : permit(answered, origin, policy);
  };
}

function isPreflight({ method, headers }: Request): boolean {
  return method === "OPTIONS" && headers.has("access-control-request-method");
}

/** Any header may be sent, since the SDKs send their own: routes ignore those that they do not know. */
function preflightAnswer({ headers: asked }: Request, origin: string, policy: CorsPolicy): Response {
  const headers = new Headers({ vary: "origin, access-control-request-headers" });
  const allowed = allowedOrigin(origin, policy);
  if (allowed === undefined) return new Response(null, { status: 204, headers });
  headers.set("access-control-allow-origin", allowed);
  headers.set("access-control-allow-methods", METHODS);
  headers.set("access-control-max-age", String(Math.floor(policy.maxAgeMs / 1_000)));
  const names = asked.get("access-control-request-headers");
  if (names !== null) headers.set("access-control-allow-headers", names);
  return new Response(null, { status: 204, headers });
}

function permit(response: Response, origin: string | null, policy: CorsPolicy): Response {
  // The server has answered a handshake itself already; pages may open WebSockets to any origin.
  if (response.status === 101) return response;
  const { headers } = response;
  if (!policy.origins.includes("*")) headers.append("vary", "origin");
  const allowed = origin === null ? undefined : allowedOrigin(origin, policy);
  if (allowed === undefined) return response;
  const exposed = [...headers.keys()].filter((name) => !safelisted.has(name) && name !== "vary");
  headers.set("access-control-allow-origin", allowed);
  headers.set("access-control-expose-headers", exposed.join(", "));
  return response;
}

/** The value for the origin's answers; undefined if its pages may not call. */
function allowedOrigin(origin: string, { origins }: CorsPolicy): string | undefined {
  if (origins.includes("*")) return "*";
  return origins.some((glob) => matchesGlob(glob, origin)) ? origin : undefined;
}
