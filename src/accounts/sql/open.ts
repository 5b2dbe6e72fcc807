import { runnerOf, type Storage } from "../../storage/index.ts";
import type { Holder, HolderKind } from "../holder.ts";
import { holders, selectHolder } from "./holders.ts";

/** Organisations and users, as they are now. Acts read them with the statements of `holders.ts`. */
export interface HolderStore {
  find(kind: HolderKind, idOrName: string): Promise<Holder | undefined>;
}

export function openHolderStore(storage: Storage): HolderStore {
  const runner = runnerOf(storage);
  return { find: (kind, idOrName) => runner.first(selectHolder(kind, idOrName), holders.read) };
}
