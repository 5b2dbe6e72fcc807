import type { ModelListing } from "../provider.ts";
import { documentedModels } from "../shared/model-list.ts";

const VIDEO_IDS = ["dreamina-seedance-2-0-260128", "dreamina-seedance-2-0-fast-260128", "seedance-1-5-pro-251215"];
const IMAGE_IDS = ["seedream-4-0-250828", "seedream-4-5-251128", "seedream-5-0-260128"];
const IDS = ["seed-1-8-251228", "seed-1-6-250915", "seed-1-6-flash-250715"];

/**
 * BytePlus lists no models. These are the documented ones with a catalog price; any other id of an account can be used
 * as soon as the operator prices it.
 */
export const models: ModelListing = {
  from: "catalog",
  models: [
    ...documentedModels("byteplus", IDS, 256_000),
    ...documentedModels("byteplus", [...IMAGE_IDS, ...VIDEO_IDS]),
  ],
};
