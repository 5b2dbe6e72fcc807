import type { Storage } from "../../storage/index.ts";
import type { LedgerStore } from "../store.ts";
import { SqliteLedgerStore } from "./sqlite/store.ts";

/** The ledger's store for whichever engine the storage is. */
export function openLedgerStore(storage: Storage): LedgerStore {
  return new SqliteLedgerStore(storage.handle);
}
