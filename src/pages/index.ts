export type { TextComparison, DiffChunk } from "./changes/compare-texts.ts";
export { selectorCharactersMax, selectorCostMax, selectorCostOf } from "./html/selector-cost.ts";
export { PageError, type ReadFailure } from "./page-error.ts";
export { frameMark, hiddenMark } from "./page.ts";
export type {
  Page,
  DocumentKind,
  PageAttribute,
  PageDoubt,
  PageMetadata,
  PageRequest,
  PageWants,
  PdfOptions,
} from "./page.ts";
export type { PatternLists } from "./pool/match-patterns.ts";
export { PagePool, picturesMax, type PagePoolOptions, type TakeApartOptions } from "./pool/page-pool.ts";
export type { MainContent, PageType } from "./main-content/index.ts";
export type * as contentTraining from "./main-content/training.ts";
export {
  type Sitemap,
  type SitemapEntry,
  sitemapAddressesMax,
  sitemapBytesMax,
  sitemapCharactersMax,
  type SitemapRequest,
} from "./sitemap/sitemap.ts";

/** For the benchmark. Only on request: the gateway takes no page apart itself, and parser and model cost it 10 MB and 0.1 s. */
export const loadExtraction = () => import("./extraction.ts");
