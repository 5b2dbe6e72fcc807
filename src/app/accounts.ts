import type { AccountsDependencies } from "../accounts/index.ts";
import { openTokenStore } from "../auth/index.ts";
import { Ledger, openLedgerStore } from "../ledger/index.ts";
import type { Storage } from "../storage/index.ts";

/** The dependencies of account commands: no server, no upstream. */
export function createAccounts(
  storage: Storage,
  environment: AccountsDependencies["environment"],
  actor: string,
): AccountsDependencies {
  const accounts = openLedgerStore(storage);
  return { accounts, ledger: new Ledger({ store: accounts }), tokens: openTokenStore(storage), environment, actor };
}
