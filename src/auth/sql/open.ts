import type { Storage } from "../../storage/index.ts";
import type { TokenStore } from "../store.ts";
import { SqliteTokenStore } from "./sqlite.ts";

/** The tokens' store for whichever engine the storage is. */
export function openTokenStore(storage: Storage): TokenStore {
  return new SqliteTokenStore(storage.handle);
}
