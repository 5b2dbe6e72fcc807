import { bothEngines } from "../../storage/index.ts";

export const ALERT_CHANNELS = bothEngines(
  `
  -- Where users and projects get messages about their own budgets.
  CREATE TABLE alert_channels (
    id          TEXT PRIMARY KEY,
    owner       TEXT NOT NULL, -- the user, or project:<id>
    url         TEXT NOT NULL,
    budget_id   TEXT, -- null for all own ones
    thresholds  TEXT NOT NULL, -- JSON: percents of a budget
    created_at  INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX alert_channels_by_owner ON alert_channels (owner, id);
  `,
  "id owner budget_id",
);
