import type { ListedModel, ModelListing } from "../provider.ts";

/** BytePlus lists no models; these are named in its documentation. Any other id that an account has works as well. */
const IDS = [
  "seed-1-8-251228",
  "seed-1-6-250915",
  "seed-1-6-flash-250715",
  "seed-2-0-pro-260328",
  "seed-2-0-lite-260228",
  "seed-2-0-mini-260215",
];

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
