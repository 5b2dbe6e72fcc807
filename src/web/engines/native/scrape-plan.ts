import type { JsonObject } from "../../../core/index.ts";
import type { PdfOptions } from "../../../pages/index.ts";
import { readFormats, type Formats } from "../../scrape/formats.ts";
import { type ScrapeRequest, TIMEOUT_MS, withScheme } from "../../scrape/scrape-request.ts";

/** Pages of a PDF that are read unless the request differs. */
const PDF_PAGES = 1_000;

/** How a PDF is read: by its text, and pages without any from their pictures if a model can do that; `fast`: by text alone; `ocr`: all pages so. */
interface PdfPlan extends PdfOptions {
  mode?: "fast" | "ocr";
}

/** A checked scrape, with all defaults. */
export interface ScrapePlan {
  url: string;
  /** As the caller wrote it. */
  sourceUrl: string;
  formats: Formats;
  onlyMainContent: boolean;
  includeTags: readonly string[];
  excludeTags: readonly string[];
  headers: Readonly<Record<string, string>>;
  waitForMs: number;
  mobile: boolean;
  timeoutMs: number;
  /** Whether the caller has chosen that time. */
  hasOwnTimeout: boolean;
  languages: readonly string[];
  /** Whether the caller asks for a country, which the gateway has no addresses in. */
  hasCountry: boolean;
  actions: NonNullable<ScrapeRequest["actions"]>;
  removeBase64Images: boolean;
  blockAds: boolean;
  pdf: PdfPlan;
  maxAgeMs: number;
  storesInCache: boolean;
}

export function planOf(request: ScrapeRequest, { cacheMsMax }: { cacheMsMax: number }): ScrapePlan {
  const wanted = readFormats(request.formats);
  return {
    url: withScheme(request.url),
    sourceUrl: request.url,
    formats: wanted,
    onlyMainContent: request.onlyMainContent ?? true,
    includeTags: request.includeTags ?? [],
    excludeTags: request.excludeTags ?? [],
    headers: request.headers ?? {},
    waitForMs: request.waitFor ?? 0,
    mobile: request.mobile ?? false,
    timeoutMs: request.timeout ?? TIMEOUT_MS,
    hasOwnTimeout: request.timeout != null,
    languages: request.location?.languages ?? [],
    hasCountry: Boolean(request.location?.country),
    actions: request.actions ?? [],
    removeBase64Images: request.removeBase64Images ?? true,
    blockAds: request.blockAds ?? true,
    pdf: pdfOf(request.parsers),
    // A page from the cache has not changed.
    maxAgeMs: wanted.changes === undefined ? (request.maxAge ?? cacheMsMax) : 0,
    storesInCache: request.storeInCache !== false && request.zeroDataRetention !== true,
  };
}

function pdfOf(parsers: ScrapeRequest["parsers"]): ScrapePlan["pdf"] {
  if (parsers == null) return { parse: true, pagesMax: PDF_PAGES };
  const [parser] = parsers;
  if (parser === undefined) return { parse: false, pagesMax: PDF_PAGES };
  const { maxPages, mode } = typeof parser === "object" ? parser : {};
  return {
    parse: true,
    pagesMax: maxPages ?? PDF_PAGES,
    ...(mode != null && mode !== "auto" && { mode }),
    ...(mode === "ocr" && { isOcr: true }),
  };
}

/** Whether only a browser can do this. */
export function needsBrowser({ formats, actions, waitForMs }: ScrapePlan): boolean {
  return formats.screenshot !== undefined || actions.length > 0 || waitForMs > 0;
}

/**
 * Whether the page may be answered from the cache and stored in it: everything that it depends on is in its key. With
 * headers it may be a personal page, and screenshots have addresses that end earlier.
 */
export function isCacheable(plan: ScrapePlan): boolean {
  const { formats, actions, headers } = plan;
  return formats.screenshot === undefined && actions.length === 0 && Object.keys(headers).length === 0;
}

/** The formats that a page itself is made of; a model makes the others from its markdown. */
export function pageFormatsOf({ names, json, changes, attributes }: Formats) {
  return {
    markdown: names.has("markdown") || names.has("summary") || json !== undefined || changes !== undefined,
    html: names.has("html"),
    rawHtml: names.has("rawHtml"),
    links: true,
    images: names.has("images"),
    ...(attributes.length > 0 && { attributes }),
  };
}

/** Names everything that a cached page depends on. */
export function cacheKeyOf(plan: ScrapePlan): string {
  return keyOf(plan, { formats: pageFormatsOf(plan.formats) });
}

/** Names everything that the markdown of a page depends on, and the tag of its history. */
export function historyKeyOf(plan: ScrapePlan): string {
  return keyOf(plan, { tag: plan.formats.changes?.tag });
}

function keyOf(plan: ScrapePlan, more: JsonObject): string {
  const { url, onlyMainContent, includeTags, excludeTags, waitForMs, mobile, languages } = plan;
  const { removeBase64Images, pdf } = plan;
  const parts: JsonObject = {
    url: new URL(url).href,
    ...more,
    onlyMainContent,
    includeTags,
    excludeTags,
    waitForMs,
    mobile,
    languages,
    removeBase64Images,
    pdf,
  };
  return JSON.stringify(parts);
}
