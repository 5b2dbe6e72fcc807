/** The batches of all users, for operators. */
import type { ActOptions, AuditLog } from "../audit/index.ts";
import type { Clock } from "../core/index.ts";
import type { Storage } from "../storage/index.ts";
import { cancelSteps, openBatchStore } from "./sql/batch-store.ts";
import type { BatchStore, DirectoryPage, StoredBatch } from "./store.ts";

interface DirectoryOptions {
  storage: Storage;
  log: AuditLog;
  clock: Clock;
}

export class BatchDirectory {
  readonly #store: BatchStore;
  readonly #log: AuditLog;
  readonly #clock: Clock;

  constructor({ storage, log, clock }: DirectoryOptions) {
    this.#store = openBatchStore(storage);
    this.#log = log;
    this.#clock = clock;
  }

  /** All that are kept, or those of one user. */
  list(page: DirectoryPage): Promise<StoredBatch[]> {
    return this.#store.all(page);
  }

  find(id: string): Promise<StoredBatch | undefined> {
    return this.#store.find(id, this.#clock());
  }

  /** As its owner cancels it, with a row in the audit log. Resolves with false if it has ended, or is ending by now. */
  cancel(id: string, options: ActOptions): Promise<boolean> {
    const now = this.#clock();
    return this.#log.act(options, function* (note) {
      if (!(yield* cancelSteps(id, now))) return false;
      note({ act: "batch.cancel", target: `batch:${id}` });
      return true;
    });
  }
}
