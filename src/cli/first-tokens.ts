import { createToken } from "../accounts/index.ts";
import { createAccounts } from "../app/accounts.ts";
import { type Environment, NANO_PER_CREDIT } from "../core/index.ts";
import type { Storage } from "../storage/index.ts";

/** The credits of each of a sandbox's first users. They are play money, since simulators answer. */
const SANDBOX_CREDITS = 100n * NANO_PER_CREDIT;

export interface FirstTokens {
  admin: string;
  user: string;
}

/** Creates an admin token and a user token, both with credits: the console's playground calls as the signed-in owner. Resolves with undefined if the storage already contains tokens. */
export async function firstTokens(storage: Storage, environment: Environment): Promise<FirstTokens | undefined> {
  const accounts = createAccounts(storage, environment, "sandbox");
  if ((await accounts.tokens.list()).length > 0) return undefined;
  const admin = await createToken(accounts, { user: "admin", role: "owner", credits: SANDBOX_CREDITS });
  const user = await createToken(accounts, { user: "demo", credits: SANDBOX_CREDITS });
  return { admin: admin.token, user: user.token };
}
