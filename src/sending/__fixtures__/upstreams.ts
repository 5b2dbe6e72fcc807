/** Upstreams of every dialect for unit tests, with prices and keys, and a simulated environment. */
import type { Principal } from "../../auth/index.ts";
import type { Environment, Fetch, ModelOperation } from "../../core/index.ts";
import { PriceBook } from "../../pricing/index.ts";
import { createProvider, type ProviderChoice } from "../../providers/index.ts";
import { KeyPool, ModelRouter, type Target, type UpstreamRoute } from "../../routing/index.ts";
import { askByFetch } from "../../upstream/index.ts";
import type { UpstreamBody } from "../send.ts";

/** Two of a kind distinguish effects of the kind from effects of the upstream. */
const kinds: Readonly<Record<string, Omit<ProviderChoice, "baseUrl">>> = {
  openai: { kind: "openai" },
  azure: { kind: "openai" },
  anthropic: { kind: "anthropic" },
  google: { kind: "google" },
  xai: { kind: "xai" },
  byteplus: { kind: "byteplus" },
  deepseek: { kind: "openai-compatible", preset: "deepseek" },
  mistral: { kind: "openai-compatible", preset: "mistral" },
};

export const upstreamKey = "sk-key-of-the-upstream";

const routes = Object.entries(kinds).map(([prefix, choice]): UpstreamRoute => {
  const baseUrl = `https://${prefix}.test`;
  return {
    prefix,
    aliases: [],
    provider: createProvider({ ...choice, baseUrl }),
    baseUrl,
    keys: new KeyPool([upstreamKey], () => 0),
    sandbox: false,
    sharedStores: false,
    listing: { listed: [] },
    requiredVariable: undefined,
  };
});

export const router = new ModelRouter(
  routes,
  new PriceBook({ operatorPrices: { "*": { input_mtok: 1, output_mtok: 2 } }, unpriced: "refuse", clock: () => 0 }),
);

/** A user's token without restrictions. */
export function principalOf(user: string): Principal {
  return {
    tokenId: user,
    user,
    accountId: `token:${user}`,
    service: false,
    role: "member",
    models: undefined,
    rates: undefined,
    expiresAt: undefined,
  };
}

/** The target of a call to this model. */
export function targetOf(modelId: string, operations: readonly [ModelOperation, ...ModelOperation[]]): Target {
  return router.resolve(modelId, operations, principalOf("alice"));
}

/** The requests that were sent. */
export interface Fetched {
  url: string;
  method: string;
  headers: Headers;
  body: string;
}

/** An environment in which every upstream answers as `script` returns. */
export function worldOf(script: (fetched: Fetched) => Response): { environment: Environment; fetched: Fetched[] } {
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
