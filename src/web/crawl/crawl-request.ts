/** The bodies of crawls and batches, in the terms of Firecrawl's v2 API. */
import { z } from "zod";
import type { JsonObject } from "../../core/index.ts";
import { PROMPT_CHARACTERS_MAX } from "../scrape/formats.ts";
import {
  ignoredMembers,
  scrapeOptionMembers,
  scrapeOptions,
  type ScrapeOptions,
  unsupported,
  webUrl,
} from "../scrape/scrape-request.ts";
import type { Crawl } from "./store.ts";

/** Pages of one crawl. */
const PAGES_MAX = 100_000;
const PAGES = 10_000;

/** Addresses of one batch. */
const BATCH_URLS_MAX = 10_000;

/** Pages of one crawl that run at the same time, at most. */
const CONCURRENCY_MAX = 100;

const DELAY_SECONDS_MAX = 60;
const DEPTH_MAX = 1_000;
const PATTERNS_MAX = 100;
const PATTERN_CHARACTERS_MAX = 500;
const WEBHOOK_HEADERS_MAX = 20;
const WEBHOOK_METADATA_MAX = 50;

const webhookEvents = ["started", "page", "completed", "failed"] as const;

/** A header that the gateway sets itself, or that belongs to the connection, cannot be chosen. */
const webhookHeaders = z
  .record(
    z
      .string()
      .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, "no header name")
      .refine(
        (name) => !/^(host|content-.*|connection|transfer-encoding|te|trailer|upgrade|x-firecrawl-.*)$/i.test(name),
        {
          error: "this header cannot be set",
        },
      ),
    z
      .string()
      .max(2_048)
      .regex(/^[\x20-\x7e]*$/, "printable ASCII"),
  )
  .refine((all) => Object.keys(all).length <= WEBHOOK_HEADERS_MAX, `at most ${WEBHOOK_HEADERS_MAX} headers`);

export const webhook = z
  .union([
    webUrl,
    z.strictObject({
      url: webUrl,
      headers: webhookHeaders.nullish(),
      metadata: z
        .record(z.string().max(100), z.string().max(1_000))
        .refine((all) => Object.keys(all).length <= WEBHOOK_METADATA_MAX, `at most ${WEBHOOK_METADATA_MAX} members`)
        .nullish()
        .describe("Repeated in each message."),
      events: z.array(z.enum(webhookEvents)).max(8).nullish().describe("All by default."),
    }),
  ])
  .nullish()
  .describe("Messages are signed with the user's webhook secret.");

const patterns = z.array(z.string().min(1).max(PATTERN_CHARACTERS_MAX)).max(PATTERNS_MAX).nullish();

const concurrency = z
  .number()
  .int()
  .min(1)
  .max(CONCURRENCY_MAX)
  .nullish()
  .describe("Pages at a time. A host gets no more than its share, whatever this is.");

export const crawlRequest = z
  .strictObject({
    url: webUrl,
    limit: z.number().int().min(1).max(PAGES_MAX).nullish().describe(`The most pages; ${PAGES} by default.`),
    maxDiscoveryDepth: z
      .number()
      .int()
      .min(0)
      .max(DEPTH_MAX)
      .nullish()
      .describe("Links from the start; pages of a sitemap count as the start."),
    includePaths: patterns.describe("Regular expressions (RE2) that a path must match, one of them."),
    excludePaths: patterns.describe("Regular expressions (RE2) of paths that are left out."),
    regexOnFullURL: z.boolean().nullish().describe("Match whole addresses instead of paths."),
    sitemap: z
      .enum(["include", "skip", "only"])
      .nullish()
      .describe("Whether sitemaps are read beside links, or instead of them; include by default."),
    ignoreQueryParameters: z.boolean().nullish().describe("Take addresses that differ in their query as one."),
    deduplicateSimilarURLs: z
      .literal(true, "spellings of one address are always one page")
      .nullish()
      .describe("Firecrawl's SDKs send their default; it cannot be switched off."),
    crawlEntireDomain: z.boolean().nullish().describe("Follow links outside of the start's path as well."),
    allowSubdomains: z.boolean().nullish(),
    allowExternalLinks: z.boolean().nullish(),
    robotsUserAgent: z
      .string()
      .regex(/^[\x21-\x7e]{1,100}$/)
      .nullish()
      .describe("The name by which robots.txt is read."),
    delay: z
      .number()
      .min(0)
      .max(DELAY_SECONDS_MAX)
      .nullish()
      .describe("Seconds between two pages, which then run one by one."),
    maxConcurrency: concurrency,
    scrapeOptions: scrapeOptions.nullish(),
    webhook,
    prompt: z
      .string()
      .trim()
      .min(1)
      .max(PROMPT_CHARACTERS_MAX)
      .nullish()
      .describe("A model makes options of it; those of the request come first."),
    ignoreRobotsTxt: unsupported("ignoreRobotsTxt"),
    zeroDataRetention: unsupported("zeroDataRetention"),
    ...ignoredMembers,
  })
  .meta({ id: "CrawlRequest" });

/** The body of `POST /v2/crawl/params-preview`. */
export const crawlPreviewRequest = z
  .strictObject({
    url: webUrl,
    prompt: z.string().trim().min(1).max(PROMPT_CHARACTERS_MAX),
    ...ignoredMembers,
  })
  .meta({ id: "CrawlPreviewRequest" });

export const batchRequest = z
  .strictObject({
    urls: z.array(z.string().max(10_000)).min(1).max(BATCH_URLS_MAX),
    ignoreInvalidURLs: z
      .boolean()
      .nullish()
      .describe("Whether addresses that are none are left out and listed in invalidURLs; true by default."),
    maxConcurrency: concurrency,
    webhook,
    appendToId: z
      .string()
      .max(100)
      .nullish()
      .describe("The id of a batch of the same token, which these addresses are added to; its own options hold."),
    ...scrapeOptionMembers,
    zeroDataRetention: unsupported("zeroDataRetention"),
    ...ignoredMembers,
  })
  .meta({ id: "BatchScrapeRequest" });

export type CrawlRequest = z.output<typeof crawlRequest>;
export type CrawlWebhookEvent = (typeof webhookEvents)[number];

/** The receiver of a crawl's messages. */
export interface CrawlWebhook {
  url: string;
  headers: Readonly<Record<string, string>>;
  metadata: Readonly<Record<string, string>>;
  events: readonly CrawlWebhookEvent[];
  /** Set if a job of the crawl sends its messages in order; older versions scheduled each by itself. */
  isOrdered?: true;
}

/** The stored part of a request: plain data for any node. */
export interface CrawlPlan {
  url: string;
  scrape: ScrapeOptions;
  webhook: CrawlWebhook | undefined;
  /** The client that started it, in its own words: see `creditsUsed`. */
  origin: string | undefined;
  /** Set if it was asked in Firecrawl's v1 API for objects by the name `extract`. */
  namesExtract?: true;
  /** Undefined for a batch, whose addresses are all known. */
  discovery: Discovery | undefined;
  /** The wish for an extraction. */
  extraction?: Extraction;
}

export interface Extraction {
  prompt: string | undefined;
  systemPrompt: string | undefined;
  schema: JsonObject | undefined;
  showSources: boolean;
  includeSubdomains: boolean;
}

/** The plan of a stored crawl, which was written when the crawl was created. */
export function planOf({ request }: { request: JsonObject }): CrawlPlan {
  return request as unknown as CrawlPlan;
}

export interface Discovery {
  sitemap: "include" | "skip" | "only";
  depthMax: number | undefined;
  includePaths: readonly string[];
  excludePaths: readonly string[];
  matchesFullUrl: boolean;
  ignoresQuery: boolean;
  entireDomain: boolean;
  subdomains: boolean;
  externalLinks: boolean;
  robotsUserAgent: string | undefined;
}

export const pagesByDefault = PAGES;

export function webhookOf(given: CrawlRequest["webhook"]): CrawlWebhook | undefined {
  if (given == null) return undefined;
  const { url, headers, metadata, events } = typeof given === "string" ? { url: given } : given;
  return { url, headers: headers ?? {}, metadata: metadata ?? {}, events: events ?? webhookEvents, isOrdered: true };
}

export function discoveryOf(request: CrawlRequest): Discovery {
  return {
    sitemap: request.sitemap ?? "include",
    depthMax: request.maxDiscoveryDepth ?? undefined,
    includePaths: request.includePaths ?? [],
    excludePaths: request.excludePaths ?? [],
    matchesFullUrl: request.regexOnFullURL ?? false,
    ignoresQuery: request.ignoreQueryParameters ?? false,
    entireDomain: request.crawlEntireDomain ?? false,
    subdomains: request.allowSubdomains ?? false,
    externalLinks: request.allowExternalLinks ?? false,
    robotsUserAgent: request.robotsUserAgent ?? undefined,
  };
}

/** For sites other than the named one, and for answers: the caller's headers may be its credentials. */
export function withoutHeaders(options: ScrapeOptions): ScrapeOptions {
  return { ...options, headers: undefined };
}

/** The options of a crawl in the words of its request, without its headers. */
export function optionsOf({ discovery, scrape }: CrawlPlan, { pagesMax, delayMs, concurrencyMax }: Crawl): JsonObject {
  return {
    limit: pagesMax,
    maxDiscoveryDepth: discovery?.depthMax,
    includePaths: discovery?.includePaths,
    excludePaths: discovery?.excludePaths,
    regexOnFullURL: discovery?.matchesFullUrl,
    sitemap: discovery?.sitemap,
    ignoreQueryParameters: discovery?.ignoresQuery,
    crawlEntireDomain: discovery?.entireDomain,
    allowSubdomains: discovery?.subdomains,
    allowExternalLinks: discovery?.externalLinks,
    robotsUserAgent: discovery?.robotsUserAgent,
    delay: delayMs / 1_000,
    maxConcurrency: concurrencyMax,
    scrapeOptions: withoutHeaders(scrape),
  };
}
