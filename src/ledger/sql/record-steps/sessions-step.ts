/** The step that records the client's session of a call; see `schema.ts`. Adding a column writes no row. */
export const SESSIONS = {
  sqlite: `
  ALTER TABLE holds ADD COLUMN session TEXT; -- the client's session that its call belongs to
  ALTER TABLE entries ADD COLUMN session TEXT; -- of the call that it ended; null where the client named none
  DROP VIEW generations;
  CREATE VIEW generations AS
    SELECT number, id, owner, debit_account AS account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
      input_tokens, output_tokens, coalesce(credits, amount) AS credits, ms, first_byte_ms, started_at, parent, list_credits, session
    FROM entries WHERE owner IS NOT NULL;
  `,
  postgres: `
  ALTER TABLE holds ADD COLUMN session text;
  ALTER TABLE generations ADD COLUMN session text COLLATE "C";
  ALTER TYPE ledger_operation ADD ATTRIBUTE session text; -- of a hold
  `,
};
