/**
 * Finds the authorization server of a server of tools, as the Model Context Protocol has it: the server's challenge names its metadata
 * (RFC 9728), that names the authorization server, and this has metadata of its own (RFC 8414, or OpenID Connect Discovery).
 */
import { type JsonObject, listOf, parseObject, stringOf } from "../../core/index.ts";
import { challengeParameters } from "./challenge.ts";
import {
  ADDRESS_CHARACTERS_MAX,
  fetchObject,
  type GuardedOutbound,
  requireTrusted,
  signInFailed,
} from "./guarded-fetch.ts";
import { withoutSlashes } from "./without-slashes.ts";

export interface FoundAuthorizationServer {
  /** The server of tools as tokens name it. */
  resource: string;
  /** The metadata, whose members are of the expected types as far as they are read. */
  metadata: JsonObject & { issuer: string; authorization_endpoint: string; token_endpoint: string };
  /** Those that the server asks for, separated by spaces; undefined if it names none. */
  scope: string | undefined;
}

interface Sought {
  /** For messages. */
  name: string;
  /** Of the server of tools. */
  url: string;
  outbound: GuardedOutbound;
}

/** Rejects with a `GatewayError` (502) if there is none that the gateway could use. */
export async function findAuthorizationServer(sought: Sought): Promise<FoundAuthorizationServer> {
  const { name, url, outbound } = sought;
  try {
    const challenge = challengeParameters(await challengeOf(sought));
    const described = await resourceMetadata(sought, challenge.get("resource_metadata"));
    const resource = described === undefined ? url : stringOf(described["resource"]);
    if (described !== undefined && !isResourceOf(resource, url))
      throw new Error("its metadata is about another resource");
    // Servers of the revision 2025-03-26 have no metadata of a resource: they are their own authorization servers.
    const issuer = stringOf(listOf(described?.["authorization_servers"])?.[0]) || new URL(url).origin;
    const supported = (listOf(described?.["scopes_supported"]) ?? []).map(stringOf).filter((each) => each !== "");
    const scope = challenge.get("scope") ?? (supported.length > 0 ? supported.join(" ") : undefined);
    return { resource, metadata: await issuerMetadata(outbound, issuer), scope };
  } catch (thrown) {
    throw signInFailed(name, thrown instanceof Error ? thrown.message : "it cannot be reached", thrown);
  }
}

/** The challenge to a request without credentials; null without one. */
async function challengeOf({ url, outbound }: Sought): Promise<string | null> {
  const headers = new Headers({ "content-type": "application/json", accept: "application/json, text/event-stream" });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "server/discover", params: {} });
  // The operator has chosen this address, also one that is not behind https.
  const reply = await outbound.fetch({ url, method: "POST", headers, body, bytesMax: 1024 * 1024, timeoutMs: 10_000 });
  reply.body.cancel();
  return reply.status === 401 ? reply.headers.get("www-authenticate") : null;
}

async function resourceMetadata({ url, outbound }: Sought, named: string | undefined): Promise<JsonObject | undefined> {
  const { origin, pathname } = new URL(url);
  const base = `${origin}/.well-known/oauth-protected-resource`;
  const path = withoutSlashes(pathname);
  const addresses = named === undefined ? [...new Set([base + path, base])] : [named];
  for (const address of addresses) {
    const found = await fetchObject(outbound, address);
    if (found !== undefined) return found;
  }
  if (named !== undefined) throw new Error("the metadata that its challenge names is not there");
  return undefined;
}

/** Whether a token for this resource is one for the server: it is the server's address, or one that contains it. */
function isResourceOf(resource: string, url: string): boolean {
  if (resource.length > ADDRESS_CHARACTERS_MAX || !URL.canParse(resource)) return false;
  const [named, own] = [new URL(resource), new URL(url)];
  return named.origin === own.origin && folderOf(own).startsWith(folderOf(named));
}

function folderOf({ pathname }: URL): string {
  return `${withoutSlashes(pathname)}/`;
}

/** Rejects unless the metadata is the issuer's own. */
export async function issuerMetadata(
  outbound: GuardedOutbound,
  issuer: string,
): Promise<FoundAuthorizationServer["metadata"]> {
  requireTrusted(issuer);
  const { origin, pathname } = new URL(issuer);
  const path = withoutSlashes(pathname);
  const wellKnown = `${origin}/.well-known/`;
  const addresses = [
    `${wellKnown}oauth-authorization-server${path}`,
    `${wellKnown}openid-configuration${path}`,
    ...(path === "" ? [] : [`${origin}${path}/.well-known/openid-configuration`]),
  ];
  for (const address of addresses) {
    const found = await fetchObject(outbound, address);
    if (found === undefined) continue;
    if (found["issuer"] !== issuer) throw new Error("the metadata of its authorization server is of another issuer");
    return checkedMetadata(found, issuer, outbound);
  }
  throw new Error("its authorization server has no metadata");
}

const endpoints = ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"] as const;

async function checkedMetadata(
  found: JsonObject,
  issuer: string,
  outbound: GuardedOutbound,
): Promise<FoundAuthorizationServer["metadata"]> {
  for (const endpoint of endpoints) if (found[endpoint] !== undefined) requireTrusted(stringOf(found[endpoint]));
  const { authorization_endpoint: page, token_endpoint: token } = found;
  if (typeof page !== "string" || typeof token !== "string")
    throw new Error("its authorization server has no such sign-in");
  // Browsers go there, but a page of the operator's own network is none of the server's business.
  await outbound.check(page, { timeoutMs: 10_000 });
  const methods = listOf(found["code_challenge_methods_supported"]) ?? [];
  if (!methods.includes("S256")) throw new Error("its authorization server does not support PKCE with S256");
  return { ...found, issuer, authorization_endpoint: page, token_endpoint: token };
}

/** A JSON object in a text that an answer contains. Throws if it is none. */
export function objectIn(text: string): JsonObject {
  const found = parseObject(text);
  if (found === undefined) throw new Error("its authorization server answers with no JSON");
  return found;
}
