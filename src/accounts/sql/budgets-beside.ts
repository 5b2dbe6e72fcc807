/** How many budgets a call can count in beside its chain. */
import { globsMeet } from "../../core/index.ts";
import { column, sql, type Steps, tableOf } from "../../storage/index.ts";
import { AccountError } from "../account-error.ts";

/** Each is locked by every commit of such a call. */
const BUDGETS_BESIDE_MAX = 4;

interface Placed {
  accountId: string;
  parentId: string | undefined;
  /** The parent's parent. */
  rootId: string | undefined;
  /** JSON; undefined for all models. */
  models: string | undefined;
}

const { text, optional } = column;
const placed = tableOf<Placed>({
  accountId: text,
  parentId: optional(text),
  rootId: optional(text),
  models: optional(text),
});

/**
 * Throws 422 if some call could count in a fifth budget by now: through an account that `through` is a part of, or through any. Of
 * groups, those can meet in a call that have globs which can match one model.
 */
export function* requireFewBudgets(through?: string): Steps<void> {
  const rows = yield sql`SELECT b.account_id, a.parent_id, p.parent_id AS root_id, g.models
    FROM budgets b JOIN accounts a ON a.id = b.account_id LEFT JOIN accounts p ON p.id = a.parent_id
      LEFT JOIN model_groups g ON g.id = b.group_id
    WHERE b.deleted_at IS NULL`;
  const byAccount = Map.groupBy(rows.map(placed.read), ({ accountId }) => accountId);
  for (const [first] of byAccount.values()) {
    if (first === undefined) continue;
    const chain = [first.accountId, first.parentId ?? "", first.rootId ?? ""];
    const isTouched = through === undefined || chain.includes(through);
    const beside = chain.flatMap((id) => byAccount.get(id) ?? []);
    if (isTouched && beside.length > BUDGETS_BESIDE_MAX) requireFewMeet(beside);
  }
}

function requireFewMeet(budgets: readonly Placed[]): void {
  const all = budgets.map(({ models }) => (models === undefined ? undefined : (JSON.parse(models) as string[])));
  if (!canMeet(all, BUDGETS_BESIDE_MAX + 1)) return;
  const message = `Some call would count in more than ${BUDGETS_BESIDE_MAX} budgets beside those of its accounts.`;
  throw new AccountError(message, "too_many_budgets");
}

type Globs = readonly string[] | undefined;

/** Whether so many of the lists meet each other. */
function canMeet(lists: readonly Globs[], count: number): boolean {
  if (count === 0) return true;
  return lists.some((list, index) => {
    const meeting = lists.slice(index + 1).filter((other) => listsMeet(list, other));
    return meeting.length >= count - 1 && canMeet(meeting, count - 1);
  });
}

function listsMeet(one: Globs, other: Globs): boolean {
  return one === undefined || other === undefined || one.some((glob) => other.some((each) => globsMeet(glob, each)));
}
