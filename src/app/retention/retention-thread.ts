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
const storage = await openStorage(`sqlite:${file}`);
const outcome = await runStep(openLedgerStore(storage), step, { ...settings, signal: stop.signal });
await storage.close();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort.postMessage(outcome);
