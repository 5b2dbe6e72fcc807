import { type Database, SQLiteError } from "bun:sqlite";
import type { MessagePort } from "node:worker_threads";
import { lowerThreadPriority } from "../../core/index.ts";
import { runnerOf } from "../../storage/index.ts";
import { SqliteCrawlStore } from "../crawl/sql/sqlite.ts";
import { SqlStoredBytesStore } from "../stored-bytes/sql/store.ts";
import { SqliteTextIndexStore } from "../text-index/sql/sqlite.ts";
import { STOP, type StoreName, type StoreReply, type StoreRequest } from "./thread-protocol.ts";

/** Performs the calls that come from a `StoreThread`, one after the other, until it stops them. Closes the database then. */
export function serveStores(database: Database, port: MessagePort): void {
  lowerThreadPriority();
  const runner = runnerOf({ engine: "sqlite", handle: database });
  const stores = {
    crawls: new SqliteCrawlStore(runner),
    storedBytes: new SqlStoredBytesStore(runner),
    textIndex: new SqliteTextIndexStore(runner),
  };
  port.on("message", (message: StoreRequest | typeof STOP) => {
    if (message === STOP) {
      database.close();
      port.close();
      return;
    }
    void perform(stores, message).then((reply) => port.postMessage(reply));
  });
}

async function perform(
  stores: Record<StoreName, object>,
  { id, store, method, args }: StoreRequest,
): Promise<StoreReply> {
  try {
    const called = stores[store] as Record<string, (...values: unknown[]) => unknown>;
    return { id, result: await called[method]?.(...args) };
  } catch (reason) {
    const message = reason instanceof Error ? reason.message : String(reason);
    return { id, failure: { message, code: reason instanceof SQLiteError ? reason.code : undefined } };
  }
}
