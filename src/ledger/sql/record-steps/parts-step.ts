import { LEDGER_COMMIT } from "../postgres/commit-function.ts";
import { LEDGER_COMMIT_PLAIN, LEDGER_PLAIN_TYPES } from "../postgres/plain-commit-function.ts";
import { LEDGER_WRITE } from "../postgres/write-function.ts";

/**
 * The step since which a call counts once, however many parts it has, and a record has the code of the error that ended it; see
 * `schema.ts`. Parts that are open during the step have been counted as calls, and their ends are.
 */
export const PARTS = {
  sqlite: `
  ALTER TABLE holds ADD COLUMN is_part INTEGER CHECK (is_part = 1); -- of a call with a hold of its own: only its tokens count
  ALTER TABLE entries ADD COLUMN error_code TEXT; -- of the gateway's error that ended the call
  DROP VIEW generations;
  CREATE VIEW generations AS
    SELECT number, id, owner, debit_account AS account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
      input_tokens, output_tokens, coalesce(credits, amount) AS credits, ms, first_byte_ms, started_at, parent, list_credits, session,
      route, upstream_request_id, attempts, client_request_id, end_user, tags, error_code
    FROM entries WHERE owner IS NOT NULL;
  `,
  postgres: `
  ALTER TABLE holds ADD COLUMN is_part boolean;
  ALTER TABLE generations ADD COLUMN error_code text;
  ALTER TYPE ledger_operation ADD ATTRIBUTE is_part boolean; -- of a hold
  ${LEDGER_COMMIT}
  ${LEDGER_PLAIN_TYPES}
  ${LEDGER_COMMIT_PLAIN}
  ${LEDGER_WRITE}
  `,
};
