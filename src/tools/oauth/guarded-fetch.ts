/** Requests to the addresses that a server names, behind the guard of addresses: over https, or over http on this machine. */
import { isTrustedOrigin } from "../../config/index.ts";
import { GatewayError, type JsonObject, parseObject } from "../../core/index.ts";
import type { Outbound } from "../../outbound/index.ts";
import { collectBody } from "../../upstream/index.ts";

const BYTES_MAX = 1024 * 1024;
export const TIMEOUT_MS = 10_000;

/** The longest address that a server may name. */
export const ADDRESS_CHARACTERS_MAX = 2_048;

/** Requests to a server and to the addresses that it names. */
export type GuardedOutbound = Pick<Outbound, "fetch" | "check">;

interface GuardedRequest {
  method?: "GET" | "POST";
  headers?: Headers;
  body?: string;
}

/** The whole answer. No redirect is followed. Throws if the address is not permitted, or if the answer does not come. */
export async function guardedFetch(
  outbound: Pick<Outbound, "fetch">,
  url: string,
  request: GuardedRequest = {},
): Promise<Response> {
  requireTrusted(url);
  const reply = await outbound.fetch({ ...request, url, bytesMax: BYTES_MAX, timeoutMs: TIMEOUT_MS });
  const collected = await collectBody(reply.body, BYTES_MAX);
  if (!("bytes" in collected)) throw new Error("its answer is too long");
  const { status } = reply;
  const headers = new Headers();
  for (const name of ["content-type", "www-authenticate"]) {
    const value = reply.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const hasBody = status !== 204 && status !== 304 && status >= 200;
  return new Response(hasBody ? new Uint8Array(collected.bytes) : null, { status: Math.max(200, status), headers });
}

/** The JSON object at an address; undefined if there is none. */
export async function fetchObject(outbound: Pick<Outbound, "fetch">, url: string): Promise<JsonObject | undefined> {
  const answer = await guardedFetch(outbound, url, { headers: new Headers({ accept: "application/json" }) });
  return answer.ok ? parseObject(await answer.text()) : undefined;
}

/** Throws unless nobody on the way may change the answers from there. */
export function requireTrusted(address: string): void {
  if (address.length > ADDRESS_CHARACTERS_MAX) throw new Error("an address is too long");
  if (!URL.canParse(address) || !isTrustedOrigin(new URL(address))) throw new Error("an address is not behind https");
}

/** A server whose sign-in cannot be begun or ended. `problem` ends the message. */
export function signInFailed(server: string, problem: string, cause?: unknown): GatewayError {
  return new GatewayError("upstream_invalid_answer", `The sign-in at the server ${server} has failed: ${problem}.`, {
    cause,
  });
}
