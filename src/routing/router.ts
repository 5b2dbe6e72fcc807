import leven from "leven";
import { GatewayError, matchesGlob, type ModelOperation, prefixOf, withoutPrefix } from "../core/index.ts";
import { type ModelPrice, type PriceBook, type PricedModel, type PriceOf, soldAt } from "../pricing/index.ts";
import type { Provider, UpstreamOperation } from "../providers/index.ts";
import { firstUsable, type ModelRoute, usableIn } from "./model-routes.ts";
import type { ModelCaller } from "./target-condition.ts";
import type { KeyPool } from "./key-pool.ts";
import type { Overrides } from "./health/overrides.ts";
import { modalityOf } from "./model-operations.ts";

/** A configured provider that calls can be sent to. */
export interface UpstreamRoute {
  /** The model prefix: the key in the configuration. */
  prefix: string;
  aliases: readonly string[];
  /** The names of its models that only routes can call. */
  internal?: ReadonlySet<string>;
  provider: Provider;
  baseUrl: string;
  keys: KeyPool;
  /** Whether our simulator answers instead of the real upstream. */
  sandbox: boolean;
  /** Whether all callers may use files and other objects that the provider's account has and nobody here owns. */
  sharedStores: boolean;
  /** The names of its models in its last listing; empty before the first. */
  listing: { listed: readonly string[] };
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

/** The model that a model id refers to. Its id has the provider's prefix, even if the caller wrote an alias. */
interface ResolvedModel extends PricedModel {
  route: UpstreamRoute;
}

/** The maximum number of cached model ids. */
const CACHED_MODELS_MAX = 5_000;

/** Resolves model ids to targets. */
export class ModelRouter {
  readonly routes: readonly UpstreamRoute[];
  readonly #byPrefix: ReadonlyMap<string, UpstreamRoute>;
  readonly #prices: PriceBook;
  readonly #overrides: Overrides | undefined;
  readonly #onUnpriced: ((name: string) => void) | undefined;
  readonly #aliases: readonly ModelAlias[];
  readonly #modelRoutes: ReadonlyMap<string, ModelRoute>;
  /** The models that were called before, by the ids that callers wrote. */
  readonly #cache = new Map<string, ResolvedModel>();

  /** `aliases`: the operator's names for models and for routes of models, by glob. */
  constructor(
    routes: readonly UpstreamRoute[],
    prices: PriceBook,
    {
      aliases = {},
      modelRoutes = [],
      overrides,
      onUnpriced,
    }: {
      aliases?: Readonly<Record<string, string>>;
      modelRoutes?: readonly ModelRoute[];
      overrides?: Overrides | undefined;
      /**
       * Called when a call is refused since its model has no price: with the model's id if its provider has it, else with the
       * provider's prefix.
       */
      onUnpriced?: ((name: string) => void) | undefined;
    } = {},
  ) {
    this.#onUnpriced = onUnpriced;
    this.#overrides = overrides;
    this.routes = routes;
    this.#modelRoutes = new Map(modelRoutes.map((route) => [route.name, route]));
    this.#aliases = Object.entries(aliases).map(([glob, id]) => ({ glob, id }));
    this.#prices = prices;
    this.#byPrefix = new Map(
      routes.flatMap((route) => [route.prefix, ...route.aliases].map((prefix) => [prefix, route] as const)),
    );
  }

  /** Finds a provider by its prefix or an alias. */
  withPrefix(prefix: string): UpstreamRoute | undefined {
    return this.#byPrefix.get(prefix);
  }

  /** The names that stand for several targets. */
  get modelRoutes(): readonly ModelRoute[] {
    return [...this.#modelRoutes.values()];
  }

  /** The route that a model id of a caller names; undefined if it names a model. */
  routeOf(modelId: string): ModelRoute | undefined {
    if (this.#modelRoutes.size === 0) return undefined;
    return this.#modelRoutes.get(modelId) ?? this.#modelRoutes.get(this.#idOf(modelId));
  }

  /** The provider that a model id names; undefined for a name without a provider, such as that of a route. */
  providerOf(modelId: string): UpstreamRoute | undefined {
    return this.withPrefix(prefixOf(this.#idOf(modelId)));
  }

  /** Resolves a model id, or the name of a route to the first of its targets that can be used. Throws like `resolveModel`. */
  resolve(modelId: string, operations: readonly [ModelOperation, ...ModelOperation[]], principal: ModelCaller): Target {
    const route = this.routeOf(modelId);
    if (route === undefined) return this.resolveModel(modelId, operations, principal);
    const asked = { caller: principal, operation: operations[0] };
    return firstUsable(route, asked, (model, user) => this.resolveTarget(route, model, operations, user));
  }

  /** Resolves a target of a route, at the price that the route charges. Throws like `resolveModel`. */
  resolveTarget(
    { priceOf: seller }: Pick<ModelRoute, "priceOf">,
    modelId: string,
    operations: readonly [ModelOperation, ...ModelOperation[]],
    principal: ModelCaller,
  ): Target {
    const target = this.resolveModel(modelId, operations, principal);
    if (seller === undefined) return target;
    const [requested] = operations;
    const price = this.priced(seller)?.price;
    if (price?.modalities.has(modalityOf[requested]) === true) return { ...target, price: soldAt(price, target.price) };
    throw unpriced(`The model ${quoted(seller)} has no price for the ${requested} operation. The`, seller);
  }

  /**
   * Resolves a model id to a target. `operations` are the requested operation and, after it, operations that can replace
   * it. Throws a `GatewayError` (404) if the model has no known prefix, if the token may not use it, if the provider has
   * none of the operations or no key, or if the model has no price for the requested operation; 503 if the operator has
   * disabled it.
   */
  resolveModel(
    modelId: string,
    operations: readonly [ModelOperation, ...ModelOperation[]],
    principal: ModelCaller,
  ): Target {
    const cached = this.#cache.get(modelId);
    const resolved = cached ?? this.#parse(modelId);
    const { route, model, id } = resolved;
    requireUse(principal, route, model, modelId);
    const operation = operationOf(route, operations);
    requireKey(route, model);
    if (this.#overrides?.isEmpty === false) this.#overrides.require(route.prefix, model);
    const price = this.#prices.lookup(resolved);
    const [requested] = operations;
    if (price === undefined) throw this.#unknown(resolved, modelId, principal);
    if (!price.modalities.has(modalityOf[requested])) {
      this.#onUnpriced?.(this.isKnown(route, model) ? id : route.prefix);
      throw unpriced(
        `The model ${quoted(modelId)} has no price for the ${requested} operation, and unpriced calls are refused. The`,
        id,
      );
    }
    if (cached === undefined) this.#remember(modelId, resolved);
    const priceOf = (other: string): ModelPrice | undefined => this.priceOf(route, other);
    return { route, operation, modelId, model, price, priceOf };
  }

  /** Finds a model by its id, alone. Throws like `resolve` unless the token may use it and its provider has a key. */
  find(modelId: string, principal: ModelCaller): { route: UpstreamRoute; model: string } {
    const named = this.routeOf(modelId);
    return named === undefined
      ? this.#find(modelId, principal)
      : firstUsable(named, { caller: principal }, (model, user) => this.#find(model, user));
  }

  #find(modelId: string, principal: ModelCaller): ResolvedModel {
    const resolved = this.#parse(modelId);
    requireUse(principal, resolved.route, resolved.model, modelId);
    requireKey(resolved.route, resolved.model);
    return resolved;
  }

  /** A mistyped name, or a model that is too new for the price list. */
  #unknown({ route, model, id }: ResolvedModel, modelId: string, principal: ModelCaller): GatewayError {
    const { listed } = route.listing;
    const { priceProvider } = route.provider;
    this.#onUnpriced?.(listed.includes(model) ? id : route.prefix);
    if (listed.includes(model)) {
      return unpriced(`The model ${quoted(modelId)} has no price, and unpriced calls are refused. The`, id);
    }
    const known = listed.length > 0 ? listed : this.#prices.namesOf({ prefix: route.prefix, priceProvider });
    const near = nearest(
      model,
      known.filter((name) => mayUse(principal, route, name)),
    ).map((name) => `${route.prefix}/${name}`);
    const hint = near.length === 0 ? "" : ` Did you mean ${near.join(" or ")}?`;
    return unpriced(`The model ${quoted(modelId)} is not known here.${hint} If the provider has it, the`, id);
  }

  /** The price of a model that is listed under its provider's prefix. */
  priceOf(route: UpstreamRoute, model: string): ModelPrice | undefined {
    return this.#prices.lookup(modelOf(route, model));
  }

  /** The provider and the price of a model by its id, without aliases; undefined if there is no such provider or price. */
  priced(modelId: string): { provider: UpstreamRoute["provider"]; price: ModelPrice } | undefined {
    const route = this.withPrefix(prefixOf(modelId));
    const price = route && this.priceOf(route, withoutPrefix(modelId));
    return route && price && { provider: route.provider, price };
  }

  /** Throws a `GatewayError` (404) for a model id without the prefix of a provider. */
  requireProvider(modelId: string): void {
    this.#parse(modelId);
  }

  /** Whether a price names the model itself. Providers accept names that they do not list, such as aliases. */
  isKnown(route: UpstreamRoute, model: string): boolean {
    return this.#prices.names(modelOf(route, model));
  }

  #parse(modelId: string): ResolvedModel {
    const id = this.#idOf(modelId);
    return modelOf(this.#routeOf(id), withoutPrefix(id));
  }

  /** The operator's names for single models and routes. */
  get aliasNames(): readonly string[] {
    return this.#aliases.map(({ glob }) => glob).filter((glob) => !glob.includes("*"));
  }

  /** Whether an id is one of the operator's names for another one. */
  isAlias(modelId: string): boolean {
    return this.#idOf(modelId) !== modelId;
  }

  /** The id that an alias stands for; an id with a known prefix is none. */
  #idOf(modelId: string): string {
    return this.#byPrefix.has(prefixOf(modelId)) ? modelId : (aliased(modelId, this.#aliases) ?? modelId);
  }

  /** Caches a priced model. Arbitrary ids in requests must not displace the ids that are in use. */
  #remember(modelId: string, resolved: ResolvedModel): void {
    if (this.#cache.size >= CACHED_MODELS_MAX) this.#cache.clear();
    this.#cache.set(modelId, resolved);
  }

  #routeOf(modelId: string): UpstreamRoute {
    const slash = modelId.indexOf("/");
    const prefix = prefixOf(modelId);
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

/**
 * The target of work that was held earlier, at the price of its hold, whatever its caller may use by now and the operator has disabled.
 * Throws a `GatewayError`: 503 if its provider is gone, 404 if that has none of the operations any more.
 */
export function heldTarget(
  router: Pick<ModelRouter, "withPrefix" | "priceOf">,
  { provider, model, modelId }: { provider: string; model: string; modelId: string },
  { operations, price }: { operations: readonly [ModelOperation, ...ModelOperation[]]; price: ModelPrice },
): Target {
  const route = router.withPrefix(provider);
  if (route === undefined)
    throw new GatewayError("provider_disabled", `No provider has the prefix ${quoted(provider)} now.`);
  const priceOf = (other: string): ModelPrice | undefined => router.priceOf(route, other);
  return { route, operation: operationOf(route, operations), modelId, model, price, priceOf };
}

/** The first of these operations that the provider has. Throws a `GatewayError` (404) if it has none. */
function operationOf(
  { prefix, provider: { operations: own } }: UpstreamRoute,
  operations: readonly [ModelOperation, ...ModelOperation[]],
): UpstreamOperation {
  const available = operations.find((each) => own[each] !== undefined);
  const operation = available && own[available];
  if (operation !== undefined) return operation;
  throw new GatewayError(
    "unsupported_operation",
    `The provider ${prefix} has no ${operations[0]} operation. It has ${Object.keys(own).join(", ") || "none"}.`,
    { param: "model" },
  );
}

/** The targets that a model id, or the name of a route, stands for and that can be used. Throws like `resolve` without any. */
export function usableTargets(
  router: ModelRouter,
  modelId: string,
  operations: readonly [ModelOperation, ...ModelOperation[]],
  principal: ModelCaller,
): Iterable<Target> {
  const route = router.routeOf(modelId);
  if (route === undefined) return [router.resolveModel(modelId, operations, principal)];
  const asked = { caller: principal, operation: operations[0] };
  return usableIn(route, asked, (model, user) => router.resolveTarget(route, model, operations, user));
}

/** A name that an operator gives to models. */
interface ModelAlias {
  /** `*` matches any characters. */
  glob: string;
  /** The model id with prefix; `*` stands for the text that the glob's one matched. */
  id: string;
}

/** The model id that the first matching alias names. */
function aliased(name: string, aliases: readonly ModelAlias[]): string | undefined {
  const alias = aliases.find(({ glob }) => matchesGlob(glob, name));
  if (alias === undefined) return undefined;
  const [before = "", after = ""] = alias.glob.split("*");
  return alias.id.replace("*", () => name.slice(before.length, name.length - after.length));
}

/** Throws a `GatewayError` (404) for a model that the token may not use; `modelId` is as the caller wrote it. */
export function requireUse(principal: ModelCaller, route: UpstreamRoute, model: string, modelId = model): void {
  if (mayUse(principal, route, model)) return;
  throw notRouted(`The model ${quoted(modelId)} does not exist, or this token may not use it.`);
}

function requireKey({ prefix, requiredVariable, keys }: UpstreamRoute, model: string): void {
  if (requiredVariable === undefined) {
    if (keys.serves(model)) return;
    throw new GatewayError(
      "provider_without_key",
      `No key of the provider ${prefix} is for the model ${quoted(model)}.`,
      {
        param: "model",
      },
    );
  }
  throw new GatewayError(
    "provider_without_key",
    `The provider ${prefix} has no key. The operator must set ${requiredVariable}.`,
    { param: "model" },
  );
}

/** Whether the model is not internal, and the token's globs match it, and those above it, under any of its prefixes, which all refer to the same model. */
export function mayUse(
  { models, modelsAbove, isRoute = false }: ModelCaller,
  { prefix, aliases, internal }: UpstreamRoute,
  model: string,
): boolean {
  if (!isRoute && internal?.has(model) === true) return false;
  if (models === undefined) return true;
  const matches = (globs: readonly string[]): boolean =>
    [prefix, ...aliases].some((name) => globs.some((glob) => matchesGlob(glob, `${name}/${model}`)));
  return matches(models) && (modelsAbove === undefined || modelsAbove.every(matches));
}

function modelOf(route: UpstreamRoute, model: string): ResolvedModel {
  return { route, model, id: `${route.prefix}/${model}`, priceProvider: route.provider.priceProvider };
}

/** `beginning` ends before the operator's duty. */
function unpriced(beginning: string, id: string): GatewayError {
  const duty = `operator must set pricing.models.${JSON.stringify(id)} in the configuration.`;
  return new GatewayError("model_unpriced", `${beginning} ${duty}`, { param: "model" });
}

const NEAR_MODELS_MAX = 3;

/** Longer names are compared by their beginnings. */
const COMPARED_CHARACTERS_MAX = 64;

/** The names that a mistyped one may stand for, the likeliest first: at most every third character differs. */
function nearest(mistyped: string, names: readonly string[]): string[] {
  const typed = mistyped.slice(0, COMPARED_CHARACTERS_MAX).toLowerCase();
  const distances = names.map((name) => ({ name, distance: leven(typed, name.slice(0, COMPARED_CHARACTERS_MAX)) }));
  return distances
    .filter(({ distance }) => distance <= Math.max(2, typed.length / 3))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, NEAR_MODELS_MAX)
    .map(({ name }) => name);
}

export function notRouted(message: string): GatewayError {
  return new GatewayError("model_not_routed", message, { param: "model" });
}

/** Quotes a caller's text in a message; shortened, so that an error's size never depends on the request. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
