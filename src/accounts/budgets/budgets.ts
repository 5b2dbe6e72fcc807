/** Budgets beside chains: several of an organisation, a user, a project or a token, for all models or those of a group. */
import type { NoteChange } from "../../audit/index.ts";
import { creditsNumber, type Nano, randomId } from "../../core/index.ts";
import { type Account, type AccountState, type BudgetPeriod, periodEnd } from "../../ledger/index.ts";
import { firstOf, type Steps } from "../../storage/index.ts";
import { AccountError } from "../account-error.ts";
import { type ActContext, actOptions, requireVersion } from "../acts/act-context.ts";
import { changed, holderSteps } from "../acts/change-holder.ts";
import { tokenSteps } from "../acts/change-token.ts";
import type { AccountName, AccountsDependencies } from "../dependencies.ts";
import { notFound, requireBudgetWithin, requireLimitable, requireNoMoreThanCaller, roleRequired } from "../reach.ts";
import { budgetSettings } from "./budget-json.ts";
import { requireFewBudgets } from "../sql/budgets-beside.ts";
import { groupSteps } from "./groups.ts";
import {
  type Budget,
  budgets,
  type BudgetState,
  insertBudget,
  markAccount,
  selectBudget,
  unmarkAccounts,
  updateBudget,
} from "../sql/budgets.ts";

/** A temporary raise, in nano-credits and milliseconds since the epoch. */
interface Raise {
  by: Nano;
  until: number;
}

/** The members to change; null takes one away. */
export interface BudgetChanges {
  /** A group's id or name; null for all models. */
  models?: string | null | undefined;
  maxBudget?: Nano | undefined;
  period?: BudgetPeriod | null | undefined;
  start?: number | null | undefined;
  raise?: Raise | null | undefined;
}

export interface BudgetRequest extends BudgetChanges {
  maxBudget: Nano;
}

export const accountIdOf = (id: string): string => `budget:${id}`;

export function addBudget(
  deps: AccountsDependencies,
  owner: AccountName,
  request: BudgetRequest,
  context: ActContext = {},
): Promise<BudgetState> {
  return deps.log.act(actOptions(deps, context), function* (note) {
    const state = yield* addBudgetSteps(deps, owner, request, note);
    yield* requireFewBudgets(state.budget.accountId);
    return state;
  });
}

/**
 * The same as a part of an act, which has to call `requireFewBudgets` at its end. `spent`: in the running period, before there was the
 * budget; it may be more than that.
 */
export function* addBudgetSteps(
  deps: AccountsDependencies,
  owner: AccountName,
  { maxBudget, spent = 0n, ...rest }: BudgetRequest & { spent?: Nano | undefined },
  note: NoteChange,
): Steps<BudgetState> {
  const { clock, randomBytes } = deps.environment;
  const place = yield* placeOf(deps, owner);
  const id = `budget_${randomId(randomBytes, 16)}`;
  const common = { id, groupId: undefined, createdAt: clock(), deletedAt: undefined, version: 1 };
  const budget: Budget = { ...common, ownerKind: owner.kind, ownerId: place.id, accountId: place.account.id };
  const unlimited = { prepaid: false, maxBudget, period: undefined, parentId: undefined };
  const account: Account = { id: accountIdOf(id), kind: "budget", name: id, ...unlimited };
  const next = yield* changedParts({ budget, account }, rest, clock());
  requireWithin(deps, next.account, place.chain);
  yield insertBudget(next.budget);
  if (spent > 0n) yield* deps.ledger.open(next.account, spent, clock());
  yield* deps.ledger.put(next.account, clock());
  yield markAccount(budget.accountId);
  const state = yield* budgetSteps(deps, id);
  const opening = spent > 0n && { spent_before: creditsNumber(spent) };
  note({ act: "budget.create", target: `budget:${id}`, after: { ...budgetSettings(state), ...opening } });
  return state;
}

/** What has been spent in a running period that goes on still counts. Throws an `AccountError`. */
export function changeBudget(
  deps: AccountsDependencies,
  id: string,
  changes: BudgetChanges,
  context: ActContext = {},
): Promise<BudgetState> {
  return deps.log.act(actOptions(deps, context), function* (note) {
    const before = yield* budgetSteps(deps, id);
    requireVersion(context, before.budget.version);
    const at = deps.environment.clock();
    const next = yield* changedParts(before, changes, at);
    const place = yield* placeOf(deps, { kind: before.budget.ownerKind, name: before.budget.ownerId });
    requireWithin(deps, next.account, place.chain);
    if (Bun.deepEquals([before.budget, before.account], [next.budget, next.account])) return before;
    yield updateBudget(next.budget);
    yield* deps.ledger.put(next.account, at);
    yield* requireFewBudgets(before.budget.accountId);
    const after = yield* budgetSteps(deps, id);
    note({
      act: "budget.change",
      target: `budget:${id}`,
      before: budgetSettings(before),
      after: budgetSettings(after),
    });
    return after;
  });
}

/**
 * Calls that count in it go on doing so; new ones do not. If the marks of accounts can't be taken away, calls of these are slower until
 * the next budget is deleted: that is logged alone, since the budget is gone.
 */
export async function deleteBudget(
  deps: AccountsDependencies,
  id: string,
  context: ActContext = {},
): Promise<BudgetState> {
  const deleted = await deletedBudget(deps, id, context);
  if (context.dryRun === true) return deleted;
  await deps.log.act(actOptions(deps, context), unmarkAccounts).catch((error: unknown) => {
    deps.logger?.warn({ err: error, budget: id }, "the accounts of a deleted budget keep their mark");
  });
  return deleted;
}

function deletedBudget(deps: AccountsDependencies, id: string, context: ActContext): Promise<BudgetState> {
  return deps.log.act(actOptions(deps, context), function* (note) {
    const state = yield* budgetSteps(deps, id);
    const { budget, account } = state;
    requireVersion(context, budget.version);
    yield* placeOf(deps, { kind: budget.ownerKind, name: budget.ownerId });
    const at = deps.environment.clock();
    yield updateBudget({ ...budget, deletedAt: at });
    // It limits no charge of those calls any more.
    yield* deps.ledger.put({ ...account, maxBudget: undefined, raisedBy: undefined, raisedUntil: undefined }, at);
    note({ act: "budget.delete", target: `budget:${id}`, before: budgetSettings(state) });
    return state;
  });
}

/** Throws 404 if there is none in the caller's reach. */
function* budgetSteps(deps: AccountsDependencies, id: string): Steps<BudgetState> {
  const { ledger, environment } = deps;
  const budget = yield* firstOf(selectBudget(id), budgets.read);
  if (budget === undefined) throw noBudget(id);
  const { chain } = yield* reachedSteps(deps, { kind: budget.ownerKind, name: budget.ownerId }, noBudget(id));
  const group = budget.groupId === undefined ? undefined : yield* groupSteps(budget.groupId);
  const at = environment.clock();
  const [account] = yield* ledger.chain(accountIdOf(id), at);
  const [owner] = chain;
  if (account === undefined || owner === undefined) throw noBudget(id);
  return stateOf({ budget, group, owner, account }, at, ledger.calendar);
}

export function stateOf(
  parts: Omit<BudgetState, "resetsAt">,
  at: number,
  calendar: AccountsDependencies["ledger"]["calendar"],
): BudgetState {
  return { ...parts, resetsAt: periodEnd(parts.account, at, calendar) };
}

export function noBudget(id: string): AccountError {
  return new AccountError(`there is no budget ${id}`, "account_not_found");
}

/** The owner's id and accounts. Throws 404 if it is out of the caller's reach. */
function* reachedSteps(deps: AccountsDependencies, { kind, name }: AccountName, missing = notFound(kind, name)) {
  try {
    if (kind !== "token") {
      const { holder, chain } = yield* holderSteps(deps, kind, name);
      return { id: holder.id, user: holder, chain };
    }
    const { token, owner: user, chain } = yield* tokenSteps(deps, name);
    return { id: token.id, user, chain };
  } catch (reason) {
    throw reason instanceof AccountError && reason.code === "account_not_found" ? missing : reason;
  }
}

/** The owner of a budget that the caller may make or change. */
function* placeOf(deps: AccountsDependencies, owner: AccountName) {
  const { caller } = deps;
  const { id, user, chain } = yield* reachedSteps(deps, owner);
  const [account] = chain;
  if (account === undefined)
    throw new AccountError(`${owner.kind} ${owner.name} has only service tokens, and no account to limit`);
  if (caller.role === "organisation_admin") {
    if (owner.kind === "organisation")
      throw roleRequired("The budgets of an organisation are set by owners and billing.");
    requireNoMoreThanCaller(caller, user);
    requireLimitable(caller, user);
  } else if (caller.role !== "owner" && caller.role !== "billing")
    throw roleRequired(`The role ${caller.role} can't set budgets.`);
  return { id, account, chain };
}

function requireWithin({ caller }: AccountsDependencies, account: Account, chain: readonly AccountState[]): void {
  requireBudgetWithin(caller, (account.maxBudget ?? 0n) + (account.raisedBy ?? 0n), chain);
}

const STARTS_MAX = { daily: 0, weekly: 7, monthly: 31, quarterly: 12 } as const;

function* changedParts<State extends { budget: Budget; account: Account }>(
  state: State,
  { models, maxBudget, period, start, raise }: BudgetChanges,
  at: number,
): Steps<Pick<State, "budget" | "account">> {
  const { budget, account } = state;
  const group = models == null ? models : (yield* groupSteps(models)).id;
  const restarts = changed(account.period, period);
  const isOther = period !== undefined && restarts !== account.period;
  const periodFrom = changed(isOther ? undefined : account.periodFrom, start);
  if (periodFrom !== undefined && periodFrom > (restarts === undefined ? 0 : STARTS_MAX[restarts]))
    throw new AccountError(`start: a period "${restarts ?? "none"}" has no such start`, "validation_failed", "start");
  if (raise != null && raise.until <= at)
    throw new AccountError("raise.until: a time to come", "validation_failed", "raise.until");
  const raised = raise === undefined ? undefined : { raisedBy: raise?.by, raisedUntil: raise?.until };
  return {
    budget: { ...budget, groupId: changed(budget.groupId, group) },
    account: { ...account, maxBudget: maxBudget ?? account.maxBudget, period: restarts, periodFrom, ...raised },
  };
}
