/** The reasons why a request was changed, as a header of its answer. */
import type { JsonEdit } from "../bodies/index.ts";
import type { FactName } from "../core/index.ts";

/** The headers with the names of facts that a request did not fit; `headers` themselves if it fitted all. */
export function withChanges<Headers extends Readonly<Record<string, string>> | undefined>(
  headers: Headers,
  changes: ReadonlySet<FactName> | undefined,
): Headers | Readonly<Record<string, string>> {
  if (changes === undefined || changes.size === 0) return headers;
  return { ...headers, "x-tollgate-changes": [...changes].toSorted().join(", ") };
}

/** The facts that a body did not fit; undefined if there are none, as for most calls. */
export function factsOfEdits(edits: readonly JsonEdit[]): Set<FactName> | undefined {
  let facts: Set<FactName> | undefined;
  for (const { fact } of edits) if (fact !== undefined) (facts ??= new Set()).add(fact);
  return facts;
}
