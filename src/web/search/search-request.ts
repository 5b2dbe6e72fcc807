import { z } from "zod";
import { ignoredMembers, scrapeOptions, unsupported } from "../scrape/scrape-request.ts";

const QUERY_CHARACTERS_MAX = 500;
const LIMIT_MAX = 100;
export const LIMIT = 10;
const TIMEOUT_MS_MAX = 300_000;
export const TIMEOUT_MS = 60_000;
const DOMAINS_MAX = 50;

const domains = z
  .array(z.string().regex(/^[^\s/:?#@]{1,253}(?::\d{1,5})?$/, "no domain"))
  .max(DOMAINS_MAX)
  .nullish();

const sourceName = z.enum(["web", "news", "images"], { error: "only web, news and images are supported" });

const source = z.union([
  sourceName,
  z.strictObject({ type: sourceName, tbs: z.string().max(200).nullish(), location: z.string().max(200).nullish() }),
]);

const categoryName = z.enum(["github", "research", "pdf"], { error: "only github, research and pdf are supported" });

const category = z.union([categoryName, z.strictObject({ type: categoryName })]);

/** The body of a search, in the terms of Firecrawl's v2 API. */
export const searchRequest = z
  .strictObject({
    query: z
      .string()
      .min(1)
      .max(QUERY_CHARACTERS_MAX)
      .describe(
        'Words, "a phrase", -term, OR, site:, filetype:, intitle:, allintitle:, inurl:, allinurl:, after: and before: a day (YYYY-MM-DD).',
      ),
    limit: z.number().int().min(1).max(LIMIT_MAX).nullish().describe(`The most results; ${LIMIT} by default.`),
    scrapeOptions: scrapeOptions.nullish().describe("Reads each result as a scrape with these options does."),
    includeDomains: domains,
    excludeDomains: domains,
    sources: z
      .array(source)
      .min(1)
      .max(3)
      .nullish()
      .describe("web by default; news and images if the back end has them, each up to the limit."),
    timeout: z
      .number()
      .int()
      .min(1_000)
      .max(TIMEOUT_MS_MAX)
      .nullish()
      .describe(`Milliseconds; ${TIMEOUT_MS} by default.`),
    ignoreInvalidURLs: z.boolean().nullish().describe("Results are always addresses of pages."),
    highlights: z.boolean().nullish().describe("Descriptions are the back end's."),
    country: z.string().max(10).nullish().describe("Two letters, if the back end has countries."),
    lang: z.string().max(10).nullish().describe("Such as de, if the back end has languages."),
    location: z.string().max(200).nullish().describe("A place, if the back end has places."),
    tbs: z.string().max(200).nullish().describe("The time of the results: qdr:d, cdr:1,cd_min:…,cd_max:…, sbd:1."),
    categories: z.array(category).max(3).nullish().describe("Only pages of one of these kinds, by their addresses."),
    safe: unsupported("safe"),
    enterprise: unsupported("enterprise"),
    ...ignoredMembers,
  })
  .meta({ id: "SearchRequest" });

export type SearchBody = z.output<typeof searchRequest>;
