import { type AccountKind, type AccountState, movedAccountId } from "../../ledger/index.ts";
import type { Steps } from "../../storage/index.ts";
import { AccountError } from "../account-error.ts";
import { requireFewBudgets } from "../sql/budgets-beside.ts";
import { moveBudgets } from "../sql/budgets.ts";
import type { AccountsDependencies } from "../dependencies.ts";
import { type Holder, ownerOf } from "../holder.ts";
import { roleRequired } from "../reach.ts";
import { leaveProjects, setMembers, updateHolder } from "../sql/holders.ts";
import { endSessionsOf, movableTokens, updateToken } from "../sql/tokens.ts";
import { requireNoCreditsOfOwn } from "./own-credits.ts";

/**
 * Moves a user or a project to another organisation, or out of theirs. An account's place never changes: the accounts of both and of their tokens
 * stay, with all spending and the open holds, which end there; new ones with the same limits count from zero. Their budgets move with what was spent of them. Secrets
 * and answers of retry keys go on to be used. Throws an `AccountError` for credits that would be lost.
 */
export function* moveSteps(
  deps: Pick<AccountsDependencies, "ledger" | "environment" | "caller">,
  { holder, chain }: { holder: Holder; chain: readonly AccountState[] },
  place: Holder | undefined,
): Steps<void> {
  const { ledger, environment, caller } = deps;
  const { kind } = holder;
  if (caller.role !== "owner") throw roleRequired(`Only an owner moves ${kind}s.`);
  if (kind === "organisation") throw new AccountError("an organisation is in no other one");
  const [account] = chain;
  if (account === undefined)
    throw new AccountError(`user ${holder.name} has only service tokens, and no account to move`);
  requireNoCreditsOfOwn(holder, account);
  const at = environment.clock();
  const id = yield* freeId(deps, account, kind, holder.id);
  yield* ledger.create({ ...account, id, parentId: place?.accountId, prepaid: place === undefined }, at);
  yield updateHolder({ ...holder, organisationId: place?.id, accountId: id });
  // Their accounts are below those that stay.
  yield endSessionsOf(ownerOf(holder), at);
  for (const token of yield* movableTokens(ownerOf(holder))) {
    const [old] = yield* ledger.chain(token.accountId, at);
    if (old === undefined) continue;
    const next = yield* freeId(deps, old, "token", token.id);
    yield* ledger.create({ ...old, id: next, parentId: id }, at);
    yield updateToken({ ...token, accountId: next });
    yield* ledger.moveAnswers(old.id, next);
    yield* moveBudgets("token", token.id, next);
  }
  yield* moveBudgets(kind, holder.id, id);
  // A user of another organisation sees a project no more.
  if (kind === "project") yield* setMembers(holder.id, []);
  else yield leaveProjects(holder.id);
  yield* requireFewBudgets(id);
}

/** The id of the account after this one: those of earlier moves are the ones before. */
function* freeId(
  { ledger, environment }: Pick<AccountsDependencies, "ledger" | "environment">,
  account: AccountState,
  kind: AccountKind,
  name: string,
): Steps<string> {
  const at = environment.clock();
  for (let next = movedAccountId(account.id, kind, name); ; next = movedAccountId(next, kind, name))
    if ((yield* ledger.chain(next, at)).length === 0) return next;
}
