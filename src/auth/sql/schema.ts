import { bothEngines, together } from "../../storage/index.ts";

export const TOKENS = together(
  bothEngines(
    `
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
    "id account_id",
  ),
  {
    postgres: `
  -- Nodes keep tokens in memory; a new one is nowhere yet, a changed one must be forgotten everywhere.
  CREATE FUNCTION announce_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NOTIFY tollgate_changes;
    RETURN NULL;
  END $$;
  CREATE TRIGGER tokens_are_announced AFTER UPDATE OR DELETE ON tokens
    FOR EACH STATEMENT EXECUTE FUNCTION announce_change();
  `,
  },
);

export const TOKENS_PER_MINUTE = bothEngines(`
  ALTER TABLE tokens ADD COLUMN tpm INTEGER;
  CREATE INDEX tokens_by_account ON tokens (account_id);
  `);

export const TOOLS_OF_TOKENS = bothEngines(`
  ALTER TABLE tokens ADD COLUMN tools TEXT;
  `);

export const CLIENT_SECRETS = bothEngines(
  `
  -- Secrets that start realtime sessions in the name of a token, until they expire.
  CREATE TABLE client_secrets (
    id           TEXT PRIMARY KEY,
    secret_hash  BLOB NOT NULL,
    token_id     TEXT NOT NULL,
    session      TEXT NOT NULL, -- JSON: the model and the session's settings
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX client_secrets_by_age ON client_secrets (expires_at);
  `,
  "id token_id",
);
