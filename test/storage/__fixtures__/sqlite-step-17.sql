-- The tables of crawls and of the local search as the version before retry keys left them.

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
    position      INTEGER, -- of its result
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
  
  -- Pages that a user has read, for the local search. The words are in web_words, under the same id.
  CREATE TABLE web_documents (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    owner        TEXT NOT NULL, -- the user
    key          TEXT NOT NULL, -- equal for addresses of the same page
    url          TEXT NOT NULL,
    host         TEXT NOT NULL, -- from its end: com.example.
    extension    TEXT NOT NULL,
    title        TEXT NOT NULL,
    description  TEXT NOT NULL,
    stored_at    INTEGER NOT NULL,
    kept_until   INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX web_documents_by_key ON web_documents (owner, key);
  CREATE INDEX web_documents_by_moment ON web_documents (owner, stored_at, id);
  CREATE INDEX web_documents_by_age ON web_documents (kept_until);
  CREATE VIRTUAL TABLE web_words USING fts5(
    owner, title, description, text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
  );
  INSERT INTO crawls (id, kind, owner, caller, request, pages_max, concurrency_max, delay_ms, state, failure_code, failure, discovered, completed, failed, skipped, credits, bytes, created_at, ended_at, expires_at) VALUES ('c1', 'crawl', 'ann', '{"user":"ann"}', '{"url":"http://a.test/"}', 100, 9, 0, 'scraping', NULL, NULL, 5, 1, 0, 0, 5, 7, 4398046511104, NULL, 4399046511104);
INSERT INTO crawl_pages (crawl_id, number, kind, key, url, host, depth, state, attempts, lease_token, lease_until, work, digest, position, bytes, failure_code, failure, ended_at) VALUES ('c1', 0, 'page', 'k0', 'http://a.test/0', 'a.test', 1, 3, 1, NULL, NULL, NULL, 'd0', 0, 7, NULL, NULL, 4398046511104);
INSERT INTO crawl_pages (crawl_id, number, kind, key, url, host, depth, state, attempts, lease_token, lease_until, work, digest, position, bytes, failure_code, failure, ended_at) VALUES ('c1', 1, 'page', 'k1', 'http://a.test/1', 'a.test', 1, 2, 1, 'old', 4398046512104, '{"id":"w1"}', 'd1', NULL, 7, NULL, NULL, NULL);
INSERT INTO crawl_pages (crawl_id, number, kind, key, url, host, depth, state, attempts, lease_token, lease_until, work, digest, position, bytes, failure_code, failure, ended_at) VALUES ('c1', 2, 'page', 'k2', 'http://a.test/2', 'a.test', 1, 1, 1, 'old', 4398046512104, NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO crawl_pages (crawl_id, number, kind, key, url, host, depth, state, attempts, lease_token, lease_until, work, digest, position, bytes, failure_code, failure, ended_at) VALUES ('c1', 3, 'page', 'k3', 'http://a.test/3', 'a.test', 1, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO crawl_pages (crawl_id, number, kind, key, url, host, depth, state, attempts, lease_token, lease_until, work, digest, position, bytes, failure_code, failure, ended_at) VALUES ('c1', 4, 'page', 'k4', 'http://a.test/4', 'a.test', 1, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO crawl_lanes (crawl_id, host, waiting, ready_at) VALUES ('c1', 'a.test', 2, 4398046511104);
INSERT INTO web_hosts (host, next_at, interval_ms) VALUES ('a.test', 4398046511104, 0);
INSERT INTO crawl_notes (crawl_id, code, url, message, count, noted_at) VALUES ('c1', 'CALENDAR', 'http://a.test/c', 'm', 1, 4398046511104);
INSERT INTO crawl_results (crawl_id, number, content) VALUES ('c1', 0, x'636f6e74656e74');
INSERT INTO crawl_results (crawl_id, number, content) VALUES ('c1', 1, x'636f6e74656e74');
INSERT INTO web_documents (id, owner, key, url, host, extension, title, description, stored_at, kept_until) VALUES (1, 'ann', 'k', 'http://a.test/0', 'test.a.', '', 'Harbour', 'd', 4398046511104, 4399046511104);
INSERT INTO web_words (rowid, owner, title, description, text) VALUES (1, 'o616e6e', 'Harbour', 'd', 'the tide comes in');
PRAGMA user_version = 17;

-- The start reads the zone of the days.
CREATE TABLE ledger_state (timezone text NOT NULL, closed_before INTEGER NOT NULL DEFAULT 0, sealed_before INTEGER NOT NULL DEFAULT 0, removed_before INTEGER NOT NULL DEFAULT 0);
INSERT INTO ledger_state (timezone) VALUES ('UTC');

-- Tables of the ledger and of videos that later steps change, without rows.
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
    created_at      INTEGER NOT NULL
  , minute_began INTEGER NOT NULL DEFAULT 0, minute_requests INTEGER NOT NULL DEFAULT 0, minute_tokens INTEGER NOT NULL DEFAULT 0, open_calls INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE tokens (id TEXT PRIMARY KEY, user_name TEXT NOT NULL, account_id TEXT NOT NULL, service INTEGER, admin INTEGER, revoked_at INTEGER, created_at INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE entries (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, debit_account TEXT NOT NULL, credit_account TEXT NOT NULL, amount INTEGER NOT NULL, held INTEGER NOT NULL, shortfall INTEGER NOT NULL, created_at INTEGER NOT NULL, owner TEXT, operation TEXT, dialect TEXT, provider TEXT, model TEXT, streamed INTEGER, status INTEGER, outcome TEXT, usage TEXT, input_tokens INTEGER, output_tokens INTEGER, ms REAL, first_byte_ms REAL, started_at INTEGER, credits INTEGER, parent TEXT, corrects_at INTEGER, corrects_shortfall INTEGER) STRICT;
CREATE TRIGGER entries_are_never_changed BEFORE UPDATE OF id ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
CREATE TABLE daily_sums (owner TEXT NOT NULL, day INTEGER NOT NULL, account_id TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, requests INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, credits INTEGER NOT NULL, removed_requests INTEGER NOT NULL DEFAULT 0, removed_input_tokens INTEGER NOT NULL DEFAULT 0, removed_output_tokens INTEGER NOT NULL DEFAULT 0, removed_credits INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (owner, day, account_id, provider, model)) STRICT, WITHOUT ROWID;
CREATE TABLE calls_by_owner_mark (number INTEGER NOT NULL);
INSERT INTO calls_by_owner_mark VALUES (0);
CREATE TABLE days (start INTEGER PRIMARY KEY, day INTEGER NOT NULL) STRICT;
CREATE VIEW generations AS SELECT number, id, owner FROM entries WHERE owner IS NOT NULL;
CREATE TABLE holds (
    id           TEXT PRIMARY KEY,
    account_id   TEXT NOT NULL,
    amount       INTEGER NOT NULL CHECK (amount >= 0),
    purpose      TEXT NOT NULL,
    observed     INTEGER CHECK (observed >= 0),
    lease_until  INTEGER NOT NULL,
    created_at   INTEGER NOT NULL
  , tokens INTEGER NOT NULL DEFAULT 0, retry_key TEXT, keeper TEXT NOT NULL DEFAULT 'process' CHECK (keeper = 'process' OR keeper = 'job'), parent TEXT) STRICT, WITHOUT ROWID;
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
CREATE TABLE videos (
    id              TEXT PRIMARY KEY,
    video_id        TEXT, -- the upstream's; null until it has answered
    provider        TEXT NOT NULL,
    key_id          TEXT, -- a hash of the API key that created it
    owner           TEXT NOT NULL, -- the user
    account_id      TEXT NOT NULL,
    model           TEXT NOT NULL,
    operation       TEXT NOT NULL,
    source_id       TEXT, -- the video that it was made from
    webhook_url     TEXT,
    retry_key       TEXT,
    fingerprint     TEXT, -- of the retry key's request
    requested       TEXT NOT NULL, -- JSON, like the next two
    state           TEXT NOT NULL,
    answer          TEXT NOT NULL,
    created_answer  TEXT, -- to the creation, byte by byte
    credits         INTEGER, -- nano-credits; null before the end
    created_at      INTEGER NOT NULL,
    polled_at       INTEGER NOT NULL,
    kept_until      INTEGER NOT NULL
  ) STRICT;
