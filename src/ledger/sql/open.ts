import type { Storage } from "../../storage/index.ts";
import type { LedgerStore } from "../store.ts";
import { PostgresLedgerStore } from "./postgres/store.ts";
import { SqliteLedgerStore } from "./sqlite/store.ts";

const opened = new WeakMap<Storage, LedgerStore>();

/**
 * The ledger's store for whichever engine the storage is: one for each storage, however often it is asked for, since
 * what a store keeps in memory is made stale by other connections' commits only, not by another store on its own.
 */
export function openLedgerStore(storage: Storage): LedgerStore {
  const store = opened.get(storage) ?? createStore(storage);
  opened.set(storage, store);
  return store;
}

function createStore(storage: Storage): LedgerStore {
  return storage.engine === "sqlite" ? new SqliteLedgerStore(storage.handle) : new PostgresLedgerStore(storage);
}
