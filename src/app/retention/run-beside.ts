/** Steps of retention beside calls. */
import { Worker } from "node:worker_threads";
import { openLedgerStore } from "../../ledger/index.ts";
import { type RetentionSettings, type RetentionStep, runStep, type StepOutcome } from "../../retention/index.ts";
import type { Storage } from "../../storage/index.ts";

const PROGRAM = new URL("retention-thread.ts", import.meta.url);

/** Passed to the thread. */
export interface StepData {
  file: string;
  step: RetentionStep;
  settings: Omit<RetentionSettings, "signal">;
}

/**
 * On SQLite in a thread with a connection of its own: sealing is one long computation. A file in memory has no other connection. A
 * thread that was stopped ends after its transaction: terminated within, it would keep the file locked.
 */
export async function runBeside(
  storage: Storage,
  step: RetentionStep,
  settings: RetentionSettings,
): Promise<StepOutcome> {
  if (storage.engine === "postgres" || storage.file === undefined)
    return runStep(openLedgerStore(storage), step, settings);
  const { signal, ...rest } = settings;
  signal.throwIfAborted();
  const data: StepData = { file: storage.file, step, settings: rest };
  const { promise, resolve, reject } = Promise.withResolvers<StepOutcome>();
  const thread = new Worker(PROGRAM, { workerData: data });
  thread.unref();
  thread.once("message", resolve);
  thread.once("error", reject);
  thread.once("exit", () => reject(new Error("the thread of retention has ended")));
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  const stop = (): void => thread.postMessage("stop");
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
