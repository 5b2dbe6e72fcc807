import type { Actor, AuditLog } from "../audit/index.ts";
import type { TokenStore } from "../auth/index.ts";
import type { Environment, Role } from "../core/index.ts";
import type { BookLists, LedgerSteps, LedgerStore } from "../ledger/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { AccountLevel } from "./holder.ts";
import type { HolderStore } from "./sql/open.ts";

/** Who acts on accounts, and what they may do. */
export interface Caller {
  actor: Actor;
  role: Role;
  /** The ids of the user and of their organisation; undefined of a command, which has all rights. */
  user?: string | undefined;
  organisation?: string | undefined;
  /** The token of the request; of a browser's session the one that it was begun with. */
  tokenId?: string | undefined;
  /** The id of the browser's session. */
  session?: string | undefined;
  /** Of a caller with a token that somebody else has signed: when that is no longer accepted. */
  signedUntil?: number | undefined;
}

export interface AccountsDependencies {
  accounts: LedgerStore;
  tokens: TokenStore;
  holders: HolderStore;
  environment: Pick<Environment, "clock" | "randomBytes">;
  /** The accounts of the ledger inside of an act. */
  ledger: LedgerSteps;
  /** What the books contain, for lists. */
  books: BookLists;
  /** All acts go through it. */
  log: AuditLog;
  /** Of a server, for faults that fail no act. */
  logger?: Pick<Logger, "warn">;
  caller: Caller;
}

/** An account by its name; a token by its id. */
export interface AccountName {
  kind: AccountLevel;
  name: string;
}
