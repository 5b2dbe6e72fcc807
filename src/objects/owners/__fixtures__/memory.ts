import { openStorage } from "../../../../test/kit/storage.ts";
import { openObjectOwnerStore, StoredObjects } from "../../index.ts";

/** Owners of objects in memory. */
export async function objectsInMemory(clock = () => 0): Promise<StoredObjects> {
  return new StoredObjects({ owners: openObjectOwnerStore(await openStorage("sqlite::memory:")), clock });
}
