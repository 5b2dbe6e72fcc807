import { inWebFile } from "../../sql/web-file.ts";
import { CRAWL_ADD, CRAWL_END, CRAWL_LEASED } from "./crawl-functions.ts";
import { TAKE_FUNCTION, TAKE_FUNCTION_BY_KIND } from "./take-function.ts";

export const CRAWLS = inWebFile(
  `
  -- Crawls and batches of pages.
  CREATE TABLE crawls (
    id               TEXT PRIMARY KEY,
    kind             TEXT NOT NULL,
    owner            TEXT NOT NULL, -- the user
    caller           TEXT NOT NULL, -- JSON: the one who pays
    request          TEXT NOT NULL, -- JSON
    pages_max        INTEGER NOT NULL,
    concurrency_max  INTEGER NOT NULL,
    delay_ms         INTEGER NOT NULL,
    state            TEXT NOT NULL,
    failure_code     TEXT,
    failure          TEXT,
    discovered       INTEGER NOT NULL DEFAULT 0, -- rows in crawl_pages
    completed        INTEGER NOT NULL DEFAULT 0,
    failed           INTEGER NOT NULL DEFAULT 0,
    skipped          INTEGER NOT NULL DEFAULT 0,
    credits          INTEGER NOT NULL DEFAULT 0, -- nano-credits
    bytes            INTEGER NOT NULL DEFAULT 0, -- of the results
    created_at       INTEGER NOT NULL,
    ended_at         INTEGER,
    expires_at       INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX crawls_by_owner ON crawls (owner, created_at);
  CREATE INDEX crawls_by_state ON crawls (owner) WHERE state = 'scraping';
  CREATE INDEX crawls_by_age ON crawls (expires_at);

  -- The addresses of a crawl; what waits is its frontier. A row is leased while it is fetched and charged.
  CREATE TABLE crawl_pages (
    crawl_id      TEXT NOT NULL,
    number        INTEGER NOT NULL, -- in the order of their discovery
    kind          TEXT NOT NULL,
    key           TEXT NOT NULL, -- equal for addresses of the same page
    url           TEXT NOT NULL,
    host          TEXT NOT NULL,
    depth         INTEGER NOT NULL,
    state         INTEGER NOT NULL DEFAULT 0,
    attempts      INTEGER NOT NULL DEFAULT 0,
    lease_token   TEXT,
    lease_until   INTEGER,
    work          TEXT, -- JSON: what is charged for a fetched page
    digest        TEXT, -- of its text: null if it may repeat another page
    position      INTEGER, -- of its result; of a failed page from -1 downwards
    bytes         INTEGER NOT NULL DEFAULT 0,
    failure_code  TEXT,
    failure       TEXT,
    ended_at      INTEGER,
    PRIMARY KEY (crawl_id, number)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX crawl_pages_by_key ON crawl_pages (crawl_id, key);
  CREATE INDEX crawl_pages_waiting ON crawl_pages (crawl_id, host, number) WHERE state = 0;
  -- Few rows are leased at a time. The planner does not know that: statements name these indexes.
  CREATE INDEX crawl_pages_leased ON crawl_pages (lease_until) WHERE lease_token IS NOT NULL;
  CREATE INDEX crawl_pages_of_crawl ON crawl_pages (crawl_id) WHERE lease_token IS NOT NULL;
  CREATE INDEX crawl_pages_of_host ON crawl_pages (host) WHERE lease_token IS NOT NULL;
  CREATE INDEX crawl_pages_by_lease ON crawl_pages (lease_token) WHERE lease_token IS NOT NULL;
  CREATE INDEX crawl_pages_by_position ON crawl_pages (crawl_id, position, bytes) WHERE position IS NOT NULL;
  CREATE UNIQUE INDEX crawl_pages_by_digest ON crawl_pages (crawl_id, digest) WHERE digest IS NOT NULL;
  CREATE INDEX crawl_pages_failed ON crawl_pages (crawl_id, number) WHERE failure_code IS NOT NULL;

  -- The hosts of each crawl that runs: how many of their addresses wait, and when the next one may be taken.
  CREATE TABLE crawl_lanes (
    crawl_id  TEXT NOT NULL,
    host      TEXT NOT NULL,
    waiting   INTEGER NOT NULL,
    ready_at  INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, host)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX crawl_lanes_by_moment ON crawl_lanes (ready_at) WHERE waiting > 0;

  -- The pace at which all nodes together ask a host.
  CREATE TABLE web_hosts (
    host         TEXT PRIMARY KEY,
    next_at      INTEGER NOT NULL, -- when the next page would start if all started evenly
    interval_ms  INTEGER NOT NULL -- the pause that its robots.txt demands
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX web_hosts_by_age ON web_hosts (next_at);

  -- What a crawl left out, counted by reason.
  CREATE TABLE crawl_notes (
    crawl_id  TEXT NOT NULL,
    code      TEXT NOT NULL,
    url       TEXT NOT NULL, -- the first one
    message   TEXT NOT NULL,
    count     INTEGER NOT NULL,
    noted_at  INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, code)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE crawl_results (
    crawl_id  TEXT NOT NULL,
    number    INTEGER NOT NULL, -- of the page
    content   BLOB NOT NULL,
    PRIMARY KEY (crawl_id, number)
  ) STRICT; -- with row ids: the content is too large for the pages of an index
  `,
  "id owner crawl_id key host lease_token digest code",
  `
  ALTER TABLE crawls SET (fillfactor = 70);
  ALTER TABLE crawl_results ALTER COLUMN content SET STORAGE EXTERNAL; -- compressed by the gateway
  ${CRAWL_ADD}
  ${CRAWL_LEASED}
  `,
);

export const CRAWL_RETRIES = inWebFile(
  `
  -- The retry key of the request that started a crawl, with the account that used it and a hash of the request.
  ALTER TABLE crawls ADD COLUMN account_id TEXT;
  ALTER TABLE crawls ADD COLUMN retry_key TEXT;
  ALTER TABLE crawls ADD COLUMN fingerprint TEXT;
  CREATE UNIQUE INDEX crawls_by_retry_key ON crawls (account_id, retry_key) WHERE retry_key IS NOT NULL;
  `,
  "account_id retry_key",
);

export const CRAWL_FAILED_POSITIONS = { postgres: CRAWL_END };

export const CRAWL_TAKE = { postgres: TAKE_FUNCTION };

export const CRAWL_KINDS = { postgres: TAKE_FUNCTION_BY_KIND };
