import type { NoteChange } from "../../audit/index.ts";
import type { Policy } from "../../auth/index.ts";
import type { Nano, Role } from "../../core/index.ts";
import type { Account, AccountState, BudgetPeriod } from "../../ledger/index.ts";
import type { Steps } from "../../storage/index.ts";
import { AccountError } from "../account-error.ts";
import { bindSteps, identitiesOf, type IdentityName } from "./bind-identities.ts";
import { type ActContext, actOptions, requireVersion } from "./act-context.ts";
import { moveSteps } from "./move-user.ts";
import { requireOwnCredits } from "./own-credits.ts";
import { requireMayMake } from "./token-policy.ts";
import type { AccountsDependencies, Caller } from "../dependencies.ts";
import { type Holder, type HolderKind, oneOfKind, type TokenPolicy } from "../holder.ts";
import {
  notFound,
  reaches,
  requireBudgetWithin,
  requireGivable,
  requireLimitable,
  requireNoMoreThanCaller,
  roleRequired,
} from "../reach.ts";
import { settingsOf } from "../settings.ts";
import { findHolder, hasOwner, renameAccount, setMembers, updateHolder } from "../sql/holders.ts";

/** The limits to change; null removes a limit. */
export interface LimitChanges {
  maxBudget?: Nano | null | undefined;
  period?: BudgetPeriod | null | undefined;
}

/** The members to change of a policy; null takes one away. */
export type PolicyChanges = { [Name in keyof Policy]?: Policy[Name] | null | undefined };

export interface HolderChanges extends LimitChanges, PolicyChanges {
  name?: string | undefined;
  role?: Role | undefined;
  disabled?: boolean | undefined;
  /** Whether it is limited by credits of its own; not of who is in an organisation, which pays for them. */
  prepaid?: boolean | undefined;
  /** In millionths; only an organisation has one. */
  markup?: number | null | undefined;
  /** Of an organisation. */
  tokenPolicy?: TokenPolicy | null | undefined;
  /** Of an organisation: these keys of tags and no others. */
  tags?: readonly string[] | undefined;
  /** Of a user: these and no others. */
  identities?: readonly IdentityName[] | undefined;
  /** Of a project: the ids or names of these users and no others. */
  members?: readonly string[] | undefined;
  /** The id or name of the organisation that a user or project moves to; null for none. */
  organisation?: string | null | undefined;
}

/** A holder with its account, and those above it. */
export interface HolderState {
  holder: Holder;
  /** Empty of a user who has only service tokens. */
  chain: readonly AccountState[];
  /** Empty of an organisation. */
  identities: readonly IdentityName[];
}

/** The holder and its chain. Throws 404 if there is none in the caller's reach. */
export function* holderSteps(
  { ledger, environment, caller }: Pick<AccountsDependencies, "ledger" | "environment" | "caller">,
  kind: HolderKind,
  idOrName: string,
): Steps<HolderState> {
  const holder = yield* findHolder(kind, idOrName);
  if (holder === undefined || !reaches(caller, holder)) throw notFound(kind, idOrName);
  const { accountId, id } = holder;
  const chain = accountId === undefined ? [] : yield* ledger.chain(accountId, environment.clock());
  return { holder, chain, identities: kind === "user" ? yield* identitiesOf(id) : [] };
}

/**
 * Changes an organisation, a user or a project, and returns it. A budget applies from the next call on, in all processes, and counts the
 * spending of the running period; a markup and a disabled holder within a second, to calls that begin. Throws an `AccountError`.
 */
export function changeHolder(
  deps: AccountsDependencies,
  { kind, name }: { kind: HolderKind; name: string },
  changes: HolderChanges,
  context: ActContext = {},
): Promise<HolderState> {
  return deps.log.act(actOptions(deps, context), function* (note) {
    const before = yield* holderSteps(deps, kind, name);
    requireVersion(context, before.holder.version);
    return yield* changeSteps(deps, before, changes, note);
  });
}

export function* changeSteps(
  deps: AccountsDependencies,
  before: HolderState,
  changes: HolderChanges,
  note: NoteChange,
): Steps<HolderState> {
  const { organisation, ...settings } = changes;
  requireAllowed(deps.caller, before, changes);
  const { kind, id, role } = before.holder;
  if (changes.role !== role) yield* requireMayMake(deps, changes.role);
  const at = deps.environment.clock();
  const hadOwner = mayBeOwner(before.holder) && (yield* hasOwner(at));
  const moved = organisation === undefined ? before : yield* movedTo(deps, before, organisation);
  const after = yield* settingSteps(deps, moved, settings);
  if (after === before) return before;
  if (hadOwner && !(yield* hasOwner(at))) throw lastOwner();
  const shownOf = ({ holder, chain, identities }: HolderState): object => ({
    ...settingsOf(holder, chain[0]),
    ...(settings.identities && { identities }),
  });
  note({
    act: moved === before ? `${kind}.change` : `${kind}.move`,
    target: `${kind}:${id}`,
    before: shownOf(before),
    after: shownOf(after),
  });
  return after;
}

/** The user or project in the organisation with this id or name; null for none. Unchanged if they are in it. */
function* movedTo(deps: AccountsDependencies, before: HolderState, organisation: string | null): Steps<HolderState> {
  const { kind, id, organisationId } = before.holder;
  const place = organisation === null ? undefined : (yield* holderSteps(deps, "organisation", organisation)).holder;
  if (place?.id === organisationId) return before;
  yield* moveSteps(deps, before, place);
  return yield* holderSteps(deps, kind, id);
}

/** The holder with changed settings; the same object if nothing changes. */
function* settingSteps(
  deps: AccountsDependencies,
  before: HolderState,
  changes: Omit<HolderChanges, "organisation">,
): Steps<HolderState> {
  const { holder, chain } = before;
  const { kind, id } = holder;
  const [account] = chain;
  const at = deps.environment.clock();
  const members = changes.members && (yield* membersOf(deps, holder, changes.members));
  const next = { ...changedHolder(holder, changes, at), members: members ?? holder.members };
  const limited = account && changedAccount(account, changes);
  const { maxBudget, period, prepaid, markup, rpm, tpm, concurrency } = changes;
  if (account === undefined && (maxBudget ?? period ?? prepaid ?? markup ?? rpm ?? tpm ?? concurrency) != null)
    throw new AccountError(`${kind} ${holder.name} has only service tokens, and no account to limit`);
  if (prepaid === true) requireOwnCredits(holder);
  const { identities: wanted } = changes;
  const old = { ...settingsOf(holder, account), ...(wanted && { identities: before.identities }) };
  const now = { ...settingsOf(next, limited), ...(wanted && { identities: wanted }) };
  if (Bun.deepEquals(old, now)) return before;
  if (next.name !== holder.name) yield* requireFreeName(next);
  yield updateHolder(next);
  if (members !== undefined) yield* setMembers(id, members);
  if (wanted !== undefined) yield* bindSteps(deps, holder, { before: before.identities, wanted });
  if (limited !== undefined && !Bun.deepEquals(limited, account)) yield* deps.ledger.put(limited, at);
  if (next.name !== holder.name && account !== undefined) yield renameAccount(account.id, next.name);
  return yield* holderSteps(deps, kind, id);
}

/** The ids of the users, in their order, who have to be in the organisation of the project. */
function* membersOf(
  deps: AccountsDependencies,
  { kind, name, organisationId }: Holder,
  named: readonly string[],
): Steps<string[]> {
  if (kind !== "project") throw new AccountError(`${kind} ${name} has no members: only a project has`);
  const ids = new Set<string>();
  for (const user of named) {
    const { holder } = yield* holderSteps(deps, "user", user);
    if (holder.organisationId !== organisationId)
      throw new AccountError(`user ${holder.name} is not in the organisation of project ${name}`);
    ids.add(holder.id);
  }
  return [...ids].toSorted();
}

/** Who has money only may set budgets; an organisation's admin changes its users, as far as they have no more rights. */
function requireAllowed(caller: Caller, { holder, chain }: HolderState, changes: HolderChanges): void {
  const { role, markup, prepaid, maxBudget, period: _, ...others } = changes;
  if (markup !== undefined && holder.kind !== "organisation")
    throw new AccountError(
      `only an organisation has a markup; ${holder.kind} ${holder.name} has that of the configuration`,
    );
  if (caller.role === "owner") return;
  if (caller.role === "billing") {
    if (role === undefined && Object.values(others).every((value) => value === undefined)) return;
    throw roleRequired("The role billing changes budgets, a markup and whether credits limit alone.");
  }
  if (caller.role !== "organisation_admin" || holder.kind === "organisation")
    throw roleRequired(`The role ${caller.role} can't change ${holder.kind} ${holder.name}.`);
  requireNoMoreThanCaller(caller, holder);
  if (prepaid !== undefined) throw roleRequired("Owners and billing decide whether credits limit an account.");
  if (role !== undefined) requireGivable(caller, role);
  // As a member, they would have limits that an admin lifts.
  if (role !== undefined && role !== holder.role && holder.role === "organisation_admin")
    throw roleRequired(`User ${holder.name} is an organisation's admin, whose role is changed by owners.`);
  if (changesLimits(changes)) requireLimitable(caller, holder);
  requireBudgetWithin(caller, maxBudget, chain);
}

/** Whether a limit or an access is set or taken away. */
export function changesLimits(changes: PolicyChanges & LimitChanges & { disabled?: boolean | undefined }): boolean {
  const { models, tools, rpm, tpm, concurrency, expiresAt, maxBudget, period, disabled } = changes;
  return [models, tools, rpm, tpm, concurrency, expiresAt, maxBudget, period, disabled].some(
    (change) => change !== undefined,
  );
}

function changedHolder(holder: Holder, changes: HolderChanges, at: number): Holder {
  const { name, role, disabled } = changes;
  const { disabledAt } = holder;
  return {
    ...holder,
    ...changedPolicy(holder, changes),
    tokenPolicy: changed(holder.tokenPolicy, changes.tokenPolicy),
    tags: changes.tags === undefined ? holder.tags : sortedKeys(changes.tags),
    name: name ?? holder.name,
    role: holder.kind === "user" ? (role ?? holder.role) : undefined,
    disabledAt: disabled === undefined ? disabledAt : disabled ? (disabledAt ?? at) : undefined,
  };
}

function sortedKeys(keys: readonly string[]): string[] | undefined {
  return keys.length === 0 ? undefined : [...new Set(keys)].toSorted();
}

export function changedPolicy(policy: Policy, changes: PolicyChanges): Policy {
  return {
    models: changed(policy.models, changes.models),
    tools: changed(policy.tools, changes.tools),
    rpm: changed(policy.rpm, changes.rpm),
    tpm: changed(policy.tpm, changes.tpm),
    concurrency: changed(policy.concurrency, changes.concurrency),
    expiresAt: changed(policy.expiresAt, changes.expiresAt),
  };
}

export function changedAccount<State extends Account>(
  account: State,
  changes: LimitChanges & Pick<HolderChanges, "prepaid" | "markup">,
): State {
  return {
    ...account,
    maxBudget: changed(account.maxBudget, changes.maxBudget),
    period: changed(account.period, changes.period),
    prepaid: changes.prepaid ?? account.prepaid,
    markup: changed(account.markup, changes.markup),
  };
}

export function changed<Limit>(now: Limit | undefined, next: Limit | null | undefined): Limit | undefined {
  return next === undefined ? now : (next ?? undefined);
}

function* requireFreeName({ kind, id, name }: Holder): Steps<void> {
  const other = yield* findHolder(kind, name);
  if (other !== undefined && other.id !== id)
    throw new AccountError(`there is ${oneOfKind(kind)} ${name} already`, "name_taken");
}

/** Whether a change can take the last owner away, which all users are read for. */
export function mayBeOwner({ kind, role }: Holder): boolean {
  return kind === "organisation" || role === "owner";
}

export function lastOwner(): AccountError {
  return new AccountError("The last owner can't be disabled, demoted or deleted.", "last_owner");
}
