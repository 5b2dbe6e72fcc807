import { createHash } from "node:crypto";
import { objectOf } from "../core/index.ts";
import type { ProviderConfig } from "./provider.ts";
import type { Config } from "./schema.ts";

const HASH_CHARACTERS = 16;

/** Secrets, which a node may have of its own. */
const KEYS: ReadonlySet<string> = new Set(["api_key", "api_keys", "keys"] satisfies (keyof ProviderConfig)[]);

/**
 * Hashes of the settings that all nodes should have alike: providers without keys, routes, prices. They contain no secret, and
 * are equal for configurations that mean the same, however they are written.
 */
export function fingerprintOf({ providers, routing, models, pricing }: Config): Record<string, string> {
  const keyless = Object.entries(providers).map(([prefix, provider]) => [prefix, withoutKeys(provider)]);
  return {
    providers: hashOf(Object.fromEntries(keyless)),
    // The first or the last of several globs counts, so that their order matters.
    routes: hashOf([routing, Object.entries(models.aliases ?? {})]),
    prices: hashOf([pricing, Object.keys(pricing.markups), Object.keys(pricing.models)]),
  };
}

function withoutKeys(provider: ProviderConfig): object {
  return Object.fromEntries(Object.entries(provider).filter(([key]) => !KEYS.has(key)));
}

function hashOf(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(value)))
    .digest("base64url")
    .slice(0, HASH_CHARACTERS);
}

/** The order of an object's keys says nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  const object = objectOf(value);
  if (object === undefined) return value;
  const entries = Object.entries(object).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    entries.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([key, member]) => [key, sorted(member)]),
  );
}
