export const WEBHOOK_SECRETS = {
  sqlite: `
  -- The secrets that sign a user's webhooks, encrypted. After a rotation both sign until previous_until.
  CREATE TABLE webhook_secrets (
    owner            TEXT PRIMARY KEY, -- the user
    secret           TEXT NOT NULL,
    previous_secret  TEXT,
    previous_until   INTEGER,
    made_at          INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  postgres: `
  CREATE TABLE webhook_secrets (
    owner            text COLLATE "C" PRIMARY KEY,
    secret           text NOT NULL,
    previous_secret  text,
    previous_until   bigint,
    made_at          bigint NOT NULL
  );
  `,
};
