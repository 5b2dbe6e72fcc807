/** Work whose answer is known before it begins, such as the start of a job: a repeated request is answered from then on. */
import { limits } from "../../core/index.ts";
import type { StoredAnswer } from "../../ledger/index.ts";
import type { WorkDependencies } from "../dependencies.ts";
import { keepAnswer } from "./keep-answer.ts";
import { openWork, type Replay } from "../open-work.ts";
import type { WorkOrder } from "../work-order.ts";
import type { Work } from "../work.ts";

/**
 * Begins work with a retry key and stores its answer, in one commit. Like `openWork`; the answer is kept until `until`
 * (milliseconds since the epoch), whatever becomes of the work.
 */
export async function openAnswered(
  deps: WorkDependencies,
  order: WorkOrder,
  answer: StoredAnswer,
  until: number,
): Promise<Work | Replay> {
  // Both are queued in this turn of the event loop. A refused hold has no key to keep an answer for.
  const [opened] = await Promise.all([openWork(deps, order), keepAnswer(deps, order, answer, until)]);
  return opened;
}

/** Whether the work has not ended, so that its process is at it, or died within the lease, which begins again. */
export async function isOpen(
  { ledger, clock }: Pick<WorkDependencies, "ledger" | "clock">,
  id: string,
): Promise<boolean> {
  const leaseUntil = clock() + limits.holdLeaseMs;
  const { outcome } = await ledger.submit({ kind: "renew", id, leaseUntil, observed: undefined });
  return outcome === "renewed";
}

/** Frees the retry key whose answer is that of this work. */
export async function forgetAnswer(
  { ledger }: Pick<WorkDependencies, "ledger">,
  { principal: { accountId }, retry }: Pick<WorkOrder, "principal" | "retry">,
  id: string,
): Promise<void> {
  if (retry !== undefined) await ledger.submit({ kind: "keep-answer", id, accountId, key: retry.key, until: 0 });
}
