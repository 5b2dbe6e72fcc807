import { type AccountsDependencies, openHolderStore } from "../accounts/index.ts";
import { AuditLog } from "../audit/index.ts";
import { openTokenStore } from "../auth/index.ts";
import { LedgerSteps, openBookLists, openLedgerStore } from "../ledger/index.ts";
import type { Storage } from "../storage/index.ts";

/** The dependencies of account commands, which have all rights: no server, no upstream. */
export function createAccounts(
  storage: Storage,
  environment: AccountsDependencies["environment"],
  actor: string,
  onChange?: () => void,
): AccountsDependencies {
  const ledger = new LedgerSteps(storage);
  return {
    accounts: openLedgerStore(storage),
    tokens: openTokenStore(storage),
    holders: openHolderStore(storage),
    environment,
    ledger,
    books: openBookLists(storage),
    log: new AuditLog({ storage, clock: environment.clock, onAct: () => ledger.forget(), onChange }),
    caller: { actor: { name: actor }, role: "owner" },
  };
}
