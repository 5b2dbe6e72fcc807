-- The schema on SQLite as its fourth step left it, the last with calls by their ids.
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
  created_at      INTEGER NOT NULL,
  minute_start INTEGER NOT NULL DEFAULT 0,
  minute_requests INTEGER NOT NULL DEFAULT 0,
  minute_tokens INTEGER NOT NULL DEFAULT 0,
  open_calls INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE holds (
  id           TEXT PRIMARY KEY,
  account_id   TEXT NOT NULL,
  amount       INTEGER NOT NULL CHECK (amount >= 0),
  purpose      TEXT NOT NULL,
  observed     INTEGER CHECK (observed >= 0),
  lease_until  INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  tokens INTEGER NOT NULL DEFAULT 0,
  retry_key TEXT
) STRICT, WITHOUT ROWID;
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
  created_at   INTEGER NOT NULL,
  tpm INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE generations (
  id             TEXT PRIMARY KEY,
  owner          TEXT NOT NULL, -- the user
  account_id     TEXT NOT NULL,
  operation      TEXT NOT NULL,
  dialect        TEXT,
  provider       TEXT NOT NULL,
  model          TEXT NOT NULL,
  streamed       INTEGER NOT NULL CHECK (streamed IN (0, 1)),
  status         INTEGER NOT NULL,
  outcome        TEXT NOT NULL, -- of the call, or 'expired' where its process died
  usage          TEXT NOT NULL, -- counts by bucket, as JSON
  input_tokens   INTEGER NOT NULL,
  output_tokens  INTEGER NOT NULL,
  credits        INTEGER NOT NULL,
  ms             REAL NOT NULL,
  first_byte_ms  REAL,
  started_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE retry_keys (
  account_id   TEXT NOT NULL,
  key          TEXT NOT NULL,
  fingerprint  TEXT NOT NULL,
  hold_id      TEXT NOT NULL,
  status       INTEGER,
  headers      TEXT,
  body         BLOB,
  kept_until   INTEGER NOT NULL,
  PRIMARY KEY (account_id, key)
) STRICT;
CREATE TABLE responses (
  id           TEXT NOT NULL,
  owner        TEXT NOT NULL,
  provider     TEXT NOT NULL,
  model        TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  kept_until   INTEGER NOT NULL,
  previous_id  TEXT,
  input        TEXT,
  response     TEXT,
  PRIMARY KEY (id, owner)
) STRICT;
CREATE TABLE entries (
  id              TEXT PRIMARY KEY,
  kind            TEXT NOT NULL CHECK (kind = 'settle' OR kind = 'release' OR kind = 'expire' OR kind = 'grant'),
  debit_account   TEXT NOT NULL,
  credit_account  TEXT NOT NULL,
  amount          INTEGER NOT NULL CHECK (amount >= 0),
  held            INTEGER NOT NULL CHECK (held >= 0),
  shortfall       INTEGER NOT NULL CHECK (shortfall >= 0),
  created_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_by_account ON tokens (account_id);
CREATE INDEX generations_by_owner ON generations (owner, started_at);
CREATE INDEX retry_keys_by_age ON retry_keys (kept_until);
CREATE INDEX responses_by_age ON responses (kept_until);
CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
PRAGMA user_version = 4;
