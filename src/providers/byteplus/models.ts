import type { ListedModel, ModelListing } from "../provider.ts";

/**
 * BytePlus lists no models; these are the documented ones that have a price here. Any other id that an account has works
 * as well, once the operator prices it.
 */
const IDS = ["seed-1-8-251228", "seed-1-6-250915", "seed-1-6-flash-250715"];

export const models: ModelListing = {
  from: "catalog",
  models: IDS.map((id): ListedModel => ({
    id,
    created: undefined,
    ownedBy: "byteplus",
    contextLength: 256_000,
    maxOutputTokens: undefined,
  })),
};
