import type { Storage } from "../../storage/index.ts";
import type { LedgerStore } from "../store.ts";
import { PostgresLedgerStore } from "./postgres/store.ts";
import { SqliteLedgerStore } from "./sqlite/store.ts";

const opened = new WeakMap<Storage, LedgerStore>();

/**
 * The ledger's store for the storage's engine. Each storage has one store, also for repeated calls: its cache notices
 * commits of other connections, but not those of another store on the same one.
 */
export function openLedgerStore(storage: Storage): LedgerStore {
  const store = opened.get(storage) ?? createStore(storage);
  opened.set(storage, store);
  return store;
}

function createStore(storage: Storage): LedgerStore {
  return storage.engine === "sqlite" ? new SqliteLedgerStore(storage) : new PostgresLedgerStore(storage);
}
