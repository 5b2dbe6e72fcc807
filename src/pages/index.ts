export { parseHtml } from "./html/parse.ts";
export { PageError, type PageFailure } from "./page-error.ts";
export type { Page, PageKind, PageMetadata, PageRequest, PageWants, PdfOptions } from "./page.ts";
export { PagePool, type PagePoolOptions, type TakeApartOptions } from "./pool/page-pool.ts";
