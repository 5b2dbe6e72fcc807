/** The step that takes credits back, refunds calls, and records list prices; see `schema.ts`. */
export const REFUNDS = {
  sqlite: `
  ALTER TABLE accounts ADD COLUMN markup INTEGER CHECK (markup > 0); -- of an organisation, in millionths; null for the configuration's
  ALTER TABLE entries ADD COLUMN list_credits INTEGER; -- of the call, without markup; null in older rows and where its process died
  -- Of a grant or a refund: who made it, and why. A refund is a settlement with a reason: another kind would need the table
  -- to be written again, whose check lists the kinds.
  ALTER TABLE entries ADD COLUMN actor TEXT;
  ALTER TABLE entries ADD COLUMN reason TEXT;
  DROP TRIGGER entries_are_never_changed;
  CREATE TRIGGER entries_are_never_changed BEFORE UPDATE OF number, rowid, _rowid_, oid, id, kind, debit_account,
    credit_account, amount, held, shortfall, created_at, corrects_at, corrects_shortfall, actor, reason ON entries
    BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
  DROP VIEW generations;
  CREATE VIEW generations AS
    SELECT number, id, owner, debit_account AS account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
      input_tokens, output_tokens, coalesce(credits, amount) AS credits, ms, first_byte_ms, started_at, parent, list_credits
    FROM entries WHERE owner IS NOT NULL;
  `,
  postgres: `
  ALTER TABLE accounts ADD COLUMN markup bigint;
  ALTER TABLE entries ADD COLUMN actor text, ADD COLUMN reason text;
  ALTER TABLE generations ADD COLUMN list_credits bigint;
  ALTER TYPE ledger_operation
    ADD ATTRIBUTE actor text, -- of a grant or a refund
    ADD ATTRIBUTE reason text;
  `,
};
