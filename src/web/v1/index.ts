export { mapV1, scrapeV1, searchV1 } from "./bodies.ts";
export { documentForV1 } from "./scrape-options.ts";
export { errorsForV1, jobFromV1, jobNamesExtract, statusForV1, storedDocumentForV1 } from "./jobs.ts";
export type { ApiVersion, BodyTranslation } from "./translation.ts";
