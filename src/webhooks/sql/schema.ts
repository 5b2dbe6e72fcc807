import { bothEngines } from "../../storage/index.ts";

export const WEBHOOK_SECRETS = bothEngines(
  `
  -- The secrets that sign a user's webhooks, encrypted. After a rotation both sign until previous_until.
  CREATE TABLE webhook_secrets (
    owner            TEXT PRIMARY KEY, -- the user
    secret           TEXT NOT NULL,
    previous_secret  TEXT,
    previous_until   INTEGER,
    made_at          INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  "owner",
);
