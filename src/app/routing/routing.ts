/** The part of the composition that some commands need alone: from the configuration to the routes of its models. */
import { isDeepStrictEqual } from "node:util";
import { type Config, ConfigError, type ProviderConfig, providerKeys } from "../../config/index.ts";
import type { Environment } from "../../core/index.ts";
import {
  ModelList,
  KeyPool,
  ModelRouter,
  type Overrides,
  type RefusedKey,
  type UpstreamRoute,
} from "../../routing/index.ts";
import { checkTargets, internalModels, modelRoutesOf } from "./model-routes.ts";
import {
  type CatalogLayers,
  type MarkupOf,
  markupsOf,
  OperatorCatalog,
  openCatalogStore,
  PriceBook,
  priceFactorsOf,
} from "../../pricing/index.ts";
import { createProvider, type Provider } from "../../providers/index.ts";
import type { Storage } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";

export interface RoutingOptions {
  config: Config;
  /** Providers without a key, with the variable to set. */
  missingKeys: ReadonlyMap<string, string>;
  /** Providers answered by a simulator: prefix → its base URL. */
  sandbox: ReadonlyMap<string, string>;
  environment: Environment;
  /** The price catalogs; the built-in one alone by default. */
  catalogs?: CatalogLayers | undefined;
  /** For keys that are refused. */
  logger?: Logger;
  /** Called when a key has been refused three times in a row for an operation, and when it works again. */
  onKeyChange?: ((prefix: string, key: RefusedKey, change: "refused" | "works") => void) | undefined;
  /** Called when a call is refused since its model has no price. */
  onUnpriced?: ((name: string) => void) | undefined;
  /** The targets that the operator has disabled; absent for a command. */
  overrides?: Overrides | undefined;
}

/** Opens the operator's price catalog; undefined if the configuration has none. */
export async function openOperatorCatalog(
  { pricing: { catalog: location, catalog_refresh: refreshMs } }: Config,
  { storage, environment, logger }: { storage: Storage; environment: Environment; logger: Logger },
): Promise<OperatorCatalog | undefined> {
  if (location === undefined) return undefined;
  const { fetch, clock } = environment;
  return OperatorCatalog.open({ location, refreshMs, store: openCatalogStore(storage), fetch, clock, log: logger });
}

/** The price catalogs of a configuration that replaces another one: the same one if its location and interval stay. */
export async function nextCatalog(
  { config, catalog }: { config: Config; catalog: OperatorCatalog | undefined },
  next: Config,
  parts: { storage: Storage; environment: Environment; logger: Logger },
): Promise<OperatorCatalog | undefined> {
  const { catalog: location, catalog_refresh: refreshMs } = next.pricing;
  if (location === config.pricing.catalog && refreshMs === config.pricing.catalog_refresh) return catalog;
  const opened = await openOperatorCatalog(next, parts);
  if (opened?.isInForce !== false) return opened;
  opened.close();
  throw new ConfigError("pricing.catalog", "it can't be read, or is no price catalog; the log has the reason");
}

/** Checks all that a configuration can fail at besides its form. Rejects with a `ConfigError`. */
export async function checkRouting(
  { config, missingKeys }: Pick<RoutingOptions, "config" | "missingKeys">,
  parts: { storage: Storage; environment: Environment; logger: Logger },
): Promise<void> {
  const catalog = await openOperatorCatalog(config, parts);
  catalog?.close();
  const { environment } = parts;
  createModelRouter({ config, missingKeys, sandbox: new Map(), environment, catalogs: catalog?.layers });
}

/** The merged list of models, for a command without ledger and server. */
export function createModelList(
  options: RoutingOptions & { logger: Logger },
  router = createModelRouter(options),
): ModelList {
  const { config, environment, logger } = options;
  return new ModelList({
    routes: router.routes,
    priced: Object.keys(config.pricing.models).filter((id) => !id.includes("*")),
    environment,
    onFailure: (prefix, reason) => logger.warn({ provider: prefix, reason: String(reason) }, "listing failed"),
  });
}

/** The routes of an earlier configuration. */
interface EarlierRoutes {
  config: Config;
  router: Pick<ModelRouter, "withPrefix">;
}

/** The routes and prices of the configured providers' models. A provider that is the same as before keeps the state of its keys. */
export function createModelRouter(options: RoutingOptions, before?: EarlierRoutes): ModelRouter {
  const { config, missingKeys, sandbox, environment, logger, onKeyChange, onUnpriced, overrides } = options;
  const prices = createPriceBook(options);
  const routes = Object.entries(config.providers).map(([prefix, provider]): UpstreamRoute => {
    const simulator = sandbox.get(prefix);
    const earlier = before?.router.withPrefix(prefix);
    const isSame = isDeepStrictEqual(provider, before?.config.providers[prefix]);
    const internal = internalModels(config, [prefix, ...provider.aliases]);
    // The routes of models may have changed all the same.
    if (earlier !== undefined && isSame && earlier.baseUrl === (simulator ?? provider.base_url))
      return { ...earlier, internal };
    const keys = simulator === undefined ? providerKeys(provider) : [{ secret: "simulated" }];
    return {
      prefix,
      aliases: provider.aliases,
      internal,
      provider: inDialects(prefix, createProvider(choiceOf(provider), simulator), provider.dialects),
      baseUrl: simulator ?? provider.base_url,
      keys: new KeyPool(keys, environment.clock, {
        onChange(key, change) {
          const line = { provider: prefix, key_id: key.keyId, path: key.operation };
          if (change === "works") logger?.info(line, "key works again");
          else logger?.error(line, "key is refused");
          onKeyChange?.(prefix, key, change);
        },
      }),
      sandbox: simulator !== undefined,
      sharedStores: provider.shared_stores,
      listing: { listed: [] },
      requiredVariable: simulator === undefined ? missingKeys.get(prefix) : undefined,
    };
  });
  const aliases = config.models.aliases ?? (sandbox.size > 0 ? sandboxAliases(config) : {});
  const router = new ModelRouter(routes, prices, {
    aliases,
    modelRoutes: modelRoutesOf(config),
    overrides,
    onUnpriced,
  });
  checkTargets(router, config);
  return router;
}

/** The earlier routes of the providers that are changed or gone. */
export function changedProviders(router: ModelRouter, before: ModelRouter | undefined): UpstreamRoute[] {
  const kept = new Set(router.routes.map(({ keys }) => keys));
  return (before?.routes ?? []).filter(({ keys }) => !kept.has(keys));
}

/** The names that Claude Code and Codex have built in, so that they work in a sandbox without any configuration. */
function sandboxAliases({ providers }: Config): Record<string, string> {
  return {
    ...("anthropic" in providers && { "claude-*": "anthropic/claude-*" }),
    ...("openai" in providers && { "gpt-*": "openai/gpt-*" }),
  };
}

/** The prices of all layers that are configured. */
export function createPriceBook({ config, environment, catalogs }: RoutingOptions): PriceBook {
  const { models: operatorPrices, unpriced } = config.pricing;
  const markupOf = createMarkups(config);
  const places = Object.entries(config.providers).map(([prefix, { base_url: baseUrl, price_factor: priceFactor }]) => {
    return [prefix, { baseUrl, priceFactor }] as const;
  });
  const factorOf = priceFactorsOf(Object.fromEntries(places));
  return new PriceBook({ operatorPrices, unpriced, catalogs, markupOf, factorOf, clock: environment.clock });
}

/** The operator's factors on prices. */
export function createMarkups({ pricing: { markup, markups } }: Config): MarkupOf {
  return markupsOf(markups, markup);
}

/**
 * The provider without the operations whose dialect the configuration excludes; operations without a dialect stay. Throws if it
 * has none of the dialects.
 */
function inDialects(prefix: string, provider: Provider, dialects: readonly string[] | undefined): Provider {
  if (dialects === undefined) return provider;
  const own = ["chat", "responses", "messages", "gemini"].filter((dialect) => dialect in provider.operations);
  if (!dialects.some((dialect) => own.includes(dialect)))
    throw new ConfigError(`providers.${prefix}.dialects`, `a provider of this kind has ${own.join(" and ")} only`);
  const kept = Object.entries(provider.operations).filter(
    ([, { dialect }]) => dialect === undefined || dialects.includes(dialect),
  );
  return { ...provider, operations: Object.fromEntries(kept) };
}

function choiceOf({
  kind,
  preset,
  base_url: baseUrl,
  usage_includes_cache: usageIncludesCache,
  dialects,
}: ProviderConfig) {
  return { kind, preset, baseUrl, usageIncludesCache, dialects };
}
