import { bothEngines, together } from "../../storage/index.ts";

/**
 * The step since which accounts may be those of projects and of budgets; see `schema.ts`. A budget is an account beside a chain, which
 * counts the calls whose holds name it. Nodes of the previous version never name one: they leave the calls of accounts that have some
 * to `ledger_commit`.
 */
export const BUDGETS = together(
  {
    sqlite: `
  -- The checks of kinds and periods are widened, for which the table is written again.
  CREATE TABLE accounts_widened (
    id               TEXT PRIMARY KEY,
    kind             TEXT NOT NULL
      CHECK (kind = 'token' OR kind = 'user' OR kind = 'organisation' OR kind = 'project' OR kind = 'budget'),
    name             TEXT NOT NULL,
    parent_id        TEXT REFERENCES accounts (id),
    prepaid          INTEGER NOT NULL CHECK (prepaid IN (0, 1)),
    max_budget       INTEGER CHECK (max_budget >= 0),
    period           TEXT CHECK (period = 'daily' OR period = 'weekly' OR period = 'monthly' OR period = 'quarterly'),
    credits_posted   INTEGER NOT NULL DEFAULT 0,
    debits_posted    INTEGER NOT NULL DEFAULT 0 CHECK (debits_posted >= 0),
    debits_pending   INTEGER NOT NULL DEFAULT 0 CHECK (debits_pending >= 0),
    period_start     INTEGER NOT NULL DEFAULT 0,
    period_debits    INTEGER NOT NULL DEFAULT 0 CHECK (period_debits >= 0),
    created_at       INTEGER NOT NULL,
    minute_began     INTEGER NOT NULL DEFAULT 0,
    minute_requests  INTEGER NOT NULL DEFAULT 0,
    minute_tokens    INTEGER NOT NULL DEFAULT 0,
    open_calls       INTEGER NOT NULL DEFAULT 0,
    markup           INTEGER CHECK (markup > 0), -- of an organisation, in millionths; null for the configuration's
    has_budgets      INTEGER NOT NULL DEFAULT 0 CHECK (has_budgets = 0 OR has_budgets = 1), -- whether it has rows of budgets
    -- Of a budget: the day of the week or month, or the month, that its periods begin with, and what it has more until when.
    period_from      INTEGER CHECK (period_from BETWEEN 1 AND 31),
    raised_by        INTEGER CHECK (raised_by >= 0),
    raised_until     INTEGER
  ) STRICT, WITHOUT ROWID;
  INSERT INTO accounts_widened (id, kind, name, parent_id, prepaid, max_budget, period, credits_posted, debits_posted,
      debits_pending, period_start, period_debits, created_at, minute_began, minute_requests, minute_tokens, open_calls, markup)
    SELECT id, kind, name, parent_id, prepaid, max_budget, period, credits_posted, debits_posted,
      debits_pending, period_start, period_debits, created_at, minute_began, minute_requests, minute_tokens, open_calls, markup
    FROM accounts ORDER BY id;
  DROP TABLE accounts;
  ALTER TABLE accounts_widened RENAME TO accounts;

  -- The accounts of the budgets that a call counts in, as JSON; null where it counts in none.
  ALTER TABLE holds ADD COLUMN budgets TEXT;
  DROP TRIGGER entries_are_never_changed;
  ALTER TABLE entries ADD COLUMN budgets TEXT;
  CREATE TRIGGER entries_are_never_changed BEFORE UPDATE OF number, rowid, _rowid_, oid, id, kind, debit_account,
    credit_account, amount, held, shortfall, created_at, corrects_at, corrects_shortfall, actor, reason, budgets ON entries
    BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
  `,
    postgres: `
  ALTER TABLE accounts
    ADD COLUMN has_budgets boolean NOT NULL DEFAULT false, -- whether it has rows of budgets
    ADD COLUMN period_from bigint, -- of a budget: what its periods begin with, and what it has more until when
    ADD COLUMN raised_by bigint,
    ADD COLUMN raised_until bigint;
  -- The accounts of the budgets that a call counts in, as JSON; null where it counts in none.
  ALTER TABLE holds ADD COLUMN budgets text;
  ALTER TABLE entries ADD COLUMN budgets text;
  `,
  },
  bothEngines(
    `
  CREATE TABLE model_groups (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL,
    models      TEXT NOT NULL, -- JSON: globs of ids with prefix
    created_at  INTEGER NOT NULL,
    version     INTEGER NOT NULL -- counts the changes
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX model_groups_by_name ON model_groups (name);

  -- Whose budgets there are, and for what. One that was deleted remains: calls that count in it may be open.
  CREATE TABLE budgets (
    id          TEXT PRIMARY KEY, -- its account is named by it
    account_id  TEXT NOT NULL, -- that it limits
    group_id    TEXT, -- of models; null for all
    created_at  INTEGER NOT NULL,
    deleted_at  INTEGER,
    version     INTEGER NOT NULL -- counts the changes
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX budgets_by_account ON budgets (account_id, id);
  `,
    "id account_id group_id",
  ),
);
