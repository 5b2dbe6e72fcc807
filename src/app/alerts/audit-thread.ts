/** The program of the thread that audits the books on SQLite. `audit.ts` starts it. */
import { parentPort, workerData } from "node:worker_threads";
import { openLedgerStore } from "../../ledger/sql/open.ts";
import { openStorage } from "../storage.ts";

if (parentPort === null) throw new Error("this program is a thread of the gateway");
const storage = await openStorage(`sqlite:${String(workerData)}`);
const { drifts } = await openLedgerStore(storage).audit();
await storage.close();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort.postMessage(drifts);
