export { binColumns } from "./bins.ts";
export { boost, type BoostingOptions, type Examples } from "./boost.ts";
export { seededRandom } from "./seeded-random.ts";
