import { DAILY_SUMS } from "./daily-sums.ts";

/** How many steps of earlier versions made tables of the web, and how many came before. */
export const WEB_STEPS = 4;
export const STEPS_BEFORE_WEB = 14;

/**
 * The tables that `move-web-tables.ts` copies. Not the local search: SQLite keeps no text of it, and lets nobody write the tables of its
 * index. Its pages are found again once they have been read again.
 */
export const MOVED_TABLES: readonly string[] = [
  "stored_bytes",
  "crawls",
  "crawl_pages",
  "crawl_lanes",
  "web_hosts",
  "crawl_notes",
  "crawl_results",
];

export const DROP_WEB_TABLES = [...MOVED_TABLES, "web_documents", "web_words"]
  .map((table) => `DROP TABLE IF EXISTS main.${table};`)
  .join("\n");

/**
 * The schema, one step per element. A released step is never changed. Amounts are nano-credits, times milliseconds
 * since the epoch.
 */
export const migrations: readonly string[] = [
  `
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
  ) STRICT, WITHOUT ROWID;

  -- Only the open ones: a small table whose pages stay hot. What ended stands in entries.
  CREATE TABLE holds (
    id           TEXT PRIMARY KEY,
    account_id   TEXT NOT NULL,
    amount       INTEGER NOT NULL CHECK (amount >= 0),
    purpose      TEXT NOT NULL,
    observed     INTEGER CHECK (observed >= 0),
    lease_until  INTEGER NOT NULL,
    created_at   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- The books. A debit of an account counts in each of its parents too. The id is the hold's or the grant's.
  CREATE TABLE entries (
    id              TEXT PRIMARY KEY,
    kind            TEXT NOT NULL CHECK (kind IN ('grant', 'settle', 'release', 'expire')),
    debit_account   TEXT NOT NULL,
    credit_account  TEXT NOT NULL,
    amount          INTEGER NOT NULL CHECK (amount >= 0),
    held            INTEGER NOT NULL CHECK (held >= 0),
    shortfall       INTEGER NOT NULL CHECK (shortfall >= 0),
    created_at      INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
  CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;

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
  `
  -- What an account's running minute has seen, and its open calls.
  ALTER TABLE accounts ADD COLUMN minute_start INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN minute_requests INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN minute_tokens INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN open_calls INTEGER NOT NULL DEFAULT 0;
  UPDATE accounts SET open_calls = (SELECT count(*) FROM holds WHERE account_id = accounts.id);
  ALTER TABLE holds ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE holds ADD COLUMN retry_key TEXT; -- the key that it claims
  ALTER TABLE tokens ADD COLUMN tpm INTEGER;
  CREATE INDEX tokens_by_account ON tokens (account_id);

  -- One row a call that has ended. Counts and names only. The id is the request's, and its hold's.
  CREATE TABLE generations (
    id             TEXT PRIMARY KEY,
    owner          TEXT NOT NULL, -- the user
    account_id     TEXT NOT NULL,
    operation      TEXT NOT NULL,
    dialect        TEXT,
    provider       TEXT NOT NULL,
    model          TEXT NOT NULL,
    streamed       INTEGER NOT NULL CHECK (streamed IN (0, 1)),
    status         INTEGER NOT NULL,
    outcome        TEXT NOT NULL, -- of the call, or 'expired' where its process died
    usage          TEXT NOT NULL, -- counts by bucket, as JSON
    input_tokens   INTEGER NOT NULL,
    output_tokens  INTEGER NOT NULL,
    credits        INTEGER NOT NULL,
    ms             REAL NOT NULL,
    first_byte_ms  REAL,
    started_at     INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX generations_by_owner ON generations (owner, started_at);

  -- A claim has no answer yet and lives as long as its hold; an answer is kept for a day.
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
  ) STRICT; -- with row ids: bodies are too large for the pages of an index
  CREATE INDEX retry_keys_by_age ON retry_keys (kept_until);
  `,
  `
  -- Responses that may be looked up and continued; input and response are null where the upstream keeps them.
  -- An id is its upstream's word, and no owner can take it from another.
  CREATE TABLE responses (
    id           TEXT NOT NULL,
    owner        TEXT NOT NULL,
    provider     TEXT NOT NULL,
    model        TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    kept_until   INTEGER NOT NULL,
    previous_id  TEXT,
    input        TEXT,
    response     TEXT,
    PRIMARY KEY (id, owner)
  ) STRICT;
  CREATE INDEX responses_by_age ON responses (kept_until);
  `,
  `
  -- The kinds are compared one by one: SQLite makes a list of more than two into a table at each insert, which cost more
  -- than the rest of the insert.
  ALTER TABLE entries RENAME TO entries_before;
  CREATE TABLE entries (
    id              TEXT PRIMARY KEY,
    kind            TEXT NOT NULL CHECK (kind = 'settle' OR kind = 'release' OR kind = 'expire' OR kind = 'grant'),
    debit_account   TEXT NOT NULL,
    credit_account  TEXT NOT NULL,
    amount          INTEGER NOT NULL CHECK (amount >= 0),
    held            INTEGER NOT NULL CHECK (held >= 0),
    shortfall       INTEGER NOT NULL CHECK (shortfall >= 0),
    created_at      INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
    SELECT id, kind, debit_account, credit_account, amount, held, shortfall, created_at FROM entries_before ORDER BY id;
  DROP TABLE entries_before;
  CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
  CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
  `,
  `
  -- Calls are appended in the order of their ends, which changes fewer pages a commit than rows by id do, and an entry
  -- names the call that it charged: no index by id is needed.
  ALTER TABLE generations RENAME TO generations_before;
  DROP INDEX generations_by_owner;
  CREATE TABLE generations (
    number         INTEGER PRIMARY KEY,
    id             TEXT NOT NULL,
    owner          TEXT NOT NULL, -- the user
    account_id     TEXT NOT NULL,
    operation      TEXT NOT NULL,
    dialect        TEXT,
    provider       TEXT NOT NULL,
    model          TEXT NOT NULL,
    streamed       INTEGER NOT NULL CHECK (streamed IN (0, 1)),
    status         INTEGER NOT NULL,
    outcome        TEXT NOT NULL, -- of the call, or 'expired' where its process died
    usage          TEXT NOT NULL, -- counts by bucket, as JSON
    input_tokens   INTEGER NOT NULL,
    output_tokens  INTEGER NOT NULL,
    credits        INTEGER NOT NULL,
    ms             REAL NOT NULL,
    first_byte_ms  REAL,
    started_at     INTEGER NOT NULL
  ) STRICT;
  INSERT INTO generations (id, owner, account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
      input_tokens, output_tokens, credits, ms, first_byte_ms, started_at)
    SELECT id, owner, account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
      input_tokens, output_tokens, credits, ms, first_byte_ms, started_at FROM generations_before ORDER BY id;
  CREATE INDEX generations_by_owner ON generations (owner, started_at);
  DROP TRIGGER entries_are_never_changed;
  ALTER TABLE entries ADD COLUMN call INTEGER; -- the generation's number, of an entry that ended a call
  CREATE INDEX generations_by_id ON generations (id);
  UPDATE entries SET call = (SELECT number FROM generations WHERE id = entries.id);
  DROP INDEX generations_by_id;
  CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
  DROP TABLE generations_before;
  `,
  `
  -- A server of an earlier version that still runs must not go on: it could take holds, and no longer charge for them. With
  -- this name gone it refuses every call.
  ALTER TABLE accounts RENAME COLUMN minute_start TO minute_began;

  -- The entry that ends a call tells of it too: one row a call instead of two, and appended, which changes fewer pages than
  -- rows by id do. What it tells of the call may be made better by a late end; the books themselves never change.
  ALTER TABLE entries RENAME TO entries_before;
  ALTER TABLE generations RENAME TO generations_before;
  CREATE TABLE entries (
    number          INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    kind            TEXT NOT NULL CHECK (kind = 'settle' OR kind = 'release' OR kind = 'expire' OR kind = 'grant'),
    debit_account   TEXT NOT NULL,
    credit_account  TEXT NOT NULL,
    amount          INTEGER NOT NULL CHECK (amount >= 0),
    held            INTEGER NOT NULL CHECK (held >= 0),
    shortfall       INTEGER NOT NULL CHECK (shortfall >= 0),
    created_at      INTEGER NOT NULL,
    -- Of the call that it ended. Counts and names only.
    owner           TEXT, -- the user; null where it ended none
    operation       TEXT,
    dialect         TEXT,
    provider        TEXT,
    model           TEXT,
    streamed        INTEGER,
    status          INTEGER,
    outcome         TEXT, -- of the call, or 'expired' where its process died
    usage           TEXT, -- counts by bucket, as JSON
    input_tokens    INTEGER,
    output_tokens   INTEGER,
    ms              REAL,
    first_byte_ms   REAL,
    started_at      INTEGER,
    credits         INTEGER, -- what the call cost in all, where a late end has made that another amount
    CHECK (owner IS NULL OR (operation IS NOT NULL AND provider IS NOT NULL AND model IS NOT NULL AND streamed IS NOT NULL
      AND status IS NOT NULL AND outcome IS NOT NULL AND usage IS NOT NULL AND input_tokens IS NOT NULL
      AND output_tokens IS NOT NULL AND ms IS NOT NULL AND started_at IS NOT NULL))
  ) STRICT;
  -- By id and not by number: an entry has no number where a process of the fourth step went on writing after the fifth.
  CREATE INDEX generations_by_id ON generations_before (id);
  INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at, owner, operation, dialect,
      provider, model, streamed, status, outcome, usage, input_tokens, output_tokens, ms, first_byte_ms, started_at, credits)
    SELECT e.id, e.kind, e.debit_account, e.credit_account, e.amount, e.held, e.shortfall, e.created_at, g.owner, g.operation,
      g.dialect, g.provider, g.model, g.streamed, g.status, g.outcome, g.usage, g.input_tokens, g.output_tokens, g.ms,
      g.first_byte_ms, g.started_at, nullif(g.credits, e.amount)
    FROM entries_before e
      LEFT JOIN generations_before g ON g.number = (SELECT max(number) FROM generations_before WHERE id = e.id)
    ORDER BY e.id;
  DROP TABLE entries_before;
  DROP TABLE generations_before;
  CREATE TRIGGER entries_are_never_changed BEFORE UPDATE OF number, rowid, _rowid_, oid, id, kind, debit_account,
    credit_account, amount, held, shortfall, created_at ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
  CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;

  CREATE VIEW generations AS
    SELECT number, id, owner, debit_account AS account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
      input_tokens, output_tokens, coalesce(credits, amount) AS credits, ms, first_byte_ms, started_at
    FROM entries WHERE owner IS NOT NULL;

  -- An index of calls that is filled many at a time: it has those up to the mark.
  CREATE TABLE calls_by_owner (
    owner       TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    PRIMARY KEY (owner, started_at, number)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE calls_by_owner_mark (number INTEGER NOT NULL) STRICT;
  INSERT INTO calls_by_owner_mark SELECT coalesce(max(number), 0) FROM entries;
  INSERT INTO calls_by_owner SELECT owner, started_at, number FROM generations ORDER BY owner, started_at, number;
  `,
  `
  -- Adding a column writes no row, however many rows there are. A server of the sixth step that still runs compares
  -- user_version before each commit and refuses to write to the ledger from now on. Its other statements name their columns
  -- and stay correct.
  ALTER TABLE holds ADD COLUMN keeper TEXT NOT NULL DEFAULT 'process' CHECK (keeper = 'process' OR keeper = 'job');
  ALTER TABLE holds ADD COLUMN parent TEXT; -- the series that its call belongs to
  ALTER TABLE entries ADD COLUMN parent TEXT; -- of the call that it ended; null where that is of no series
  DROP VIEW generations;
  CREATE VIEW generations AS
    SELECT number, id, owner, debit_account AS account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
      input_tokens, output_tokens, coalesce(credits, amount) AS credits, ms, first_byte_ms, started_at, parent
    FROM entries WHERE owner IS NOT NULL;

  -- A hash of the API key that made the response; null in older rows.
  ALTER TABLE responses ADD COLUMN key_id TEXT;

  -- Work that outlives the process that asked for it. A finished job leaves the table.
  CREATE TABLE jobs (
    id           TEXT PRIMARY KEY,
    kind         TEXT NOT NULL,
    owner        TEXT NOT NULL, -- the user
    payload      TEXT NOT NULL, -- a JSON object
    run_at       INTEGER NOT NULL,
    attempts     INTEGER NOT NULL DEFAULT 0, -- leases since the last run that succeeded
    lease_token  TEXT, -- null while the job waits; each write by its runner names it
    lease_node   TEXT,
    lease_until  INTEGER,
    created_at   INTEGER NOT NULL
  ) STRICT; -- with row ids: payloads may be too large for the pages of an index
  CREATE INDEX jobs_by_moment ON jobs (kind, run_at);
  `,
  `
  -- Objects that upstreams store (output items, containers, files), by the user whose answer contained them. An id is its
  -- upstream's word, and no owner can take it from another.
  CREATE TABLE stored_objects (
    id          TEXT NOT NULL,
    provider    TEXT NOT NULL,
    kind        TEXT NOT NULL,
    owner       TEXT NOT NULL, -- the user
    key_id      TEXT NOT NULL, -- a hash of the API key that made it
    kept_until  INTEGER NOT NULL,
    PRIMARY KEY (id, provider, kind, owner)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX stored_objects_by_age ON stored_objects (kept_until);
  `,
  DAILY_SUMS,
  `
  -- The last good catalog of the operator's prices: one row, since a new location replaces the old one.
  CREATE TABLE price_catalog (
    slot      INTEGER PRIMARY KEY CHECK (slot = 1),
    location  TEXT NOT NULL,
    content   TEXT NOT NULL,
    read_at   INTEGER NOT NULL
  ) STRICT;
  `,
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
  `
  -- Video jobs, each under the id of the request that created it; its hold and its row in jobs have the same id.
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
  CREATE UNIQUE INDEX videos_by_video_id ON videos (video_id, provider);
  CREATE UNIQUE INDEX videos_by_retry_key ON videos (account_id, retry_key);
  CREATE INDEX videos_by_owner ON videos (owner, provider, created_at);
  CREATE INDEX videos_by_age ON videos (kept_until);
  `,
  `
  -- The size of a file that its owner uploaded: it counts for the owner's quota. Null for objects of answers, and in rows of
  -- a server of the previous step. An upload under way is a row of the kind upload, whose id is that of its request.
  ALTER TABLE stored_objects ADD COLUMN bytes INTEGER CHECK (bytes >= 0);
  CREATE INDEX stored_objects_with_size ON stored_objects (owner, kept_until, bytes) WHERE bytes IS NOT NULL;
  `,
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
  // These steps made tables of the web, which are in a file of their own now.
  ...Array.from({ length: WEB_STEPS }, () => "SELECT 1"),
  DROP_WEB_TABLES,
  `
  -- What the record of an expired call needs, in columns of its own instead of a text that had to be taken apart:
  -- "<operation> <provider>/<model>". A server of the previous step refuses to write to the ledger from now on.
  ALTER TABLE holds ADD COLUMN operation TEXT NOT NULL DEFAULT '';
  ALTER TABLE holds ADD COLUMN provider TEXT NOT NULL DEFAULT '';
  ALTER TABLE holds ADD COLUMN model TEXT NOT NULL DEFAULT '';
  ALTER TABLE holds ADD COLUMN dialect TEXT; -- of the client
  ALTER TABLE holds ADD COLUMN streamed INTEGER NOT NULL DEFAULT 0 CHECK (streamed = 0 OR streamed = 1);
  UPDATE holds SET operation = substr(purpose, 1, instr(purpose || ' ', ' ') - 1),
    model = substr(purpose, instr(purpose || ' ', ' ') + 1);
  UPDATE holds SET provider = substr(model, 1, instr(model || '/', '/') - 1), model = substr(model, instr(model || '/', '/') + 1);
  ALTER TABLE holds DROP COLUMN purpose;

  -- The retry keys of videos were in the videos' own table: those that are answered, and those whose video is being created.
  INSERT INTO retry_keys (account_id, key, fingerprint, hold_id, status, headers, body, kept_until)
    SELECT account_id, retry_key, fingerprint, id, 200, '[["content-type","application/json"]]', CAST(created_answer AS BLOB),
      created_at + 86400000
    FROM videos WHERE retry_key IS NOT NULL AND created_answer IS NOT NULL ON CONFLICT DO NOTHING;
  INSERT INTO retry_keys (account_id, key, fingerprint, hold_id, kept_until)
    SELECT v.account_id, v.retry_key, v.fingerprint, v.id, v.created_at + 86400000 FROM videos v JOIN holds h ON h.id = v.id
    WHERE v.retry_key IS NOT NULL AND v.created_answer IS NULL ON CONFLICT DO NOTHING;
  UPDATE holds SET retry_key = (SELECT retry_key FROM videos WHERE videos.id = holds.id)
    WHERE id IN (SELECT id FROM videos WHERE retry_key IS NOT NULL);
  `,
];
