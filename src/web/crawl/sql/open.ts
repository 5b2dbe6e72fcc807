import type { Storage } from "../../../storage/index.ts";
import type { CrawlStore } from "../store.ts";
import { PostgresCrawlStore } from "./postgres.ts";
import { SqliteCrawlStore } from "./sqlite.ts";

/** The crawls' store for the storage's engine. */
export function openCrawlStore(storage: Storage): CrawlStore {
  return storage.engine === "sqlite"
    ? new SqliteCrawlStore(storage.handle)
    : new PostgresCrawlStore(storage.statements);
}
