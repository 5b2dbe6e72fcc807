export { askByFetch } from "./by-fetch.ts";
export { collectBody, type Collected } from "./collect.ts";
