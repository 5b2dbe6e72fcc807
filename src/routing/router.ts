import type { Principal } from "../auth/index.ts";
import { GatewayError, matchesGlob, type Operation } from "../core/index.ts";
import type { ModelPrice, PriceBook, PricedModality } from "../pricing/index.ts";
import type { Provider, UpstreamOperation } from "../providers/index.ts";
import type { KeyPool } from "./key-pool.ts";

/** A configured provider, ready to be called. */
export interface UpstreamRoute {
  /** The model prefix: the key in the configuration. */
  prefix: string;
  aliases: readonly string[];
  provider: Provider;
  baseUrl: string;
  keys: KeyPool;
  /** Answered by our simulator instead of the real upstream. */
  sandbox: boolean;
  /** Where no key is set: what to set. The provider is then not routed. */
  keyToSet: string | undefined;
}

/** Where a call goes: the upstream, how it does this operation, and what it costs. */
export interface Target {
  route: UpstreamRoute;
  operation: UpstreamOperation;
  /** As the caller wrote it, with prefix. */
  modelId: string;
  /** Without prefix, as the upstream knows it. */
  model: string;
  price: ModelPrice;
}

/** What a model's id stands for. */
interface NamedModel {
  route: UpstreamRoute;
  /** Without prefix. */
  model: string;
  /** With the provider's own prefix, where the caller wrote another. */
  id: string;
}

/** Models whose ids are remembered. */
const NAMED_MODELS_MAX = 5_000;

/** What an operation must have a price for. */
const workOf: Record<Operation, PricedModality> = {
  chat: "text",
  messages: "text",
  responses: "text",
  count_tokens: "text",
  embeddings: "embeddings",
  image_generation: "images",
  image_edit: "images",
  speech: "speech",
  transcription: "transcription",
  translation: "transcription",
};

/** Finds the upstream of a model id. */
export class ModelRouter {
  readonly routes: readonly UpstreamRoute[];
  readonly #byPrefix: ReadonlyMap<string, UpstreamRoute>;
  readonly #prices: PriceBook;
  /** What the ids of models that were called before stand for. */
  readonly #named = new Map<string, NamedModel>();

  constructor(routes: readonly UpstreamRoute[], prices: PriceBook) {
    this.routes = routes;
    this.#prices = prices;
    this.#byPrefix = new Map(
      routes.flatMap((route) => [route.prefix, ...route.aliases].map((prefix) => [prefix, route] as const)),
    );
  }

  /**
   * Throws a 404 `GatewayError` for a model without a (known) prefix, one that the token may not use, an operation that
   * the provider lacks under each of the names that it may be done by, a provider without a key, and a model without a
   * price for it.
   */
  resolve(modelId: string, operations: readonly [Operation, ...Operation[]], principal: Principal): Target {
    const known = this.#named.get(modelId);
    const named = known ?? this.#name(modelId);
    const { route, model, id } = named;
    if (!mayUse(principal, route, model)) {
      throw notRouted(`The model ${quoted(modelId)} does not exist, or this token may not use it.`);
    }
    const upstreamOperation = firstOf(operations, route);
    if (upstreamOperation === undefined) {
      throw new GatewayError(
        "unsupported_operation",
        `The provider ${route.prefix} has no ${operations[0]} operation.`,
        {
          param: "model",
        },
      );
    }
    if (route.keyToSet !== undefined) {
      throw new GatewayError(
        "provider_without_key",
        `The provider ${route.prefix} has no key. The operator must set ${route.keyToSet}.`,
        {
          param: "model",
        },
      );
    }
    const price = this.#priceOf(named);
    const [wanted] = operations;
    if (price?.modalities.has(workOf[wanted]) !== true) {
      const lacking = price === undefined ? "no price" : `no price for the ${wanted} operation`;
      throw new GatewayError(
        "model_unpriced",
        `The model ${quoted(modelId)} has ${lacking}, and no call goes unpriced. The operator must set pricing.models.${JSON.stringify(id)} in the configuration.`,
        { param: "model" },
      );
    }
    if (known === undefined) this.#remember(modelId, named);
    return { route, operation: upstreamOperation, modelId, model, price };
  }

  /** The price of a model as listed under its provider's own prefix. */
  priceOf(route: UpstreamRoute, model: string): ModelPrice | undefined {
    return this.#priceOf(namedModel(route, model));
  }

  #priceOf({ route, model, id }: NamedModel): ModelPrice | undefined {
    return this.#prices.lookup({ id, model, priceProvider: route.provider.priceProvider });
  }

  #name(modelId: string): NamedModel {
    return namedModel(this.#routeOf(modelId), modelId.slice(modelId.indexOf("/") + 1));
  }

  /** To be called of models that have a price: what callers merely write must not crowd those out. */
  #remember(modelId: string, named: NamedModel): void {
    if (this.#named.size >= NAMED_MODELS_MAX) this.#named.clear();
    this.#named.set(modelId, named);
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

function firstOf(operations: readonly Operation[], { provider }: UpstreamRoute): UpstreamOperation | undefined {
  for (const operation of operations) {
    const found = provider.operations[operation];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether the token's globs let it see and use the model: by any of its ids, since all of them are the same model. */
export function mayUse({ models }: Principal, { prefix, aliases }: UpstreamRoute, model: string): boolean {
  if (models === undefined) return true;
  return [prefix, ...aliases].some((name) => models.some((glob) => matchesGlob(glob, `${name}/${model}`)));
}

function namedModel(route: UpstreamRoute, model: string): NamedModel {
  return { route, model, id: `${route.prefix}/${model}` };
}

function notRouted(message: string): GatewayError {
  return new GatewayError("model_not_routed", message, { param: "model" });
}

/** A caller's text in a message: bounded, so that an error never grows with what was sent. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
