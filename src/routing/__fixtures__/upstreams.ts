/** Upstreams of every dialect for unit tests, with prices and keys. */
import type { Principal } from "../../auth/index.ts";
import type { ModelOperation } from "../../core/index.ts";
import { PriceBook } from "../../pricing/index.ts";
import { createProvider, type ProviderChoice } from "../../providers/index.ts";
import { KeyPool } from "../key-pool.ts";
import { ModelRouter, type Target, type UpstreamRoute } from "../router.ts";

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
