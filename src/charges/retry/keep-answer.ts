import { limits } from "../../core/index.ts";
import type { StoredAnswer } from "../../ledger/index.ts";
import type { WorkDependencies } from "../dependencies.ts";
import type { WorkOrder } from "../work-order.ts";

/**
 * Stores the answer for the retry key of work that goes on in a job, until `until` (milliseconds since the epoch; a day from
 * now by default). Does nothing for work without a key, or whose key is another's by now. Rejects if the store cannot
 * commit; may be repeated.
 */
export async function keepAnswer(
  { ledger, clock }: Pick<WorkDependencies, "ledger" | "clock">,
  { id, principal: { accountId }, retry }: Pick<WorkOrder, "id" | "principal" | "retry">,
  answer: StoredAnswer,
  until = clock() + limits.retryAnswerTtlMs,
): Promise<void> {
  if (retry === undefined) return;
  await ledger.submit({ kind: "keep-answer", id, accountId, key: retry.key, answer, until });
}
