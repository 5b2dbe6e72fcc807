/** The program of the thread that does a step of retention on SQLite. `run-beside.ts` starts it. */
import { parentPort, workerData } from "node:worker_threads";
import { openLedgerStore } from "../../ledger/sql/open.ts";
import { runStep } from "../../retention/steps.ts";
import { openStorage } from "../storage.ts";
import type { StepData } from "./run-beside.ts";

if (parentPort === null) throw new Error("this program is a thread of the gateway");
const { file, step, settings } = workerData as StepData;
const stop = new AbortController();
parentPort.once("message", () => stop.abort(new Error("the step was stopped")));
try {
  const storage = await openStorage(`sqlite:${file}`, { checkpoints: false });
  try {
    const outcome = await runStep(openLedgerStore(storage), step, { ...settings, signal: stop.signal });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort.postMessage(outcome);
  } finally {
    await storage.close();
  }
} finally {
  // The listener would keep the thread.
  parentPort.close();
}
