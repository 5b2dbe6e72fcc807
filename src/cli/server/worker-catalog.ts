/** The price catalogs of worker processes, which the parent notes in the fingerprint of its node. */
import process from "node:process";
import { everyUnref } from "../../core/index.ts";

/** How soon the parent learns of another catalog. */
const LOOK_MS = 2_500;

interface CatalogReport {
  /** Empty for the built-in catalog alone. */
  catalog: string;
}

/** Sends the hash of the catalog in force whenever it has changed, in a worker. */
export function reportCatalog(hash: () => string | undefined): void {
  let sent: string | undefined;
  const report = (): void => {
    const catalog = hash() ?? "";
    if (catalog === sent) return;
    sent = catalog;
    process.send?.({ catalog } satisfies CatalogReport);
  };
  report();
  everyUnref(LOOK_MS, report);
}

export const isCatalogReport = (message: object): message is CatalogReport => "catalog" in message;

/** The parent's side. */
export class WorkerCatalogs<Worker> {
  readonly #hashes = new Map<Worker, string>();

  /** Those of all workers; more than one while they differ. Undefined if all have the built-in catalog alone. */
  get hash(): string | undefined {
    const hashes = [...new Set(this.#hashes.values())].toSorted().join(" ");
    return hashes === "" ? undefined : hashes;
  }

  receive(worker: Worker, { catalog }: CatalogReport): void {
    this.#hashes.set(worker, catalog);
  }

  leave(worker: Worker): void {
    this.#hashes.delete(worker);
  }
}
