import { bothEngines } from "../../storage/index.ts";

export const SEALED_TABLES = bothEngines(
  `
  -- The counters of an account that come from sealed entries: its own, and those of the accounts below it.
  CREATE TABLE opening_balances (
    account_id      TEXT PRIMARY KEY,
    credits_posted  INTEGER NOT NULL,
    debits_posted   INTEGER NOT NULL,
    period_start    INTEGER NOT NULL, -- the period of the account then, and its sealed part
    period_debits   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- What is told of a user's calls, by the day on which they began: of those up to the mark of calls_by_owner. Removed calls
  -- stay included, and are counted once more.
  CREATE TABLE daily_sums (
    owner                  TEXT NOT NULL,
    day                    INTEGER NOT NULL, -- days since 1970-01-01 in the time zone
    account_id             TEXT NOT NULL,
    provider               TEXT NOT NULL,
    model                  TEXT NOT NULL,
    requests               INTEGER NOT NULL,
    input_tokens           INTEGER NOT NULL,
    output_tokens          INTEGER NOT NULL,
    credits                INTEGER NOT NULL,
    removed_requests       INTEGER NOT NULL DEFAULT 0,
    removed_input_tokens   INTEGER NOT NULL DEFAULT 0,
    removed_output_tokens  INTEGER NOT NULL DEFAULT 0,
    removed_credits        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, day, account_id, provider, model)
  ) STRICT, WITHOUT ROWID;
  `,
  "account_id owner provider model",
);
