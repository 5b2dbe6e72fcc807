/** The part of the composition that some commands need alone: from the configuration to the routes of its models. */
import { type Config, type ProviderConfig, providerKeys } from "./config/index.ts";
import type { Environment } from "./core/index.ts";
import { ModelList } from "./models/index.ts";
import { PriceBook } from "./pricing/index.ts";
import { createProvider, type Provider } from "./providers/index.ts";
import { KeyPool, ModelRouter, type UpstreamRoute } from "./routing/index.ts";
import type { Logger } from "./telemetry/index.ts";

export interface RoutingOptions {
  config: Config;
  /** Providers without a key, with the variable to set. */
  missingKeys: ReadonlyMap<string, string>;
  /** Providers answered by a simulator: prefix → its base URL. */
  sandbox: ReadonlyMap<string, string>;
  environment: Environment;
}

/** The merged list of models, for a command without ledger and server. */
export function createModelList(
  options: RoutingOptions & { logger: Logger },
  router = createModelRouter(options),
): ModelList {
  const { environment, logger } = options;
  return new ModelList({
    routes: router.routes,
    environment,
    onFailure: (prefix, reason) => logger.warn({ provider: prefix, reason: String(reason) }, "listing failed"),
  });
}

/** The routes and prices of the configured providers' models. */
export function createModelRouter({ config, missingKeys, sandbox, environment }: RoutingOptions): ModelRouter {
  const prices = new PriceBook({
    operatorPrices: config.pricing.models,
    unpriced: config.pricing.unpriced,
    clock: environment.clock,
  });
  const routes = Object.entries(config.providers).map(([prefix, provider]): UpstreamRoute => {
    const simulator = sandbox.get(prefix);
    const keys = simulator === undefined ? providerKeys(provider) : ["simulated"];
    return {
      prefix,
      aliases: provider.aliases,
      provider: inDialects(createProvider(choiceOf(provider)), provider.dialects),
      baseUrl: simulator ?? provider.base_url,
      keys: new KeyPool(keys, environment.clock),
      sandbox: simulator !== undefined,
      sharedStores: provider.shared_stores,
      requiredVariable: simulator === undefined ? missingKeys.get(prefix) : undefined,
    };
  });
  return new ModelRouter(routes, prices);
}

/** The provider without the operations whose dialect the configuration excludes; operations without a dialect stay. */
function inDialects(provider: Provider, dialects: readonly string[] | undefined): Provider {
  if (dialects === undefined) return provider;
  const kept = Object.entries(provider.operations).filter(
    ([, { dialect }]) => dialect === undefined || dialects.includes(dialect),
  );
  return { ...provider, operations: Object.fromEntries(kept) };
}

function choiceOf({ kind, preset, base_url: baseUrl }: ProviderConfig) {
  return { kind, preset, baseUrl };
}
