/** The program of the thread that reads the tables of a SQLite storage. `http/rows/tables-thread.ts` starts it. */
import { randomBytes } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { openGenerationStore } from "../generations/index.ts";
import { serveTables } from "../http/rows/serve-tables.ts";
import { TablesHere } from "../http/rows/tables.ts";
import { type OpenFile, readOnlyStorage } from "../storage/index.ts";
import { createAccounts } from "./accounts.ts";

if (parentPort === null) throw new Error("this program is a thread of the gateway");
const storage = readOnlyStorage(workerData as OpenFile);
// oxlint-disable-next-line no-restricted-properties -- the environment of this thread
const accounts = createAccounts(storage, { clock: Date.now, randomBytes }, "tables");
serveTables(new TablesHere({ admin: accounts, generations: openGenerationStore(storage) }), parentPort, () => {
  void storage.close();
});
