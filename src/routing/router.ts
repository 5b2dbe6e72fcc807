import type { Principal } from "../auth/index.ts";
import { GatewayError, matchesGlob, type ModelOperation } from "../core/index.ts";
import type { ModelPrice, PriceBook, PricedModel, PriceOf } from "../pricing/index.ts";
import type { Provider, UpstreamOperation } from "../providers/index.ts";
import type { KeyPool } from "./key-pool.ts";
import { modalityOf } from "./model-operations.ts";

/** A configured provider that calls can be sent to. */
export interface UpstreamRoute {
  /** The model prefix: the key in the configuration. */
  prefix: string;
  aliases: readonly string[];
  provider: Provider;
  baseUrl: string;
  keys: KeyPool;
  /** Whether our simulator answers instead of the real upstream. */
  sandbox: boolean;
  /** Whether all callers may use files and other objects that the provider's account has and nobody here owns. */
  sharedStores: boolean;
  /** The environment variable to set if the provider has no key. Such a provider is not routed. */
  requiredVariable: string | undefined;
}

/** The destination of a call: the upstream, its version of the operation, and the price. */
export interface Target {
  route: UpstreamRoute;
  operation: UpstreamOperation;
  /** As the caller wrote it, with prefix. */
  modelId: string;
  /** The upstream's name of the model, without prefix. */
  model: string;
  price: ModelPrice;
  /** The price of another model of the provider. */
  priceOf: PriceOf;
}

/** The model that a model id refers to. */
interface ResolvedModel {
  route: UpstreamRoute;
  /** The name without prefix. */
  model: string;
  /** The id with the provider's prefix, even if the caller wrote an alias. */
  id: string;
}

/** The maximum number of cached model ids. */
const CACHED_MODELS_MAX = 5_000;

/** Resolves model ids to targets. */
export class ModelRouter {
  readonly routes: readonly UpstreamRoute[];
  readonly #byPrefix: ReadonlyMap<string, UpstreamRoute>;
  readonly #prices: PriceBook;
  /** The models that were called before, by the ids that callers wrote. */
  readonly #cache = new Map<string, ResolvedModel>();

  constructor(routes: readonly UpstreamRoute[], prices: PriceBook) {
    this.routes = routes;
    this.#prices = prices;
    this.#byPrefix = new Map(
      routes.flatMap((route) => [route.prefix, ...route.aliases].map((prefix) => [prefix, route] as const)),
    );
  }

  /** Finds a provider by its prefix or an alias. */
  withPrefix(prefix: string): UpstreamRoute | undefined {
    return this.#byPrefix.get(prefix);
  }

  /**
   * Resolves a model id to a target. `operations` are the requested operation and, after it, operations that can replace
   * it. Throws a `GatewayError` (404) if the model has no known prefix, if the token may not use it, if the provider has
   * none of the operations or no key, or if the model has no price for the requested operation.
   */
  resolve(modelId: string, operations: readonly [ModelOperation, ...ModelOperation[]], principal: Principal): Target {
    const cached = this.#cache.get(modelId);
    const resolved = cached ?? this.#parse(modelId);
    const { route, model, id } = resolved;
    requireUse(principal, resolved, modelId);
    const upstreamOperation = firstOf(operations, route);
    if (upstreamOperation === undefined) {
      throw new GatewayError(
        "unsupported_operation",
        `The provider ${route.prefix} has no ${operations[0]} operation. It has ${Object.keys(route.provider.operations).join(", ") || "none"}.`,
        {
          param: "model",
        },
      );
    }
    requireKey(route);
    const price = this.#priceOf(resolved);
    const [requested] = operations;
    if (price?.modalities.has(modalityOf[requested]) !== true) {
      const lacking = price === undefined ? "no price" : `no price for the ${requested} operation`;
      throw new GatewayError(
        "model_unpriced",
        `The model ${quoted(modelId)} has ${lacking}, and unpriced calls are refused. The operator must set pricing.models.${JSON.stringify(id)} in the configuration.`,
        { param: "model" },
      );
    }
    if (cached === undefined) this.#remember(modelId, resolved);
    const priceOf = (other: string): ModelPrice | undefined => this.priceOf(route, other);
    return { route, operation: upstreamOperation, modelId, model, price, priceOf };
  }

  /** Finds a model by its id, alone. Throws like `resolve` unless the token may use it and its provider has a key. */
  find(modelId: string, principal: Principal): { route: UpstreamRoute; model: string } {
    const resolved = this.#parse(modelId);
    requireUse(principal, resolved, modelId);
    requireKey(resolved.route);
    return resolved;
  }

  /** The price of a model that is listed under its provider's prefix. */
  priceOf(route: UpstreamRoute, model: string): ModelPrice | undefined {
    return this.#priceOf(modelOf(route, model));
  }

  /** Whether a price names the model itself. Providers accept names that they do not list, such as aliases. */
  isKnown(route: UpstreamRoute, model: string): boolean {
    return this.#prices.names(pricedAs(modelOf(route, model)));
  }

  #priceOf(resolved: ResolvedModel): ModelPrice | undefined {
    return this.#prices.lookup(pricedAs(resolved));
  }

  #parse(modelId: string): ResolvedModel {
    return modelOf(this.#routeOf(modelId), modelId.slice(modelId.indexOf("/") + 1));
  }

  /** Caches a priced model. Arbitrary ids in requests must not displace the ids that are in use. */
  #remember(modelId: string, resolved: ResolvedModel): void {
    if (this.#cache.size >= CACHED_MODELS_MAX) this.#cache.clear();
    this.#cache.set(modelId, resolved);
  }

  #routeOf(modelId: string): UpstreamRoute {
    const slash = modelId.indexOf("/");
    const prefix = modelId.slice(0, Math.max(slash, 0));
    const route = this.#byPrefix.get(prefix);
    const nameless = slash === modelId.length - 1;
    if (nameless && route !== undefined) {
      throw notRouted(`The model ${quoted(modelId)} has no name after its prefix; write ${prefix}/<model>.`);
    }
    if (slash < 1 || nameless) {
      throw notRouted(
        `The model ${quoted(modelId)} has no provider prefix; write <prefix>/<model>. ${this.#knownPrefixes()}`,
      );
    }
    if (route === undefined) {
      throw notRouted(`No provider has the prefix ${quoted(prefix)}. ${this.#knownPrefixes()}`);
    }
    return route;
  }

  #knownPrefixes(): string {
    return `Prefixes here: ${[...this.#byPrefix.keys()].join(", ")}.`;
  }
}

function firstOf(operations: readonly ModelOperation[], { provider }: UpstreamRoute): UpstreamOperation | undefined {
  for (const operation of operations) {
    const found = provider.operations[operation];
    if (found !== undefined) return found;
  }
  return undefined;
}

function pricedAs({ route, model, id }: ResolvedModel): PricedModel {
  return { id, model, priceProvider: route.provider.priceProvider };
}

function requireUse(principal: Principal, { route, model }: ResolvedModel, modelId: string): void {
  if (mayUse(principal, route, model)) return;
  throw notRouted(`The model ${quoted(modelId)} does not exist, or this token may not use it.`);
}

function requireKey({ prefix, requiredVariable }: UpstreamRoute): void {
  if (requiredVariable === undefined) return;
  throw new GatewayError(
    "provider_without_key",
    `The provider ${prefix} has no key. The operator must set ${requiredVariable}.`,
    { param: "model" },
  );
}

/** Whether the token's globs match the model, under any of its prefixes, which all refer to the same model. */
export function mayUse({ models }: Principal, { prefix, aliases }: UpstreamRoute, model: string): boolean {
  if (models === undefined) return true;
  return [prefix, ...aliases].some((name) => models.some((glob) => matchesGlob(glob, `${name}/${model}`)));
}

function modelOf(route: UpstreamRoute, model: string): ResolvedModel {
  return { route, model, id: `${route.prefix}/${model}` };
}

function notRouted(message: string): GatewayError {
  return new GatewayError("model_not_routed", message, { param: "model" });
}

/** Quotes a caller's text in a message; shortened, so that an error's size never depends on the request. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
