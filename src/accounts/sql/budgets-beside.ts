/** How many budgets a call can count in beside its chain. */
import { globsMeet } from "../../core/index.ts";
import { column, sql, type Steps, tableOf } from "../../storage/index.ts";
import { AccountError } from "../account-error.ts";

/** Each is locked by every commit of such a call. */
const BUDGETS_BESIDE_MAX = 4;

interface Placed {
  kind: string;
  name: string;
  accountId: string;
  parentId: string | undefined;
  /** The parent's parent. */
  rootId: string | undefined;
  /** Undefined for all models. */
  groupId: string | undefined;
  /** JSON; undefined for all models. */
  models: string | undefined;
}

const { text, optional } = column;
const placed = tableOf<Placed>({
  kind: text,
  name: text,
  accountId: text,
  parentId: optional(text),
  rootId: optional(text),
  groupId: optional(text),
  models: optional(text),
});

/**
 * Throws 422 if some call could count in a fifth budget by now: through an account that `through` is a part of, or through any. Of
 * groups, those can meet in a call that have globs which can match one model.
 */
export function* requireFewBudgets(through?: string): Steps<void> {
  const rows = yield sql`SELECT a.kind, a.name, b.account_id, a.parent_id, p.parent_id AS root_id, b.group_id, g.models
    FROM budgets b JOIN accounts a ON a.id = b.account_id LEFT JOIN accounts p ON p.id = a.parent_id
      LEFT JOIN model_groups g ON g.id = b.group_id
    WHERE b.deleted_at IS NULL`;
  const byAccount = Map.groupBy(rows.map(placed.read), ({ accountId }) => accountId);
  // Many accounts have budgets for the same groups, those of their organisation among them.
  const judged = new Set<string>();
  for (const [first] of byAccount.values()) {
    if (first === undefined) continue;
    const chain = [first.accountId, first.parentId ?? "", first.rootId ?? ""];
    const isTouched = through === undefined || chain.includes(through);
    const beside = chain.flatMap((id) => byAccount.get(id) ?? []);
    if (!isTouched || beside.length <= BUDGETS_BESIDE_MAX) continue;
    const groups = beside
      .map(({ groupId }) => groupId ?? "")
      .toSorted()
      .join();
    if (!judged.has(groups)) requireFewMeet(first, beside);
    judged.add(groups);
  }
}

function requireFewMeet({ kind, name }: Placed, budgets: readonly Placed[]): void {
  const lists = budgets.map(({ models }) => (models === undefined ? ["*"] : (JSON.parse(models) as string[])));
  if (!canMeet(lists, BUDGETS_BESIDE_MAX + 1)) return;
  const message = `Some call of ${kind} ${name} would count in more than ${BUDGETS_BESIDE_MAX} budgets beside those of its accounts.`;
  throw new AccountError(message, "too_many_budgets");
}

/** Whether so many of the lists of globs meet each other. */
export function canMeet(lists: readonly (readonly string[])[], count: number): boolean {
  const meetings = meetingsOf(lists);
  const among = (candidates: readonly number[], wanted: number): boolean =>
    wanted === 0 ||
    candidates.some((list, index) => {
      const further = candidates.slice(index + 1).filter((other) => meetings[list]?.has(other));
      return further.length >= wanted - 1 && among(further, wanted - 1);
    });
  return among([...lists.keys()], count);
}

/** The lists that each list meets. Globs can match one text only if what is before the first `*` of one begins that of the other. */
function meetingsOf(lists: readonly (readonly string[])[]): ReadonlySet<number>[] {
  const meetings = lists.map(() => new Set<number>());
  const globs = lists
    .flatMap((list, index) => list.map((glob) => ({ glob, index, start: glob.split("*", 1)[0] ?? "" })))
    .toSorted((one, other) => (one.start < other.start ? -1 : one.start > other.start ? 1 : 0));
  // Sorted by it, those whose beginning is one of the next glob's are before it, each a beginning of the one after it.
  const before: typeof globs = [];
  for (const next of globs) {
    while (before.length > 0 && !next.start.startsWith(before.at(-1)?.start ?? "")) before.pop();
    for (const { glob, index } of before) {
      if (index === next.index || meetings[index]?.has(next.index) === true || !globsMeet(glob, next.glob)) continue;
      meetings[index]?.add(next.index);
      meetings[next.index]?.add(index);
    }
    before.push(next);
  }
  return meetings;
}
