/**
 * The schema, one step an element; a step that has been released is never changed. Amounts are nano-credits, times
 * milliseconds since the epoch.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE accounts (
    id              TEXT PRIMARY KEY,
    kind            TEXT NOT NULL CHECK (kind IN ('token', 'user', 'organisation')),
    name            TEXT NOT NULL,
    parent_id       TEXT REFERENCES accounts (id),
    prepaid         INTEGER NOT NULL CHECK (prepaid IN (0, 1)),
    max_budget      INTEGER CHECK (max_budget >= 0),
    period          TEXT CHECK (period IN ('daily', 'monthly')),
    credits_posted  INTEGER NOT NULL DEFAULT 0,
    debits_posted   INTEGER NOT NULL DEFAULT 0 CHECK (debits_posted >= 0),
    debits_pending  INTEGER NOT NULL DEFAULT 0 CHECK (debits_pending >= 0),
    period_start    INTEGER NOT NULL DEFAULT 0,
    period_debits   INTEGER NOT NULL DEFAULT 0 CHECK (period_debits >= 0),
    created_at      INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Only the open ones: a small table whose pages stay hot. What ended stands in entries.
  CREATE TABLE holds (
    id           TEXT PRIMARY KEY,
    account_id   TEXT NOT NULL,
    amount       INTEGER NOT NULL CHECK (amount >= 0),
    purpose      TEXT NOT NULL,
    observed     INTEGER CHECK (observed >= 0),
    lease_until  INTEGER NOT NULL,
    created_at   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- The books. A debit of an account counts in each of its parents too. The id is the hold's or the grant's.
  CREATE TABLE entries (
    id              TEXT PRIMARY KEY,
    kind            TEXT NOT NULL CHECK (kind IN ('grant', 'settle', 'release', 'expire')),
    debit_account   TEXT NOT NULL,
    credit_account  TEXT NOT NULL,
    amount          INTEGER NOT NULL CHECK (amount >= 0),
    held            INTEGER NOT NULL CHECK (held >= 0),
    shortfall       INTEGER NOT NULL CHECK (shortfall >= 0),
    created_at      INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
  CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;

  CREATE TABLE tokens (
    id           TEXT PRIMARY KEY,
    secret_hash  BLOB NOT NULL,
    user_name    TEXT NOT NULL,
    account_id   TEXT NOT NULL REFERENCES accounts (id),
    service      INTEGER NOT NULL CHECK (service IN (0, 1)),
    admin        INTEGER NOT NULL CHECK (admin IN (0, 1)),
    models       TEXT,
    rpm          INTEGER,
    concurrency  INTEGER,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    created_at   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
];
