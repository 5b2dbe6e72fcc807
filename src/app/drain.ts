/** The end of a serving process: its work ends, and every charge is written. */
import type { EndJournal } from "../charges/index.ts";
import { formatCredits } from "../core/index.ts";
import type { RunningPart } from "../http/index.ts";
import type { Ledger, Release, Settle } from "../ledger/index.ts";
import type { Logger } from "../telemetry/index.ts";

/** How long the parts that were ended at the bound may take to settle, and the background to stop. */
const SETTLE_MS_MAX = 5_000;

/** How long a stopping server waits for an unavailable storage, to write the remaining charges. */
const STORAGE_MS_MAX = 30_000;

/** The interval at which a draining server checks whether everything has ended. */
const DRAIN_POLL_MS = 20;

interface DrainOptions {
  parts: readonly RunningPart[];
  /** How long active parts may still run. */
  drainMsMax: number;
  ledger: Ledger;
  unsettled: ReadonlyMap<string, Settle | Release>;
  journal: EndJournal;
  logger: Logger;
}

/**
 * Ends the parts, and commits the remaining operations. Resolves with the number of works whose end neither the storage nor
 * the journal accepted; each of them is in the log.
 */
export async function drain({ parts, drainMsMax, ledger, unsettled, journal, logger }: DrainOptions): Promise<number> {
  const isIdle = (): boolean => parts.every(({ active = 0 }) => active === 0);
  for (const part of parts) part.close?.();
  await waitUntil(isIdle, drainMsMax);
  for (const part of parts) part.abortAll?.();
  await waitUntil(isIdle, SETTLE_MS_MAX);
  await Promise.race([stopAll(parts, logger), Bun.sleep(SETTLE_MS_MAX)]);
  // Pending operations are committed once the storage accepts them; failed ones are retried meanwhile.
  await Promise.race([ledger.flush(), Bun.sleep(STORAGE_MS_MAX)]);
  await waitUntil(() => unsettled.size === 0, STORAGE_MS_MAX);
  const left = [...unsettled.values()];
  const lost = left.filter(({ id }) => !journal.has(id));
  for (const end of left) {
    if (journal.has(end.id)) logger.warn(unwrittenEnd(end), "is in the journal, for the next start");
    else logger.error(unwrittenEnd(end), "could not be written to the ledger");
  }
  journal.close();
  return lost.length;
}

/** A part that fails to stop keeps no other from it. */
export async function stopAll(parts: readonly RunningPart[], logger: Logger): Promise<void> {
  const stopped = await Promise.allSettled(parts.map(async (part) => part.stop?.()));
  for (const each of stopped) {
    if (each.status === "rejected") logger.error({ reason: String(each.reason) }, "a part failed to stop");
  }
}

function unwrittenEnd(operation: Settle | Release) {
  const credits = operation.kind === "settle" ? formatCredits(operation.amount) : "0";
  return { request_id: operation.id, kind: operation.kind, credits };
}

/** Waits for the condition, at most `milliseconds`. */
async function waitUntil(isSo: () => boolean, milliseconds: number): Promise<void> {
  const until = performance.now() + milliseconds;
  while (!isSo() && performance.now() < until) await Bun.sleep(DRAIN_POLL_MS);
}
