/** The upstreams of `routing/` in a simulated environment. */
import type { Environment, Fetch } from "../../core/index.ts";
import { askByFetch } from "../../upstream/index.ts";
import type { UpstreamBody } from "../send.ts";

export { principalOf, router, targetOf, upstreamKey } from "../../routing/__fixtures__/upstreams.ts";

/** The requests that were sent. */
export interface Fetched {
  url: string;
  method: string;
  headers: Headers;
  body: string;
}

/** An environment in which every upstream answers as `script` returns. */
export function worldOf(script: (fetched: Fetched) => Response | Promise<Response>): { environment: Environment; fetched: Fetched[] } {
  const fetched: Fetched[] = [];
  const fetch: Fetch = async (url, init) => {
    const request = new Request(url, init);
    const seen = { url, method: request.method, headers: request.headers, body: await request.text() };
    fetched.push(seen);
    return script(seen);
  };
  const environment: Environment = {
    clock: () => 1_000_000,
    randomBytes: (size) => new Uint8Array(size),
    randomFraction: () => 0,
    fetch,
    ask: askByFetch(fetch),
    openSocket: () => Promise.reject(new Error("no socket is opened")),
  };
  return { environment, fetched };
}

/** A body in memory, as text. */
export function textOf(body: UpstreamBody): string {
  if (typeof body === "string") return body;
  if (!Array.isArray(body)) throw new Error("a body that is not in memory");
  return Buffer.concat(body as readonly Uint8Array[]).toString();
}

/** Options of sending under which a test's call is attempted once and never times out by itself. */
export const attemptOnce = {
  retries: 0,
  retryAfterMsMax: 0,
  connectMsMax: 10_000,
  firstByteMsMax: 60_000,
  totalMsMax: 1_800_000,
  idleMsMax: 60_000,
};
