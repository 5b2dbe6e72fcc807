import { type Environment, type Nano, randomId } from "../core/index.ts";
import { issueToken, type TokenStore } from "../auth/index.ts";
import { type Account, accountId, type BudgetPeriod, type Ledger, type LedgerStore } from "../ledger/index.ts";

export interface AccountsDependencies {
  ledger: Ledger;
  accounts: LedgerStore;
  tokens: TokenStore;
  environment: Environment;
}

/** A token to be made, with its place in the chain token → user. */
export interface TokenRequest {
  user: string;
  /** Granted to the user, on top of what is there. */
  credits?: Nano | undefined;
  /** The token's own budget, within what the user has. */
  maxBudget?: Nano | undefined;
  period?: BudgetPeriod | undefined;
  rpm?: number | undefined;
  concurrency?: number | undefined;
  models?: readonly string[] | undefined;
  service?: boolean | undefined;
  admin?: boolean | undefined;
  expiresInMs?: number | undefined;
}

/** What is shown of a new token; the only time that it can be. */
export interface CreatedToken {
  token: string;
  id: string;
  user: string;
}

/**
 * Makes a token, its account, and the user's account where it is new. A service token's chain ends at itself: no balance
 * limits it, and what it spends is recorded there.
 */
export async function createToken(deps: AccountsDependencies, request: TokenRequest): Promise<CreatedToken> {
  const { clock, randomBytes } = deps.environment;
  const { user, service = false, admin = false } = request;
  const at = clock();
  const userAccount = await ensureUser(deps, user);
  const issued = issueToken(randomBytes);
  const account: Account = {
    id: accountId("token", issued.id),
    kind: "token",
    name: issued.id,
    parentId: service ? undefined : userAccount,
    prepaid: false,
    maxBudget: request.maxBudget,
    period: request.period,
  };
  await deps.accounts.putAccount(account, at);
  await deps.tokens.insert({
    id: issued.id,
    secretHash: issued.secretHash,
    user,
    accountId: account.id,
    service,
    admin,
    models: request.models,
    rpm: request.rpm,
    concurrency: request.concurrency,
    expiresAt: request.expiresInMs === undefined ? undefined : at + request.expiresInMs,
    revokedAt: undefined,
    createdAt: at,
  });
  if (request.credits !== undefined && request.credits > 0n) await grantCredits(deps, user, request.credits);
  return { token: issued.token, id: issued.id, user };
}

/** Makes the user's account where there is none, and gives back its id. */
async function ensureUser({ accounts, environment }: AccountsDependencies, user: string): Promise<string> {
  const id = accountId("user", user);
  const at = environment.clock();
  if ((await accounts.chain(id, at)).length === 0) {
    await accounts.putAccount(
      { id, kind: "user", name: user, parentId: undefined, prepaid: true, maxBudget: undefined, period: undefined },
      at,
    );
  }
  return id;
}

/** Posts credits to a user and gives back the new balance. The user is made where there is none. */
export async function grantCredits(deps: AccountsDependencies, user: string, amount: Nano): Promise<Nano> {
  const id = await ensureUser(deps, user);
  const at = deps.environment.clock();
  const grant = {
    kind: "grant",
    id: `grant_${randomId(deps.environment.randomBytes, 20)}`,
    accountId: id,
    amount,
    at,
  } as const;
  const { outcome } = await deps.ledger.submit(grant);
  if (outcome !== "granted") throw new Error(`grant to ${user}: ${outcome}`);
  const [account] = await deps.accounts.chain(id, at);
  return account === undefined ? 0n : account.creditsPosted - account.debitsPosted;
}
