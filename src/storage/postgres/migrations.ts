import { LEDGER_COMMIT } from "./ledger-commit.ts";
import { LEDGER_COMMIT_PLAIN } from "./ledger-commit-plain.ts";
import { LEDGER_PERIODS } from "./ledger-periods.ts";
import { LEDGER_WRITE } from "./ledger-write.ts";
import { BOOKS, RESPONSES, TABLES } from "./tables.ts";

/** Each function lives in one step alone: what an earlier one made of it goes. */
const WITHOUT_FUNCTIONS = `
  DROP FUNCTION IF EXISTS ledger_commit;
  DROP FUNCTION IF EXISTS ledger_commit_plain;
  DROP FUNCTION IF EXISTS ledger_period_start;
  DROP FUNCTION IF EXISTS ledger_period_end;
`;

/**
 * The schema, one step an element; a step that has been released is never changed, but for functions. The fourth leaves a
 * `ledger_commit_plain` of the second step's time where it is, for nodes that still run while a new one migrates: it has
 * another number of parameters.
 */
export const migrations: readonly string[] = [
  TABLES,
  WITHOUT_FUNCTIONS + BOOKS + LEDGER_PERIODS + LEDGER_COMMIT + LEDGER_WRITE,
  RESPONSES,
  LEDGER_COMMIT_PLAIN,
];
