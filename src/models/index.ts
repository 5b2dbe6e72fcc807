export { fetchListing } from "./fetch-listing.ts";
export { ModelList, type RoutedModel, unlistedModel } from "./model-list.ts";
