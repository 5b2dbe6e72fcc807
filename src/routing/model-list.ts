/**
 * The merged list of models. The listings of all providers are fetched in parallel, and cached. If a listing fails, its
 * provider is omitted, or its previous listing is used; other providers are not delayed.
 */
import { type Clock, type Environment } from "../core/index.ts";
import type { ModelPrice } from "../pricing/index.ts";
import type { UpstreamRoute } from "./router.ts";
import type { ListedModel } from "../providers/index.ts";
import { fetchListing } from "./fetch-listing.ts";

/** How long a listing is used before it is fetched again, in the background. */
const LISTING_AGE_MS_MAX = 5 * 60_000;

/** How long a request waits for listings that were never fetched. Slower providers are missing from its answer. */
const FIRST_LISTING_MS_MAX = 3_000;

/** A model, and the provider that has it. */
export interface RoutedModel {
  route: UpstreamRoute;
  model: ListedModel;
  /** The name under which it is listed; its own id by default. */
  name?: string;
  /** The id that the name stands for, of one of the operator's aliases. */
  aliasOf?: string;
  /** What the name can be called for; by default what the model can. */
  operations?: readonly string[];
  /** What the name is charged; by default the model's own price. */
  price?: ModelPrice | undefined;
}

/** How soon a failed listing is fetched again. */
const FAILED_LISTING_MS = 30_000;

interface Listing {
  models: readonly ListedModel[];
  /** Whether the first fetch has ended, successfully or not. No request waits for later ones. */
  tried: boolean;
  refreshAt: number;
  fetching: Promise<void> | undefined;
}

export interface ModelListOptions {
  routes: readonly UpstreamRoute[];
  /** Ids with prefix that the operator has priced: models of its own account, which no provider may list. */
  priced: readonly string[];
  environment: Pick<Environment, "clock" | "fetch">;
  onFailure: (prefix: string, reason: unknown) => void;
}

export class ModelList {
  readonly #options: ModelListOptions;
  readonly #clock: Clock;
  readonly #listings: Map<UpstreamRoute, Listing>;

  constructor(options: ModelListOptions) {
    this.#options = options;
    this.#clock = options.environment.clock;
    const routed = options.routes.filter((route) => route.requiredVariable === undefined);
    this.#listings = new Map(
      routed.map((route) => [route, { models: [], tried: false, refreshAt: 0, fetching: undefined }]),
    );
  }

  /** The models of all routed providers, in the order of the configuration: listed ones first, then those priced by the operator. */
  async list(): Promise<RoutedModel[]> {
    const first = [...this.#listings].flatMap(([route, listing]) => {
      const fetching = this.#refresh(route, listing);
      return listing.tried || fetching === undefined ? [] : [fetching];
    });
    if (first.length > 0) await within(FIRST_LISTING_MS_MAX, Promise.all(first));
    return [...this.#listings].flatMap(([route, { models }]) =>
      [...models, ...this.#pricedModels(route, models)].map((model) => ({ route, model })),
    );
  }

  #pricedModels({ prefix }: UpstreamRoute, listed: readonly ListedModel[]): ListedModel[] {
    const known = new Set(listed.map(({ id }) => id));
    const names = this.#options.priced.flatMap((id) =>
      id.startsWith(`${prefix}/`) ? [id.slice(prefix.length + 1)] : [],
    );
    return names.filter((name) => !known.has(name)).map(unlistedModel);
  }

  #refresh(route: UpstreamRoute, listing: Listing): Promise<void> | undefined {
    if (listing.fetching !== undefined || this.#clock() < listing.refreshAt) return listing.fetching;
    listing.fetching = this.#fetch(route, listing);
    return listing.fetching;
  }

  async #fetch(route: UpstreamRoute, listing: Listing): Promise<void> {
    try {
      listing.models = await fetchListing(this.#options.environment.fetch, route);
      route.listing.listed = listing.models.map(({ id }) => id);
      listing.refreshAt = this.#clock() + LISTING_AGE_MS_MAX;
    } catch (reason) {
      listing.refreshAt = this.#clock() + FAILED_LISTING_MS;
      this.#options.onFailure(route.prefix, reason);
    } finally {
      listing.tried = true;
      listing.fetching = undefined;
    }
  }
}

/** A model that can be called, of which nothing but its name is known. */
export function unlistedModel(id: string): ListedModel {
  return {
    id,
    created: undefined,
    ownedBy: undefined,
    displayName: undefined,
    contextLength: undefined,
    maxOutputTokens: undefined,
  };
}

async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}
