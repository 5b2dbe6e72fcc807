import type { TokenStore } from "../auth/index.ts";
import type { Environment } from "../core/index.ts";
import type { Ledger, LedgerStore } from "../ledger/index.ts";

export interface AccountsDependencies {
  ledger: Ledger;
  accounts: LedgerStore;
  tokens: TokenStore;
  environment: Pick<Environment, "clock" | "randomBytes">;
  /** Who acts, for the entries: `cli:NAME` of the operating system's user, `token:ID`. */
  actor: string;
}

/** An account by its name; a token by its id. */
export interface AccountName {
  kind: "organisation" | "user" | "token";
  name: string;
}
