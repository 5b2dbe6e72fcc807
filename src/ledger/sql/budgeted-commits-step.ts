import { bothEngines, together } from "../../storage/index.ts";
import { LEDGER_BUDGETS } from "./postgres/budget-functions.ts";

/**
 * The step since which a commit counts calls in the budgets beside their chains; see `schema.ts`. Nodes of the previous version keep
 * their plain function, which now refuses the accounts that have some.
 */
export const BUDGETED_COMMITS = together(
  bothEngines(
    `
  -- Whose it is: an organisation, a user or a token, which may get another account.
  ALTER TABLE budgets ADD COLUMN owner_kind TEXT NOT NULL DEFAULT '';
  ALTER TABLE budgets ADD COLUMN owner_id TEXT NOT NULL DEFAULT '';
  CREATE INDEX budgets_by_owner ON budgets (owner_kind, owner_id);
  `,
    "owner_kind owner_id",
  ),
  {
    postgres: `
  ALTER TYPE ledger_operation ADD ATTRIBUTE budgets text; -- of a hold or a move, set by the commit: JSON
  ${LEDGER_BUDGETS}
  `,
  },
);
