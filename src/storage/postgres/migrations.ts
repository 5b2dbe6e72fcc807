import { LEDGER_COMMIT } from "./ledger-commit.ts";
import { LEDGER_COMMIT_PLAIN } from "./ledger-commit-plain.ts";
import { BOOKS, TABLES } from "./tables.ts";

/** The schema, one step an element; a step that has been released is never changed. */
export const migrations: readonly string[] = [TABLES, BOOKS + LEDGER_COMMIT + LEDGER_COMMIT_PLAIN];
