/** The headers that name who has answered a paid request. */
import type { WorkOrder } from "../../charges/index.ts";
import type { AttemptRecord } from "../../ledger/index.ts";

/** Names the target that was asked last, and how many requests all providers together have got. */
export function setTarget(
  headers: Record<string, string>,
  { provider, model }: Pick<WorkOrder["source"], "provider" | "model">,
  attempts: number,
): void {
  headers["x-tollgate-provider"] = provider;
  headers["x-tollgate-model"] = `${provider}/${model}`;
  headers["x-tollgate-attempts"] = String(attempts);
}

/** Adds the classes of all failures to the headers of an error, in the order of the requests. */
export function withFailures(
  headers: Record<string, string>,
  attempts: readonly AttemptRecord[] = [],
): Record<string, string> {
  const failures = attempts.toSorted((a, b) => a.number - b.number).flatMap(({ class: name }) => name ?? []);
  if (failures.length > 0) headers["x-tollgate-failures"] = failures.join(", ");
  return headers;
}
