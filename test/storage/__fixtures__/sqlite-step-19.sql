-- A dump of a database of the version before parked jobs, whose schema ended with step 19.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
INSERT INTO accounts VALUES('token:ann-1','token','ann-1','user:ann',0,NULL,NULL,0,43,600,0,43,1795694400000,1795694400000,8,0,6);
INSERT INTO accounts VALUES('user:ann','user','ann',NULL,1,NULL,NULL,10000,43,600,0,43,1795694400000,0,0,0,0);
CREATE TABLE holds (
    id           TEXT PRIMARY KEY,
    account_id   TEXT NOT NULL,
    amount       INTEGER NOT NULL CHECK (amount >= 0),
    purpose      TEXT NOT NULL,
    observed     INTEGER CHECK (observed >= 0),
    lease_until  INTEGER NOT NULL,
    created_at   INTEGER NOT NULL
  , tokens INTEGER NOT NULL DEFAULT 0, retry_key TEXT, keeper TEXT NOT NULL DEFAULT 'process' CHECK (keeper = 'process' OR keeper = 'job'), parent TEXT) STRICT, WITHOUT ROWID;
INSERT INTO holds VALUES('left-job','token:ann-1',100,'video_generation xai/imagine',NULL,1795694520000,1795694400000,0,NULL,'process',NULL);
INSERT INTO holds VALUES('open-bare','token:ann-1',100,'rerank',NULL,1795694520000,1795694400000,0,NULL,'process',NULL);
INSERT INTO holds VALUES('open-chat','token:ann-1',100,'chat ollama/org/some model:7b',15,1795694520000,1795694400000,0,NULL,'process',NULL);
INSERT INTO holds VALUES('open-claim','token:ann-1',100,'responses openai/o''del',NULL,1795694520000,1795694400000,0,'running','process',NULL);
INSERT INTO holds VALUES('open-page','token:ann-1',100,'crawl web/native',NULL,1795694580000,1795694400000,0,NULL,'job','crawl-1');
INSERT INTO holds VALUES('open-video','token:ann-1',100,'video_generation xai/imagine',NULL,1795780800000,1795694400000,0,NULL,'job','series-1');
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
  , tpm INTEGER) STRICT, WITHOUT ROWID;
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
INSERT INTO retry_keys VALUES('token:ann-1','answered','of answered','answered',200,'[["content-type","application/json"]]',X'7b226e223a317d',1795780800001);
INSERT INTO retry_keys VALUES('token:ann-1','running','of running','open-claim',NULL,NULL,NULL,1795780800000);
CREATE TABLE responses (
    id           TEXT NOT NULL,
    owner        TEXT NOT NULL,
    provider     TEXT NOT NULL,
    model        TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    kept_until   INTEGER NOT NULL,
    previous_id  TEXT,
    input        TEXT,
    response     TEXT, key_id TEXT,
    PRIMARY KEY (id, owner)
  ) STRICT;
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
    credits         INTEGER, parent TEXT, corrects_at INTEGER, corrects_shortfall INTEGER, -- what the call cost in all, where a late end has made that another amount
    CHECK (owner IS NULL OR (operation IS NOT NULL AND provider IS NOT NULL AND model IS NOT NULL AND streamed IS NOT NULL
      AND status IS NOT NULL AND outcome IS NOT NULL AND usage IS NOT NULL AND input_tokens IS NOT NULL
      AND output_tokens IS NOT NULL AND ms IS NOT NULL AND started_at IS NOT NULL))
  ) STRICT;
INSERT INTO entries VALUES(1,'grant','grant','bank','user:ann',10000,0,0,1795694400000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO entries VALUES(2,'ended','settle','token:ann-1','revenue',40,100,0,1795694400001,'ann','chat','messages','claude','some-model',1,200,'complete','{"input":9}',9,0,1.5,NULL,1795694400000,NULL,NULL,NULL,NULL);
INSERT INTO entries VALUES(3,'answered','settle','token:ann-1','revenue',3,100,0,1795694400001,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE calls_by_owner (
    owner       TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    PRIMARY KEY (owner, started_at, number)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE calls_by_owner_mark (number INTEGER NOT NULL) STRICT;
INSERT INTO calls_by_owner_mark VALUES(0);
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
  ) STRICT;
INSERT INTO jobs VALUES('open-video','video','ann','{"parked":{"id":"open-video"}}',1795694400000,0,'t','n',1795694460000,1795694400000);
INSERT INTO jobs VALUES('left-job','video','ann','{"parked":{"id":"left-job"}}',1795694400000,0,'t','n',1795694460000,1795694400000);
CREATE TABLE stored_objects (
    id          TEXT NOT NULL,
    provider    TEXT NOT NULL,
    kind        TEXT NOT NULL,
    owner       TEXT NOT NULL, -- the user
    key_id      TEXT NOT NULL, -- a hash of the API key that made it
    kept_until  INTEGER NOT NULL, bytes INTEGER CHECK (bytes >= 0),
    PRIMARY KEY (id, provider, kind, owner)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE ledger_state (
    timezone          TEXT NOT NULL,              -- whose midnight begins a day and restarts a budget
    closed_before     INTEGER NOT NULL DEFAULT 0, -- no further entry gets an earlier date
    sealed_before     INTEGER NOT NULL DEFAULT 0, -- opening_balances contain all entries with an earlier date
    sealed_to         INTEGER NOT NULL DEFAULT 0, -- … which are all entries up to this number, and a few later ones
    sealed_entries    INTEGER NOT NULL DEFAULT 0,
    sealed_shortfall  INTEGER NOT NULL DEFAULT 0,
    removed_before    INTEGER NOT NULL DEFAULT 0, -- entries with an earlier date may be gone
    CHECK (removed_before <= sealed_before AND sealed_before <= closed_before)
  ) STRICT;
INSERT INTO ledger_state VALUES('UTC',0,0,0,0,0,0);
CREATE TABLE opening_balances (
    account_id      TEXT PRIMARY KEY,
    credits_posted  INTEGER NOT NULL,
    debits_posted   INTEGER NOT NULL,
    period_start    INTEGER NOT NULL, -- the period of the account then, and its sealed part
    period_debits   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
CREATE TABLE daily_sums (
    owner                  TEXT NOT NULL,
    day                    INTEGER NOT NULL, -- days since 1970-01-01 in the time zone
    account_id             TEXT NOT NULL,
    provider               TEXT NOT NULL,
    model                  TEXT NOT NULL,
    requests               INTEGER NOT NULL,
    input_tokens           INTEGER NOT NULL,
    output_tokens          INTEGER NOT NULL,
    credits                INTEGER NOT NULL,
    removed_requests       INTEGER NOT NULL DEFAULT 0,
    removed_input_tokens   INTEGER NOT NULL DEFAULT 0,
    removed_output_tokens  INTEGER NOT NULL DEFAULT 0,
    removed_credits        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, day, account_id, provider, model)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE days (start INTEGER PRIMARY KEY, day INTEGER NOT NULL) STRICT;
CREATE TABLE price_catalog (
    slot      INTEGER PRIMARY KEY CHECK (slot = 1),
    location  TEXT NOT NULL,
    content   TEXT NOT NULL,
    read_at   INTEGER NOT NULL
  ) STRICT;
CREATE TABLE webhook_secrets (
    owner            TEXT PRIMARY KEY, -- the user
    secret           TEXT NOT NULL,
    previous_secret  TEXT,
    previous_until   INTEGER,
    made_at          INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
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
INSERT INTO videos VALUES('open-video','vid_1','xai','k1','ann','token:ann-1','imagine','video_generation',NULL,NULL,'of-video','of video','{"seconds":4}','{"status":"queued","urls":[]}','{"id":"vid_1"}','{"id":"vid_1","status":"queued"}',NULL,1795694400000,1795694400000,1798286400000);
INSERT INTO videos VALUES('left-job',NULL,'xai',NULL,'ann','token:ann-1','imagine','video_generation',NULL,NULL,'unanswered','of unanswered','{"seconds":4}','{"status":"queued","urls":[]}','{}',NULL,NULL,1795694400000,1795694400000,1798286400000);
CREATE TABLE client_secrets (
    id           TEXT PRIMARY KEY,
    secret_hash  BLOB NOT NULL,
    token_id     TEXT NOT NULL,
    session      TEXT NOT NULL, -- JSON: the model and the session's settings
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_by_account ON tokens (account_id);
CREATE INDEX retry_keys_by_age ON retry_keys (kept_until);
CREATE INDEX responses_by_age ON responses (kept_until);
CREATE INDEX jobs_by_moment ON jobs (kind, run_at);
CREATE INDEX stored_objects_by_age ON stored_objects (kept_until);
CREATE UNIQUE INDEX videos_by_video_id ON videos (video_id, provider);
CREATE UNIQUE INDEX videos_by_retry_key ON videos (account_id, retry_key);
CREATE INDEX videos_by_owner ON videos (owner, provider, created_at);
CREATE INDEX videos_by_age ON videos (kept_until);
CREATE INDEX stored_objects_with_size ON stored_objects (owner, kept_until, bytes) WHERE bytes IS NOT NULL;
CREATE INDEX client_secrets_by_age ON client_secrets (expires_at);
CREATE VIEW generations AS
    SELECT number, id, owner, debit_account AS account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
      input_tokens, output_tokens, coalesce(credits, amount) AS credits, ms, first_byte_ms, started_at, parent
    FROM entries WHERE owner IS NOT NULL;
CREATE TRIGGER entries_are_never_changed BEFORE UPDATE OF number, rowid, _rowid_, oid, id, kind, debit_account,
    credit_account, amount, held, shortfall, created_at, corrects_at, corrects_shortfall ON entries
    BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries
    WHEN old.created_at >= (SELECT removed_before FROM ledger_state)
    BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
PRAGMA user_version = 19;
COMMIT;
