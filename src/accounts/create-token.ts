import type { Nano } from "../core/index.ts";
import { issueToken } from "../auth/index.ts";
import { type Account, accountId, type BudgetPeriod } from "../ledger/index.ts";
import { AccountError } from "./account-error.ts";
import type { AccountsDependencies } from "./dependencies.ts";
import { grantCredits } from "./grant-credits.ts";
import { creditsOnAnotherAccount, ensureUser, requireOwnCredits } from "./ensure-user.ts";

/** A new token and its position in the chain token → user → organisation. */
export interface TokenRequest {
  user: string;
  /** The organisation of a new user; for an existing user, it must match. */
  organisation?: string | undefined;
  /** Granted to the user, in addition to existing credits. */
  credits?: Nano | undefined;
  /** The token's own budget, within its user's. */
  maxBudget?: Nano | undefined;
  period?: BudgetPeriod | undefined;
  rpm?: number | undefined;
  tpm?: number | undefined;
  concurrency?: number | undefined;
  models?: readonly string[] | undefined;
  /** Globs of tools that it may call; those with `!` it may not. */
  tools?: readonly string[] | undefined;
  service?: boolean | undefined;
  admin?: boolean | undefined;
  expiresInMs?: number | undefined;
}

/** The data of a new token that is shown once. */
export interface CreatedToken {
  token: string;
  id: string;
  user: string;
}

/**
 * Creates a token, its account, and new accounts above it. A service token's chain consists of itself: no balance
 * limits it, and its spending is recorded there. Throws an `AccountError`, before anything is created, if the user
 * belongs to another organisation, or if credits are given to a user who pays with an organisation's.
 */
export async function createToken(deps: AccountsDependencies, request: TokenRequest): Promise<CreatedToken> {
  const { clock, randomBytes } = deps.environment;
  const { user, service = false, admin = false, credits = 0n } = request;
  const at = clock();
  const parentId = await placeOf(deps, request);
  const issued = issueToken(randomBytes);
  const account: Account = {
    id: accountId("token", issued.id),
    kind: "token",
    name: issued.id,
    parentId,
    prepaid: false,
    maxBudget: request.maxBudget,
    period: request.period,
  };
  await deps.accounts.createAccount(account, at);
  await deps.tokens.insert({
    id: issued.id,
    secretHash: issued.secretHash,
    user,
    accountId: account.id,
    service,
    admin,
    models: request.models,
    tools: request.tools,
    rpm: request.rpm,
    tpm: request.tpm,
    concurrency: request.concurrency,
    expiresAt: request.expiresInMs === undefined ? undefined : at + request.expiresInMs,
    revokedAt: undefined,
    createdAt: at,
  });
  if (credits > 0n) await grantCredits(deps, { kind: "user", name: user }, credits, { reason: "created with a token" });
  return { token: issued.token, id: issued.id, user };
}

/** The account above the token's; undefined for a service. */
async function placeOf(deps: AccountsDependencies, request: TokenRequest): Promise<string | undefined> {
  const { user, organisation, credits = 0n, service = false } = request;
  if (service && organisation !== undefined)
    throw new AccountError(`a service token hangs on no balance: it can't be put into organisation ${organisation}`);
  if (credits > 0n && organisation !== undefined) throw creditsOnAnotherAccount(user, organisation);
  // A service's user is only a name in the books and gets an account only together with credits.
  if (service && credits === 0n) return undefined;
  const chain = await ensureUser(deps, user, organisation);
  if (credits > 0n) requireOwnCredits(chain, user);
  return service ? undefined : accountId("user", user);
}
