import type { NoteChange } from "../../audit/index.ts";
import { insertToken, issueToken, type TokenRecord } from "../../auth/index.ts";
import { includesRole, type Nano, type Role } from "../../core/index.ts";
import { type Account, accountId, type BudgetPeriod } from "../../ledger/index.ts";
import type { Steps } from "../../storage/index.ts";
import { AccountError } from "../account-error.ts";
import { type ActContext, actOptions } from "./act-context.ts";
import { tokenSteps, type TokenState } from "./change-token.ts";
import type { AccountsDependencies } from "../dependencies.ts";
import { ensureUser } from "./ensure-holder.ts";
import { creditsOnAnotherAccount, requireOwnCredits } from "./own-credits.ts";
import { grantSteps } from "./grant-credits.ts";
import { type Holder, ownerOf } from "../holder.ts";
import { settingsOf, tokenSettingsOf } from "../settings.ts";
import { withinPolicy } from "./token-policy.ts";
import { pinRole, updateHolder } from "../sql/holders.ts";

/** The limits of a new token. */
interface TokenLimits {
  rpm?: number | undefined;
  tpm?: number | undefined;
  concurrency?: number | undefined;
  models?: readonly string[] | undefined;
  /** Globs of tools that it may call; those with `!` it may not. */
  tools?: readonly string[] | undefined;
  maxBudget?: Nano | undefined;
  period?: BudgetPeriod | undefined;
  /** Values of its calls' tags, by their keys. */
  metadata?: Readonly<Record<string, string>> | undefined;
}

export interface TokenRequest extends TokenLimits {
  /** The name or id of its user, who is created if there is none. */
  user: string;
  /** For a new user: the organisation that pays for them, which is created if needed. */
  organisation?: string | undefined;
  /** Credits to grant to the user. */
  credits?: Nano | undefined;
  /** A user's role is raised to it; by default the token has its user's. */
  role?: Role | undefined;
  name?: string | undefined;
  service?: boolean | undefined;
  expiresInMs?: number | undefined;
}

export interface CreatedToken {
  /** Shown once. */
  token: string;
  id: string;
  user: string;
}

/**
 * Creates a token, its account, and new accounts above it. A service token's chain consists of itself: no balance
 * limits it, and its spending is recorded there. Throws an `AccountError`, before anything is created, if the user
 * belongs to another organisation, or if credits are given to a user who pays with an organisation's.
 */
export function createTokenWithUser(
  deps: AccountsDependencies,
  request: TokenRequest,
  context: ActContext = {},
): Promise<TokenState & { secret: string }> {
  return deps.log.act(actOptions(deps, context), function* (note) {
    const { id, token: secret } = yield* createSteps(deps, request, note);
    return { ...(yield* tokenSteps(deps, id)), secret };
  });
}

/** The same, for callers that need no more than the secret. */
export async function createToken(
  deps: AccountsDependencies,
  { reason, ...request }: TokenRequest & Pick<ActContext, "reason">,
): Promise<CreatedToken> {
  const { secret, token, owner } = await createTokenWithUser(deps, request, { reason });
  return { token: secret, id: token.id, user: owner.name };
}

function* createSteps(deps: AccountsDependencies, request: TokenRequest, note: NoteChange): Steps<CreatedToken> {
  const { user: name, organisation, role, service = false, credits = 0n } = request;
  if (service && organisation !== undefined)
    throw new AccountError(`a service token hangs on no balance: it can't be put into organisation ${organisation}`);
  if (credits > 0n && organisation !== undefined) throw creditsOnAnotherAccount(`user ${name}`, organisation);
  // A service's user is only a name in the books and gets an account only together with credits.
  const hasAccount = !service || credits > 0n;
  let user = yield* ensureUser(deps, { name, organisation, role, hasAccount }, note);
  if (credits > 0n) requireOwnCredits(user);
  if (role !== undefined) user = yield* raiseUser(deps, user, role, note);
  const { expiresInMs } = request;
  const expiresAt = expiresInMs === undefined ? undefined : deps.environment.clock() + expiresInMs;
  const created = yield* issueSteps(deps, user, { ...request, expiresAt }, note);
  if (credits > 0n) yield* grantSteps(deps, user, { amount: credits, reason: "created with a token" }, note);
  return created;
}

/** The limits and the properties of a token that is issued to an existing user. */
export interface IssuedSettings extends Pick<TokenRequest, "role" | "name" | "service">, TokenLimits {
  expiresAt?: number | undefined;
  pausedAt?: number | undefined;
  /** Of a token that stands for a browser's session: the one that it was begun with, whose account pays through its own. */
  sessionOf?: TokenRecord | undefined;
}

function accountOfToken(
  id: string,
  owner: Holder,
  { service = false, sessionOf, maxBudget, period }: IssuedSettings,
): Account {
  const parentId = sessionOf?.accountId ?? (service ? undefined : owner.accountId);
  return { id: accountId("token", id), kind: "token", name: id, parentId, prepaid: false, maxBudget, period };
}

/** Creates a token of an existing user or project. Throws 403 if it exceeds the policy of the organisation. */
export function* issueSteps(
  deps: AccountsDependencies,
  owner: Holder,
  asked: IssuedSettings,
  note: NoteChange,
): Steps<CreatedToken> {
  const { clock, randomBytes } = deps.environment;
  const wanted = yield* withinPolicy(deps, owner, asked);
  const { role, name, service = false, models, tools, rpm, tpm, concurrency } = wanted;
  const { expiresAt, pausedAt, metadata, sessionOf } = wanted;
  const at = clock();
  const issued = issueToken(randomBytes);
  const account = accountOfToken(issued.id, owner, wanted);
  const token: TokenRecord = {
    id: issued.id,
    secretHash: issued.secretHash,
    user: ownerOf(owner),
    accountId: account.id,
    service,
    role,
    name,
    models,
    tools,
    rpm,
    tpm,
    concurrency,
    expiresAt,
    revokedAt: undefined,
    createdAt: at,
    pausedAt,
    previousHash: undefined,
    previousUntil: undefined,
    madeBy: deps.caller.actor.name,
    metadata,
    version: 1,
    sessionOf: sessionOf?.id,
  };
  yield* deps.ledger.create(account, at);
  yield insertToken(token);
  note({ act: "token.create", target: `token:${issued.id}`, after: tokenSettingsOf(token, account) });
  return { token: issued.token, id: issued.id, user: owner.name };
}

/** Gives a user a role with a new token, as far as they lack it. Their other tokens keep the rights that they have. */
function* raiseUser(
  { ledger, environment }: AccountsDependencies,
  user: Holder,
  role: Role,
  note: NoteChange,
): Steps<Holder> {
  const { id, role: own = "member", accountId: account } = user;
  if (includesRole(own, role)) return user;
  if (!includesRole(role, own))
    throw new AccountError(`user ${user.name} has the role ${own}, which ${role} does not contain: change it first`);
  yield pinRole(id, own);
  const raised = { ...user, role };
  yield updateHolder(raised);
  const [state] = account === undefined ? [] : yield* ledger.chain(account, environment.clock());
  note({
    act: "user.change",
    target: `user:${id}`,
    before: settingsOf(user, state),
    after: settingsOf(raised, state),
  });
  return raised;
}
