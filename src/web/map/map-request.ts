import { z } from "zod";
import { ignoredMembers, unsupported, webUrl } from "../scrape/scrape-request.ts";

/** Addresses in one answer. */
const LINKS_MAX = 100_000;
export const LINKS = 5_000;

const TIMEOUT_MS_MAX = 300_000;
export const MAP_TIMEOUT_MS = 60_000;

/** The body of a map, in the terms of Firecrawl's v2 API. */
export const mapRequest = z
  .strictObject({
    url: webUrl,
    search: z.string().max(1_000).nullish().describe("Puts the addresses that fit it best first."),
    sitemap: z
      .enum(["include", "skip", "only"])
      .nullish()
      .describe("Whether sitemaps are read beside the page's links, or instead of them; include by default."),
    includeSubdomains: z.boolean().nullish().describe("true by default."),
    ignoreQueryParameters: z
      .boolean()
      .nullish()
      .describe("Fold addresses that differ in their query; true by default."),
    ignoreCache: z.boolean().nullish().describe("Nothing of a map is cached."),
    limit: z.number().int().min(1).max(LINKS_MAX).nullish().describe(`The most addresses; ${LINKS} by default.`),
    timeout: z.number().int().min(1_000).max(TIMEOUT_MS_MAX).nullish().describe("Milliseconds."),
    location: unsupported("location"),
    ...ignoredMembers,
  })
  .meta({ id: "MapRequest" });

export type MapRequest = z.output<typeof mapRequest>;
