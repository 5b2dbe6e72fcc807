/** The audit of the books beside calls. */
import { Worker } from "node:worker_threads";
import { type Drift, openLedgerStore } from "../../ledger/index.ts";
import type { Storage } from "../../storage/index.ts";

const PROGRAM = new URL("audit-thread.ts", import.meta.url);

/** On SQLite in a thread with a connection of its own: there it is one long computation. A file in memory has no other connection. */
export async function auditOf(storage: Storage): Promise<readonly Drift[]> {
  if (storage.engine === "postgres" || storage.file === undefined)
    return (await openLedgerStore(storage).audit()).drifts;
  const { promise, resolve, reject } = Promise.withResolvers<readonly Drift[]>();
  const thread = new Worker(PROGRAM, { workerData: storage.file });
  thread.unref();
  thread.once("message", resolve);
  thread.once("error", reject);
  thread.once("exit", () => reject(new Error("the thread of the audit has ended")));
  try {
    return await promise;
  } finally {
    void thread.terminate();
  }
}
