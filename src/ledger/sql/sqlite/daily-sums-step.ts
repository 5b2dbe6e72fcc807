import { SEALED_TABLES } from "../sealed-tables.ts";

/** The sums of calls by day, from the rows that were not removed. */
const SUM_CALLS = `
  INSERT INTO daily_sums (owner, day, account_id, provider, model, requests, input_tokens, output_tokens, credits)
  SELECT owner, started_at / 86400000, debit_account, provider, model, count(*), sum(input_tokens), sum(output_tokens),
    sum(coalesce(credits, amount))
  FROM entries WHERE owner IS NOT NULL GROUP BY 1, 2, 3, 4, 5;
`;

/** The ninth step. Of an existing database, all sums are built here: about two seconds per million calls. */
export const DAILY_SUMS = `
  -- One row: which days the books have, and which of them are closed.
  CREATE TABLE ledger_state (
    timezone          TEXT NOT NULL,              -- whose midnight begins a day and restarts a budget
    closed_before     INTEGER NOT NULL DEFAULT 0, -- no further entry gets an earlier date
    sealed_before     INTEGER NOT NULL DEFAULT 0, -- opening_balances contain all entries with an earlier date
    sealed_to         INTEGER NOT NULL DEFAULT 0, -- … which are all entries up to this number, and a few later ones
    sealed_entries    INTEGER NOT NULL DEFAULT 0,
    sealed_shortfall  INTEGER NOT NULL DEFAULT 0,
    removed_before    INTEGER NOT NULL DEFAULT 0, -- entries with an earlier date may be gone
    CHECK (removed_before <= sealed_before AND sealed_before <= closed_before)
  ) STRICT;
  INSERT INTO ledger_state (timezone) VALUES ('UTC');

  ${SEALED_TABLES.sqlite}
  INSERT INTO calls_by_owner (owner, started_at, number)
    SELECT owner, started_at, number FROM generations WHERE number > (SELECT number FROM calls_by_owner_mark)
    ON CONFLICT DO NOTHING;
  UPDATE calls_by_owner_mark SET number = (SELECT coalesce(max(number), 0) FROM entries);
  ${SUM_CALLS}

  -- The starts of the days that have sums, in other zones than UTC.
  CREATE TABLE days (start INTEGER PRIMARY KEY, day INTEGER NOT NULL) STRICT;

  -- Of the late end of an expired hold: the date of the entry that it corrects, and the shortfall that no longer counts.
  ALTER TABLE entries ADD COLUMN corrects_at INTEGER;
  ALTER TABLE entries ADD COLUMN corrects_shortfall INTEGER;
  UPDATE entries SET (corrects_at, corrects_shortfall) = (
      SELECT e.created_at, e.shortfall FROM entries e WHERE e.id = substr(entries.id, 1, length(entries.id) - 5) AND e.kind = 'expire')
    WHERE id LIKE '%:late';
  DROP TRIGGER entries_are_never_changed;
  CREATE TRIGGER entries_are_never_changed BEFORE UPDATE OF number, rowid, _rowid_, oid, id, kind, debit_account,
    credit_account, amount, held, shortfall, created_at, corrects_at, corrects_shortfall ON entries
    BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
  DROP TRIGGER entries_are_never_deleted;
  CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries
    WHEN old.created_at >= (SELECT removed_before FROM ledger_state)
    BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;

  -- The spending of a period is what the books contain of it. In earlier versions a charge at midnight could count in a
  -- period other than that of its date.
  WITH RECURSIVE
    links (leaf, id) AS (
      SELECT id, id FROM accounts UNION ALL SELECT l.leaf, a.parent_id FROM links l JOIN accounts a ON a.id = l.id
      WHERE a.parent_id IS NOT NULL),
    charges (account_id, amount, at, corrects_at) AS (
      SELECT CASE debit_account WHEN 'revenue' THEN credit_account ELSE debit_account END,
        CASE debit_account WHEN 'revenue' THEN -amount ELSE amount END, created_at,
        CASE debit_account WHEN 'revenue' THEN coalesce(corrects_at, 0) ELSE created_at END
      FROM entries
      WHERE kind <> 'grant' AND created_at >= (SELECT min(period_start) FROM accounts WHERE period_start > 0)),
    spent (id, amount) AS MATERIALIZED (
      SELECT l.id, sum(c.amount) FROM charges c CROSS JOIN links l ON l.leaf = c.account_id JOIN accounts a ON a.id = l.id
      WHERE a.period_start > 0 AND c.at >= a.period_start AND c.corrects_at >= a.period_start GROUP BY l.id)
  UPDATE accounts SET period_debits = coalesce((SELECT amount FROM spent WHERE spent.id = accounts.id), 0)
  WHERE period_start > 0;
  -- A period without a start contains everything.
  UPDATE accounts SET period_debits = debits_posted WHERE period_start = 0;
`;
