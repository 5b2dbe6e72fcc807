export { parseHtml } from "./html/parse.ts";
export { PageError, type ReadFailure } from "./page-error.ts";
export type { Page, DocumentKind, PageMetadata, PageRequest, PageWants, PdfOptions } from "./page.ts";
export { PagePool, type PagePoolOptions, type TakeApartOptions } from "./pool/page-pool.ts";
export { mainContent, type MainContent, type PageType } from "./main-content/index.ts";
export * as contentTraining from "./main-content/training.ts";
export type { Sitemap, SitemapEntry, SitemapRequest } from "./sitemap/read-sitemap.ts";
