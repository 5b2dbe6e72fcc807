import { bothEngines } from "../../../storage/index.ts";

export const TOOL_CONNECTIONS = bothEngines(
  `
  -- The credentials of users at servers of tools.
  CREATE TABLE tool_connections (
    id             TEXT PRIMARY KEY,
    server         TEXT NOT NULL,
    owner          TEXT NOT NULL, -- the user; empty if it is the operator's, for all
    account        TEXT NOT NULL, -- the owner's name for one of several accounts
    status         TEXT NOT NULL, -- pending, connected, expired
    sealed         TEXT, -- the credentials, encrypted
    version        INTEGER NOT NULL, -- of the credentials
    renewal_until  INTEGER, -- a process renews the credentials until then
    created_at     INTEGER NOT NULL,
    connected_at   INTEGER,
    UNIQUE (owner, server, account)
  ) STRICT, WITHOUT ROWID;

  -- Sign-ins at servers' authorization servers that browsers have begun.
  CREATE TABLE tool_authorizations (
    state_hash     BLOB PRIMARY KEY,
    connection_id  TEXT NOT NULL,
    sealed         TEXT NOT NULL, -- what is needed for the end of the sign-in, encrypted
    expires_at     INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- The gateway as a client that an authorization server has registered.
  CREATE TABLE tool_clients (
    server    TEXT NOT NULL,
    issuer    TEXT NOT NULL,
    redirect  TEXT NOT NULL, -- the address that browsers come back to
    sealed    TEXT NOT NULL, -- the registration, encrypted
    made_at   INTEGER NOT NULL,
    PRIMARY KEY (server, issuer, redirect)
  ) STRICT, WITHOUT ROWID;
  `,
  "id server owner account issuer redirect",
);
