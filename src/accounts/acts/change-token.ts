import { issueToken, type TokenRecord } from "../../auth/index.ts";
import type { Role } from "../../core/index.ts";
import type { AccountState } from "../../ledger/index.ts";
import type { Steps } from "../../storage/index.ts";
import { AccountError } from "../account-error.ts";
import { type ActContext, actOptions, requireVersion } from "./act-context.ts";
import {
  changed,
  changedAccount,
  changedPolicy,
  changesLimits,
  type LimitChanges,
  type PolicyChanges,
} from "./change-holder.ts";
import { endWithinSigned, requireChangeWithin, requireNoLimits, requireSelfService } from "./token-policy.ts";
import type { AccountsDependencies, Caller } from "../dependencies.ts";
import type { Holder } from "../holder.ts";
import {
  isOwn,
  notFound,
  reaches,
  requireBudgetWithin,
  requireGivable,
  requireKeeper,
  requireLimitable,
  requireNoMoreThanCaller,
  roleAsOfNow,
  roleRequired,
} from "../reach.ts";
import { tokenSettingsOf } from "../settings.ts";
import { findOwner } from "../sql/holders.ts";
import { isOfIdentity } from "../sql/identities.ts";
import { endSessionsBegunWith, findToken, updateToken } from "../sql/tokens.ts";

/** The members to change of a token; null takes one away. */
export interface TokenChanges extends LimitChanges, PolicyChanges {
  name?: string | null | undefined;
  role?: Role | null | undefined;
  paused?: boolean | undefined;
  /** These values and no others. */
  metadata?: Readonly<Record<string, string>> | null | undefined;
}

/** A token with its user or project, and the accounts that pay for it. */
export interface TokenState {
  token: TokenRecord;
  owner: Holder;
  chain: readonly AccountState[];
}

/** The token and its user or project. Throws 404 if there is none in the caller's reach. */
export function* tokenSteps(
  { ledger, environment, caller }: Pick<AccountsDependencies, "ledger" | "environment" | "caller">,
  id: string,
): Steps<TokenState> {
  const token = yield* findToken(id);
  const owner = token && (yield* findOwner(token.user));
  if (token === undefined || owner === undefined || !reaches(caller, owner)) throw notFound("token", id);
  return { token, owner, chain: yield* ledger.chain(token.accountId, environment.clock()) };
}

/** Changes a token, and returns it; see `changeHolder`. */
export function changeToken(
  deps: AccountsDependencies,
  id: string,
  changes: TokenChanges,
  context: ActContext = {},
): Promise<TokenState> {
  return deps.log.act(actOptions(deps, context), function* (note) {
    const before = yield* tokenSteps(deps, id);
    requireVersion(context, before.token.version);
    requireAllowed(deps.caller, before, changes);
    const { token, chain, owner } = before;
    if (changesLimits(changes) && isOwn(deps.caller, owner)) yield* requireNoLimits(deps);
    if (changes.expiresAt !== undefined) endWithinSigned(deps.caller, owner, changes.expiresAt ?? Infinity);
    const [account] = chain;
    const at = deps.environment.clock();
    const role = changes.role === null ? (roleAsOfNow(deps.caller, owner) ?? null) : changes.role;
    const next = changedToken(token, { ...changes, role }, at);
    const limited = account && changedAccount(account, changes);
    yield* requireChangeWithin(deps, owner, {
      before: { ...account, expiresAt: token.expiresAt },
      after: { ...limited, expiresAt: next.expiresAt },
    });
    const old = tokenSettingsOf(token, account);
    const now = tokenSettingsOf(next, limited);
    if (Bun.deepEquals(old, now)) return before;
    if (token.revokedAt !== undefined) throw revoked(id);
    if (token.sessionOf !== undefined) throw ofSession(id);
    yield updateToken(next);
    if (limited !== undefined) yield* deps.ledger.put(limited, at);
    note({ act: "token.change", target: `token:${id}`, before: old, after: now });
    return yield* tokenSteps(deps, id);
  });
}

function requireAllowed(caller: Caller, { owner, chain }: TokenState, changes: TokenChanges): void {
  if (caller.role === "owner") return;
  if (caller.role === "billing") {
    const { maxBudget: _, period: __, ...others } = changes;
    if (Object.values(others).every((value) => value === undefined)) return;
    throw roleRequired("The role billing changes budgets alone.");
  }
  requireNoMoreThanCaller(caller, owner);
  if (caller.role !== "organisation_admin")
    throw roleRequired(`The role ${caller.role} can't change the limits of a token.`);
  if (changes.role != null) requireGivable(caller, changes.role);
  if (changesLimits(changes) && !isOwn(caller, owner)) requireLimitable(caller, owner);
  // Without a role of its own a token has its user's, which the caller contains.
  requireBudgetWithin(caller, changes.maxBudget, chain);
}

function changedToken(token: TokenRecord, changes: TokenChanges, at: number): TokenRecord {
  const { paused, name, role, metadata } = changes;
  const { pausedAt } = token;
  return {
    ...token,
    name: changed(token.name, name),
    role: changed(token.role, role),
    ...changedPolicy(token, changes),
    metadata: changed(token.metadata, metadata),
    pausedAt: paused === undefined ? pausedAt : paused ? (pausedAt ?? at) : undefined,
  };
}

/**
 * Throws 403 if the caller may not have the token's secret, or take it away. Nobody needs anything to do so with the presented one.
 */
function* requireOwn(deps: AccountsDependencies, { token, owner }: TokenState): Steps<void> {
  requireKeeper(deps.caller, owner, token.role);
  if (deps.caller.tokenId !== token.id) yield* requireSelfService(deps, owner);
}

/** Revokes a token. A repeated revocation changes nothing. */
export function revokeToken(deps: AccountsDependencies, id: string, context: ActContext = {}): Promise<TokenState> {
  return deps.log.act(actOptions(deps, context), function* (note) {
    const before = yield* tokenSteps(deps, id);
    requireVersion(context, before.token.version);
    yield* requireOwn(deps, before);
    if (before.token.revokedAt !== undefined) return before;
    const at = deps.environment.clock();
    yield updateToken({ ...before.token, revokedAt: at });
    yield endSessionsBegunWith(id, at);
    note({ act: "token.revoke", target: `token:${id}`, before: tokenSettingsOf(before.token, before.chain[0]) });
    return yield* tokenSteps(deps, id);
  });
}

/** Gives a token a new secret. The one before may be used for `overlapMs` more. */
export function rotateToken(
  deps: AccountsDependencies,
  id: string,
  overlapMs: number,
  context: ActContext = {},
): Promise<TokenState & { secret: string }> {
  return deps.log.act(actOptions(deps, context), function* (note) {
    const before = yield* tokenSteps(deps, id);
    const { token } = before;
    requireVersion(context, token.version);
    yield* requireOwn(deps, before);
    // Its new secret is as good as a new token.
    endWithinSigned(deps.caller, before.owner, token.expiresAt ?? Infinity);
    if (token.revokedAt !== undefined) throw revoked(id);
    if (token.sessionOf !== undefined) throw ofSession(id);
    // A stolen session must not become a secret that outlives it.
    if (deps.caller.session !== undefined) yield* requireSelfService(deps, before.owner);
    if (yield* isOfIdentity(id)) throw new AccountError(`token ${id} is that of an issuer's caller, and has no secret`);
    const issued = issueToken(deps.environment.randomBytes, id);
    const at = deps.environment.clock();
    const previousUntil = at + overlapMs;
    const role = token.role ?? roleAsOfNow(deps.caller, before.owner);
    const { secretHash } = issued;
    yield updateToken({ ...token, role, secretHash, previousHash: token.secretHash, previousUntil });
    // With their streams; while both secrets work, they end when the former one does.
    if (overlapMs === 0) yield endSessionsBegunWith(id, at);
    const after = { overlap_ms: overlapMs, ...(role !== token.role && { role }) };
    note({ act: "token.rotate", target: `token:${id}`, after });
    return { ...(yield* tokenSteps(deps, id)), secret: issued.token };
  });
}

function ofSession(id: string): AccountError {
  return new AccountError(`token ${id} is that of a browser's session, and has no secret`);
}

function revoked(id: string): AccountError {
  return new AccountError(`token ${id} is revoked, which can't be undone: make a new one`);
}
