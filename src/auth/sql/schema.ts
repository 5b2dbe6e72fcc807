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

/** Limits of all tokens of a user, or of an organisation's users. */
export const POLICIES = bothEngines(`
  ALTER TABLE account_holders ADD COLUMN models TEXT;
  ALTER TABLE account_holders ADD COLUMN tools TEXT;
  ALTER TABLE account_holders ADD COLUMN rpm INTEGER;
  ALTER TABLE account_holders ADD COLUMN tpm INTEGER;
  ALTER TABLE account_holders ADD COLUMN concurrency INTEGER;
  ALTER TABLE account_holders ADD COLUMN expires_at INTEGER;
  `);

export const HOLDERS = together(
  bothEngines(
    `
  -- Organisations and users: who holds accounts and tokens. The id stays; of those before this step it is the name.
  CREATE TABLE account_holders (
    kind             TEXT NOT NULL, -- organisation, user
    id               TEXT NOT NULL,
    name             TEXT NOT NULL,
    role             TEXT, -- of a user
    organisation_id  TEXT, -- that a user belongs to
    account_id       TEXT, -- null of a user who has only service tokens
    disabled_at      INTEGER,
    deleted_at       INTEGER,
    created_at       INTEGER NOT NULL,
    version          INTEGER NOT NULL, -- counts the changes
    PRIMARY KEY (kind, id)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX account_holders_by_name ON account_holders (kind, name) WHERE deleted_at IS NULL;
  CREATE INDEX account_holders_by_organisation ON account_holders (organisation_id, id);

  INSERT INTO account_holders (kind, id, name, account_id, created_at, version)
    SELECT kind, name, name, id, created_at, 1 FROM accounts WHERE kind = 'organisation';
  INSERT INTO account_holders (kind, id, name, role, organisation_id, account_id, created_at, version)
    SELECT u.kind, u.name, u.name, 'member', o.name, u.id, u.created_at, 1
    FROM accounts u LEFT JOIN accounts o ON o.id = u.parent_id WHERE u.kind = 'user';
  INSERT INTO account_holders (kind, id, name, role, created_at, version)
    SELECT 'user', user_name, user_name, 'member', min(created_at), 1 FROM tokens WHERE service GROUP BY user_name
    ON CONFLICT (kind, id) DO NOTHING;

  -- An administrating token was one of many of its user: the others stay those of a member.
  ALTER TABLE tokens ADD COLUMN role TEXT; -- null for the user's
  UPDATE account_holders SET role = 'owner' WHERE kind = 'user'
    AND id IN (SELECT user_name FROM tokens WHERE admin AND revoked_at IS NULL);
  UPDATE tokens SET role = CASE WHEN admin THEN 'owner' ELSE 'member' END
    WHERE user_name IN (SELECT id FROM account_holders WHERE role = 'owner');

  ALTER TABLE tokens ADD COLUMN name TEXT;
  ALTER TABLE tokens ADD COLUMN paused_at INTEGER;
  ALTER TABLE tokens ADD COLUMN previous_hash BLOB; -- of the secret before the last rotation, valid until previous_until
  ALTER TABLE tokens ADD COLUMN previous_until INTEGER;
  ALTER TABLE tokens ADD COLUMN made_by TEXT; -- the actor
  ALTER TABLE tokens ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
  CREATE INDEX tokens_by_user ON tokens (user_name, id);
  `,
    "kind id organisation_id account_id",
  ),
  {
    postgres: `
  CREATE TRIGGER account_holders_are_announced AFTER UPDATE OR DELETE ON account_holders
    FOR EACH STATEMENT EXECUTE FUNCTION announce_change();
  `,
  },
);

/** Bounds of the tokens that an organisation's users make: JSON. */
export const TOKEN_POLICIES = bothEngines("ALTER TABLE account_holders ADD COLUMN token_policy TEXT;");

/** Callers by the signed tokens of others. */
export const IDENTITIES = bothEngines(
  `
  -- Who an issuer's subject is here. It stays when the user is deleted, so that the subject does not come back by itself.
  CREATE TABLE identities (
    issuer      TEXT NOT NULL, -- the claim iss
    subject     TEXT NOT NULL, -- the claim sub
    user_id     TEXT NOT NULL,
    token_id    TEXT, -- without a secret that anybody has; null before the first call
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX identities_by_user ON identities (user_id, issuer, subject);
  CREATE INDEX identities_by_token ON identities (token_id);
  `,
  "issuer subject user_id token_id",
);

/** Projects are holders beside users. The previous version would not apply their policies, nor know that one is disabled. */
export const PROJECTS = bothEngines(
  `
  -- Users who see what belongs to a project, and have its tokens.
  CREATE TABLE project_members (
    project_id  TEXT NOT NULL,
    user_id     TEXT NOT NULL,
    PRIMARY KEY (project_id, user_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX project_members_by_user ON project_members (user_id, project_id);
  `,
  "project_id user_id",
);

/** The previous version refuses these keys, like all that do not have the form of its own tokens. */
export const IMPORTED_KEYS = bothEngines(
  `
  -- Keys that another gateway has issued: each stands for a token, until that gets another secret.
  CREATE TABLE imported_keys (
    hash         BLOB PRIMARY KEY, -- SHA-256 of the whole key
    token_id     TEXT NOT NULL,
    secret_hash  BLOB NOT NULL, -- the token's as of the import
    valid_until  INTEGER, -- null for no end of its own
    created_at   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Made by an import: the next one finds it by its foreign id, also under another name.
  CREATE TABLE imports (
    source       TEXT NOT NULL, -- litellm
    kind         TEXT NOT NULL, -- organisation, project, user, token, budget
    foreign_id   TEXT NOT NULL, -- the source's
    id           TEXT NOT NULL, -- ours
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (source, kind, foreign_id)
  ) STRICT, WITHOUT ROWID;
  `,
  "token_id source kind foreign_id id",
);

/** The previous version lists the tokens of sessions like others; nobody has their secrets. */
export const BROWSER_SESSIONS = bothEngines(
  `
  ALTER TABLE tokens ADD COLUMN session_of TEXT; -- of a token that stands for a session: the one that it was begun with
  CREATE INDEX tokens_by_session ON tokens (session_of) WHERE session_of IS NOT NULL;

  -- Who has signed in with a browser. The cookie has an id and a secret, of which the hash is here.
  CREATE TABLE browser_sessions (
    id            TEXT PRIMARY KEY,
    secret_hash   BLOB NOT NULL,
    token_id      TEXT NOT NULL, -- that pays for its calls
    user_id       TEXT NOT NULL,
    source_id     TEXT NOT NULL, -- the token that it was begun with
    source_hash   BLOB, -- of the secret that was presented; null of a caller whom an issuer has named
    issuer        TEXT, -- the name of the sign-in by OpenID Connect
    role          TEXT, -- by the issuer's claims, in place of the user's
    signed_until  INTEGER, -- the end of the signed token that was presented
    proved_at     INTEGER, -- when the caller has last shown who they are
    address       TEXT,
    agent         TEXT,
    created_at    INTEGER NOT NULL,
    seen_at       INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX browser_sessions_by_user ON browser_sessions (user_id, id);
  CREATE INDEX browser_sessions_by_end ON browser_sessions (expires_at);

  -- One-time codes that a sandbox prints, by their hashes.
  CREATE TABLE sign_in_codes (
    hash        BLOB PRIMARY KEY,
    token_id    TEXT NOT NULL, -- that a session begins with
    expires_at  INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  "id token_id session_of user_id source_id",
);
