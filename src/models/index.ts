export { fetchListing } from "./fetch-listing.ts";
export { ModelList } from "./model-list.ts";
