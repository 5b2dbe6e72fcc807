/** Work whose answer is known before it begins, such as the start of a job: the answer is stored with its hold. */
import type { RetryKey, StoredAnswer } from "../../ledger/index.ts";
import type { WorkDependencies } from "../dependencies.ts";
import { openWork, type Replay } from "../open-work.ts";
import type { WorkOrder } from "../work-order.ts";
import type { Work } from "../work.ts";
import { keepAnswer } from "./keep-answer.ts";
import { retryRefused } from "./retry-key.ts";

/** An answer that is stored in the commit of its hold, and kept until `until` (milliseconds since the epoch). */
export interface AnswerAhead {
  answer: StoredAnswer;
  until: number;
}

/** Like `openWork`; stores the answer in the same commit. It is kept, whatever becomes of the work. */
export function openAnswered(deps: WorkDependencies, order: WorkOrder, ahead: AnswerAhead): Promise<Work | Replay> {
  // Both are queued in this turn of the event loop. A refused hold has no key to keep an answer for.
  const both = Promise.all([openWork(deps, order), keepAnswer(deps, order, ahead.answer, ahead.until)]);
  return both.then(([opened]) => opened);
}

/** The retry key of an account. */
interface AccountKey {
  accountId: string;
  retry: RetryKey;
}

/**
 * The stored answer for a retry key, and whether its work is still running; undefined if the key is free. Throws 409 for
 * one that is in use without an answer, or was used with another body.
 */
export async function storedFor(
  { ledger, clock }: Pick<WorkDependencies, "ledger" | "clock">,
  key: AccountKey,
): Promise<(Replay & { isRunning: boolean }) | undefined> {
  const found = await ledger.takenKey({ ...key, at: clock() });
  if (found === undefined) return undefined;
  const { taken, isRunning } = found;
  if (taken.outcome !== "replayed") throw retryRefused(taken.outcome);
  return { firstId: taken.id, answer: taken.answer, isRunning };
}

/** Frees the retry key whose answer is that of this work. */
export async function forgetAnswer(
  { ledger }: Pick<WorkDependencies, "ledger">,
  { accountId, retry: { key } }: AccountKey,
  id: string,
): Promise<void> {
  await ledger.submit({ kind: "keep-answer", id, accountId, key, until: 0 });
}
