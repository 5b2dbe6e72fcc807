import { runnerOf, type SqliteStorage, type Storage } from "../../storage/index.ts";
import { PostgresCrawlStore } from "../crawl/sql/postgres.ts";
import { SqliteCrawlStore } from "../crawl/sql/sqlite.ts";
import type { CrawlStore } from "../crawl/store.ts";
import { SqlStoredBytesStore } from "../stored-bytes/sql/store.ts";
import type { StoredBytesStore } from "../stored-bytes/store.ts";
import { PostgresTextIndexStore } from "../text-index/sql/postgres.ts";
import { SqliteTextIndexStore } from "../text-index/sql/sqlite.ts";
import type { TextIndexStore } from "../text-index/store.ts";
import { remoteStore } from "./remote-store.ts";
import { StoreThread } from "./store-thread.ts";

/** What the web keeps: crawls, cached pages and screenshots, and the index of the local search. */
export interface WebStores {
  crawls: CrawlStore;
  storedBytes: StoredBytesStore;
  textIndex: TextIndexStore;
}

/** The web's stores for the storage's engine. They close with the storage. */
export function openWebStores(storage: Storage): WebStores {
  if (storage.engine === "sqlite") return openOnThread(storage);
  const runner = runnerOf(storage);
  return {
    crawls: new PostgresCrawlStore(runner),
    storedBytes: new SqlStoredBytesStore(runner),
    textIndex: new PostgresTextIndexStore(runner),
  };
}

/** A page is indexed, compressed and stored for some milliseconds, which would delay every call of the gateway's thread. */
function openOnThread(storage: SqliteStorage): WebStores {
  const thread = new StoreThread(storage.place);
  storage.onClose(() => thread.stop());
  return {
    crawls: remoteStore(thread, "crawls", SqliteCrawlStore),
    storedBytes: remoteStore(thread, "storedBytes", SqlStoredBytesStore),
    textIndex: remoteStore(thread, "textIndex", SqliteTextIndexStore),
  };
}
