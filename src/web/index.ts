export { PageCache } from "./cache/index.ts";
export { Screenshots } from "./screenshots/index.ts";
export { openStoredBytesStore, type StoredBytesStore } from "./stored-bytes/index.ts";
export { openCrawlStore } from "./crawl/sql/open.ts";
export type { CrawlStore, LeasedPage, NewCrawl, NewPage } from "./crawl/store.ts";
