/** Crawls and batches in Firecrawl's v1 API. */
import { type JsonObject, objectsOf, objectOf, parseObject } from "../../core/index.ts";
import type { CrawlKind } from "../crawl/store.ts";
import { documentForV1, namesExtract, optionsFromV1 } from "./scrape-options.ts";

/** Crawls leave out paths with more segments, and patterns that repeat more are refused. */
const SEGMENTS_MAX = 30;

/** The body for v2 of a crawl or a batch. */
export function jobFromV1(kind: CrawlKind, body: JsonObject): JsonObject {
  if (kind === "crawl") return crawlFromV1(body);
  return kind === "batch" ? batchFromV1(body) : extractionFromV1(body);
}

function extractionFromV1({ scrapeOptions, ...rest }: JsonObject): JsonObject {
  const options = objectOf(scrapeOptions);
  return { ...rest, ...(options !== undefined && { scrapeOptions: optionsFromV1(options) }) };
}

function crawlFromV1(body: JsonObject): JsonObject {
  const { ignoreSitemap, allowBackwardLinks, maxDepth, scrapeOptions, excludePaths, ...rest } = body;
  const tooDeep = typeof maxDepth === "number" ? deeperThan(body, maxDepth) : undefined;
  return {
    ...rest,
    ...(ignoreSitemap === true && { sitemap: "skip" }),
    ...(allowBackwardLinks === true && { crawlEntireDomain: true }),
    ...(tooDeep === undefined ? { excludePaths } : { excludePaths: [...list(excludePaths), tooDeep] }),
    scrapeOptions: optionsFromV1(objectOf(scrapeOptions) ?? {}),
  };
}

/** The pattern of the paths with more segments below the start's than `maxDepth`; undefined if no path is as long. */
function deeperThan({ url, regexOnFullURL }: JsonObject, maxDepth: number): string | undefined {
  const text = String(url).trim();
  const path = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`)?.pathname ?? "/";
  const depth = path.split("/").filter((segment) => segment !== "").length;
  const segments = depth + Math.max(Math.trunc(maxDepth), 0) + 1;
  if (segments > SEGMENTS_MAX) return undefined;
  const host = regexOnFullURL === true ? "https?://[^/?#]+" : "";
  return `^${host}(?:/+[^/?#]+){${segments}}`;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value == null ? [] : [value];
}

const batchMembers: ReadonlySet<string> = new Set([
  "urls",
  "webhook",
  "ignoreInvalidURLs",
  "maxConcurrency",
  "appendToId",
  "origin",
  "integration",
]);

function batchFromV1(body: JsonObject): JsonObject {
  const own = Object.entries(body).filter(([name]) => batchMembers.has(name));
  const options = Object.entries(body).filter(([name]) => !batchMembers.has(name));
  return { ignoreInvalidURLs: false, ...Object.fromEntries(own), ...optionsFromV1(Object.fromEntries(options)) };
}

/** Whether the pages of a job have their object by the older name of v1, too. */
export function jobNamesExtract(kind: CrawlKind, body: JsonObject): boolean {
  if (kind === "extract") return false;
  return namesExtract(kind === "crawl" ? (objectOf(body["scrapeOptions"]) ?? {}) : body);
}

/** The status of a job without its pages. `origin` is the client that started it; Python's reads whole numbers, and needs one. */
export function statusForV1({ next, ...status }: JsonObject, origin: string | undefined, credits: number): JsonObject {
  const isWhole = origin?.startsWith("python-sdk") === true;
  return { ...status, creditsUsed: isWhole ? Math.floor(credits) : credits, ...(next != null && { next }) };
}

/** A stored page, as JSON. It begins with its object by the older name, unless an earlier version has stored it. */
export function storedDocumentForV1(text: string, asksExtract: boolean): string {
  return asksExtract && !text.startsWith('{"extract":')
    ? JSON.stringify(documentForV1(parseObject(text) ?? {}, true))
    : text;
}

/** The failures of a job: v1 has texts only. */
export function errorsForV1({ errors, ...rest }: JsonObject): JsonObject {
  return { ...rest, errors: objectsOf(errors).map(({ count: _count, ...each }) => each) };
}
