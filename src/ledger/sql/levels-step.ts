import { LEDGER_OWNER } from "./postgres/write-function.ts";

/**
 * The step since which an account counts the calls of those below it; see `schema.ts`. Holds of nodes of the previous version count in
 * their own account alone, as their ends do.
 */
export const LEVELS = {
  sqlite: `
  UPDATE accounts SET open_calls = (
    SELECT count(*) FROM holds h JOIN accounts t ON t.id = h.account_id LEFT JOIN accounts u ON u.id = t.parent_id
    WHERE accounts.id IN (t.id, t.parent_id, u.parent_id))
  WHERE kind <> 'token';
  `,
  postgres: `
  ALTER TABLE holds ADD COLUMN counts_above boolean NOT NULL DEFAULT false; -- whether the accounts above its own count it as open
  ALTER TYPE ledger_operation
    ADD ATTRIBUTE limits json, -- of a hold, by the levels of its chain; nodes of the previous version send those of the first one
    ADD ATTRIBUTE counts_above boolean;
  ${LEDGER_OWNER}
  `,
};
