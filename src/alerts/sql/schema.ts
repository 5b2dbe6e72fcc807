import { bothEngines, together } from "../../storage/index.ts";

export const ALERT_NOTICES = bothEngines(
  `
  -- Thresholds of budgets that were crossed, by channel of a user; one that is over is deleted.
  CREATE TABLE alert_notices (
    id          TEXT PRIMARY KEY,
    channel_id  TEXT NOT NULL,
    account_id  TEXT NOT NULL,
    period      TEXT NOT NULL, -- the first day of the budget's period; empty for none
    threshold   INTEGER NOT NULL,
    value       INTEGER NOT NULL, -- percent of the budget when it was noted
    opened_at   INTEGER NOT NULL,
    UNIQUE (channel_id, account_id, period, threshold)
  ) STRICT, WITHOUT ROWID;
  `,
  "id channel_id account_id period",
);

export const ALERTS = together(
  bothEngines(
    `
  -- The findings of rules: each once however many processes make it.
  CREATE TABLE alerts (
    id         TEXT PRIMARY KEY,
    rule       TEXT NOT NULL,
    account    TEXT NOT NULL, -- or a model, a provider, a target, a node; empty for the deployment
    period     TEXT NOT NULL, -- the first day of a budget's period; empty for none
    threshold  INTEGER NOT NULL, -- zero for none
    value      TEXT NOT NULL, -- JSON
    node       TEXT NOT NULL,
    since      INTEGER NOT NULL,
    opened_at  INTEGER, -- null while it is pending
    gone_at    INTEGER, -- null while its condition lasts
    closed_at  INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX alerts_active ON alerts (rule, account, period, threshold) WHERE closed_at IS NULL;

  -- The latest of each process.
  CREATE TABLE alert_reports (
    process      TEXT PRIMARY KEY,
    reported_at  INTEGER NOT NULL,
    report       TEXT NOT NULL -- JSON: counts by provider and model
  ) STRICT;

  -- Since when a node has its fingerprint; zero of a node of an earlier version.
  ALTER TABLE nodes ADD COLUMN fingerprint_at INTEGER NOT NULL DEFAULT 0;
  `,
    "id rule account period process",
  ),
);
