import type { ListedModel, ModelListing } from "../provider.ts";

/**
 * BytePlus lists no models. These are the documented ones with a catalog price; any other id of an account can be used
 * as soon as the operator prices it.
 */
const VIDEO_IDS = ["dreamina-seedance-2-0-260128", "dreamina-seedance-2-0-fast-260128", "seedance-1-5-pro-251215"];
const IDS = ["seed-1-8-251228", "seed-1-6-250915", "seed-1-6-flash-250715"];

export const models: ModelListing = {
  from: "catalog",
  models: [...IDS, ...VIDEO_IDS].map((id): ListedModel => ({
    id,
    created: undefined,
    ownedBy: "byteplus",
    contextLength: IDS.includes(id) ? 256_000 : undefined,
    maxOutputTokens: undefined,
  })),
};
