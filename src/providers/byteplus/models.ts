import type { ListedModel, ModelListing } from "../provider.ts";

/**
 * BytePlus lists no models. These are the documented ones with a catalog price; any other id of an account can be used
 * as soon as the operator prices it.
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
