/**
 * The tables. Amounts are nano-credits, times milliseconds since the epoch. Ids compare by their bytes, so that every
 * node sorts them, and locks their rows, in the same order.
 */
export const TABLES = `
  CREATE TABLE accounts (
    id              text COLLATE "C" PRIMARY KEY,
    kind            text NOT NULL CHECK (kind IN ('token', 'user', 'organisation')),
    name            text NOT NULL,
    parent_id       text COLLATE "C" REFERENCES accounts (id),
    chain           text[] COLLATE "C" NOT NULL, -- itself and its parents, upwards; a parent never changes
    prepaid         boolean NOT NULL,
    max_budget      bigint CHECK (max_budget >= 0),
    period          text CHECK (period IN ('daily', 'monthly')),
    credits_posted  bigint NOT NULL DEFAULT 0,
    debits_posted   bigint NOT NULL DEFAULT 0 CHECK (debits_posted >= 0),
    debits_pending  bigint NOT NULL DEFAULT 0 CHECK (debits_pending >= 0),
    period_start    bigint NOT NULL DEFAULT 0,
    period_debits   bigint NOT NULL DEFAULT 0 CHECK (period_debits >= 0),
    created_at      bigint NOT NULL
  ) WITH (fillfactor = 50); -- room in each page for the counters' next versions, which then need no index entry

  CREATE FUNCTION chain_account() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.chain := NEW.id || coalesce((SELECT a.chain FROM accounts a WHERE a.id = NEW.parent_id), '{}');
    RETURN NEW;
  END $$;
  CREATE TRIGGER accounts_are_chained BEFORE INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION chain_account();

  -- Only the open ones: a small table whose pages stay hot. What ended stands in entries.
  CREATE TABLE holds (
    id           text COLLATE "C" PRIMARY KEY,
    account_id   text COLLATE "C" NOT NULL,
    amount       bigint NOT NULL CHECK (amount >= 0),
    purpose      text NOT NULL,
    observed     bigint CHECK (observed >= 0),
    lease_until  bigint NOT NULL,
    created_at   bigint NOT NULL
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);

  -- The books. A debit of an account counts in each of its parents too. The id is the hold's or the grant's.
  CREATE TABLE entries (
    id              text COLLATE "C" PRIMARY KEY,
    kind            text NOT NULL CHECK (kind IN ('grant', 'settle', 'release', 'expire')),
    debit_account   text COLLATE "C" NOT NULL,
    credit_account  text COLLATE "C" NOT NULL,
    amount          bigint NOT NULL CHECK (amount >= 0),
    held            bigint NOT NULL CHECK (held >= 0),
    shortfall       bigint NOT NULL CHECK (shortfall >= 0),
    created_at      bigint NOT NULL
  );
  CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION '% are only appended', TG_TABLE_NAME;
  END $$;
  CREATE TRIGGER entries_are_only_appended BEFORE UPDATE OR DELETE OR TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

  CREATE TABLE tokens (
    id           text COLLATE "C" PRIMARY KEY,
    secret_hash  bytea NOT NULL,
    user_name    text NOT NULL,
    account_id   text COLLATE "C" NOT NULL REFERENCES accounts (id),
    service      boolean NOT NULL,
    admin        boolean NOT NULL,
    models       text,
    rpm          bigint,
    concurrency  bigint,
    expires_at   bigint,
    revoked_at   bigint,
    created_at   bigint NOT NULL
  );

  -- Nodes keep tokens in memory; a new one is nowhere yet, a changed one must be forgotten everywhere.
  CREATE FUNCTION announce_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NOTIFY tollgate_changes;
    RETURN NULL;
  END $$;
  CREATE TRIGGER tokens_are_announced AFTER UPDATE OR DELETE ON tokens
    FOR EACH STATEMENT EXECUTE FUNCTION announce_change();
`;

/** Added by the second step; documented in SQLite's migrations. */
export const BOOKS = `
  ALTER TABLE accounts
    ADD COLUMN minute_start bigint NOT NULL DEFAULT 0,
    ADD COLUMN minute_requests bigint NOT NULL DEFAULT 0,
    ADD COLUMN minute_tokens bigint NOT NULL DEFAULT 0,
    ADD COLUMN open_calls bigint NOT NULL DEFAULT 0;
  -- Postgres reads each check anew for every statement, and these are the longest: what they guard is never changed.
  ALTER TABLE accounts DROP CONSTRAINT accounts_kind_check, DROP CONSTRAINT accounts_period_check;
  ALTER TABLE entries DROP CONSTRAINT entries_kind_check;
  UPDATE accounts a SET open_calls = (SELECT count(*) FROM holds h WHERE h.account_id = a.id);
  ALTER TABLE holds ADD COLUMN tokens bigint NOT NULL DEFAULT 0, ADD COLUMN retry_key text;
  ALTER TABLE tokens ADD COLUMN tpm bigint;
  CREATE INDEX tokens_by_account ON tokens (account_id);

  CREATE TABLE generations (
    id             text COLLATE "C" PRIMARY KEY,
    owner          text NOT NULL,
    account_id     text COLLATE "C" NOT NULL,
    operation      text NOT NULL,
    dialect        text,
    provider       text NOT NULL,
    model          text NOT NULL,
    streamed       boolean NOT NULL,
    status         bigint NOT NULL,
    outcome        text NOT NULL,
    usage          text NOT NULL,
    input_tokens   bigint NOT NULL,
    output_tokens  bigint NOT NULL,
    credits        bigint NOT NULL,
    ms             double precision NOT NULL,
    first_byte_ms  double precision,
    started_at     bigint NOT NULL
  );
  CREATE INDEX generations_by_owner ON generations (owner, started_at);

  CREATE TABLE retry_keys (
    account_id   text COLLATE "C" NOT NULL,
    key          text COLLATE "C" NOT NULL,
    fingerprint  text NOT NULL,
    hold_id      text COLLATE "C" NOT NULL,
    status       bigint,
    headers      text,
    body         bytea,
    kept_until   bigint NOT NULL,
    PRIMARY KEY (account_id, key)
  );
  CREATE INDEX retry_keys_by_age ON retry_keys (kept_until);
`;

/** Added by the third step; documented in SQLite's migrations. */
export const RESPONSES = `
  CREATE TABLE responses (
    id           text COLLATE "C" NOT NULL,
    owner        text COLLATE "C" NOT NULL,
    provider     text NOT NULL,
    model        text NOT NULL,
    created_at   bigint NOT NULL,
    kept_until   bigint NOT NULL,
    previous_id  text COLLATE "C",
    input        text,
    response     text,
    PRIMARY KEY (id, owner)
  );
  CREATE INDEX responses_by_age ON responses (kept_until);
`;

/**
 * The fifth step; SQLite's migrations document the columns. Nodes of the previous version stay correct: their
 * statements list the columns that they write, and every new column has a default or may be null. The tables are
 * altered in the order in which a commit locks them, so a migration and a commit cannot deadlock.
 */
export const JOBS = `
  ALTER TABLE holds ADD COLUMN keeper text NOT NULL DEFAULT 'process', ADD COLUMN parent text;
  ALTER TABLE generations ADD COLUMN parent text;
  ALTER TABLE responses ADD COLUMN key_id text;

  CREATE TABLE jobs (
    id           text COLLATE "C" PRIMARY KEY,
    kind         text COLLATE "C" NOT NULL,
    owner        text NOT NULL,
    payload      text NOT NULL,
    run_at       bigint NOT NULL,
    attempts     bigint NOT NULL DEFAULT 0,
    lease_token  text,
    lease_node   text,
    lease_until  bigint,
    created_at   bigint NOT NULL
  ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
  CREATE INDEX jobs_by_moment ON jobs (kind, run_at);
`;

/** The sixth step; documented in SQLite's migrations. */
export const STORED_OBJECTS = `
  CREATE TABLE stored_objects (
    id          text COLLATE "C" NOT NULL,
    provider    text COLLATE "C" NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    owner       text COLLATE "C" NOT NULL,
    key_id      text NOT NULL,
    kept_until  bigint NOT NULL,
    PRIMARY KEY (id, provider, kind, owner)
  );
  CREATE INDEX stored_objects_by_age ON stored_objects (kept_until);
`;

/** The eighth step; documented in SQLite's migrations. */
export const PRICE_CATALOG = `
  CREATE TABLE price_catalog (
    slot      bigint PRIMARY KEY CHECK (slot = 1),
    location  text NOT NULL,
    content   text NOT NULL,
    read_at   bigint NOT NULL
  );
`;

/** The ninth step; documented in SQLite's migrations. */
export const WEBHOOK_SECRETS = `
  CREATE TABLE webhook_secrets (
    owner            text COLLATE "C" PRIMARY KEY,
    secret           text NOT NULL,
    previous_secret  text,
    previous_until   bigint,
    made_at          bigint NOT NULL
  );
`;

/** The tenth step, for video jobs; documented in SQLite's migrations. */
export const VIDEOS = `
  CREATE TABLE videos (
    id              text COLLATE "C" PRIMARY KEY,
    video_id        text COLLATE "C",
    provider        text COLLATE "C" NOT NULL,
    key_id          text,
    owner           text COLLATE "C" NOT NULL,
    account_id      text COLLATE "C" NOT NULL,
    model           text NOT NULL,
    operation       text NOT NULL,
    source_id       text,
    webhook_url     text,
    retry_key       text COLLATE "C",
    fingerprint     text,
    requested       text NOT NULL,
    state           text NOT NULL,
    answer          text NOT NULL,
    created_answer  text,
    credits         bigint,
    created_at      bigint NOT NULL,
    polled_at       bigint NOT NULL,
    kept_until      bigint NOT NULL
  );
  CREATE UNIQUE INDEX videos_by_video_id ON videos (video_id, provider);
  CREATE UNIQUE INDEX videos_by_retry_key ON videos (account_id, retry_key);
  CREATE INDEX videos_by_owner ON videos (owner, provider, created_at);
  CREATE INDEX videos_by_age ON videos (kept_until);
`;

/**
 * The eleventh step: uploaded files and their quota; documented in SQLite's migrations. Both functions lock before they read, since the
 * statements within a function see what others have committed meanwhile: of two uploads for the last place, one gets it,
 * and of two users one gets an id that an upstream gives to both.
 */
export const UPLOADED_FILES = `
  ALTER TABLE stored_objects ADD COLUMN bytes bigint CHECK (bytes >= 0);
  CREATE INDEX stored_objects_with_size ON stored_objects (owner, kept_until, bytes) WHERE bytes IS NOT NULL;

  CREATE FUNCTION reserve_upload(
    new_id text, new_provider text, new_owner text, new_bytes bigint, new_until bigint, now_at bigint, files_max bigint,
    bytes_max numeric
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    used record;
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('tollgate files of ' || new_owner, 0));
    SELECT count(*) AS files, coalesce(sum(bytes), 0) AS bytes INTO used
      FROM stored_objects WHERE owner = new_owner AND bytes IS NOT NULL AND kept_until > now_at;
    IF used.files >= files_max OR used.bytes + new_bytes > bytes_max THEN RETURN false; END IF;
    INSERT INTO stored_objects (id, provider, kind, owner, key_id, kept_until, bytes)
      VALUES (new_id, new_provider, 'upload', new_owner, '', new_until, new_bytes);
    RETURN true;
  END $$;

  CREATE FUNCTION record_upload(
    upload_id text, new_id text, new_provider text, new_owner text, new_key text, new_bytes bigint, new_until bigint,
    now_at bigint
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('tollgate file ' || new_provider || ' ' || new_id, 0));
    DELETE FROM stored_objects
      WHERE id = upload_id AND provider = new_provider AND kind = 'upload' AND owner = new_owner;
    IF EXISTS (
      SELECT 1 FROM stored_objects
        WHERE id = new_id AND provider = new_provider AND kind = 'file' AND owner <> new_owner AND kept_until > now_at
    ) THEN RETURN false; END IF;
    INSERT INTO stored_objects (id, provider, kind, owner, key_id, kept_until, bytes)
      VALUES (new_id, new_provider, 'file', new_owner, new_key, new_until, new_bytes)
      ON CONFLICT (id, provider, kind, owner)
      DO UPDATE SET key_id = excluded.key_id, kept_until = excluded.kept_until, bytes = excluded.bytes;
    RETURN true;
  END $$;
`;

/** The twelfth step, for realtime sessions; documented in SQLite's migrations. */
export const CLIENT_SECRETS = `
  CREATE TABLE client_secrets (
    id           text COLLATE "C" PRIMARY KEY,
    secret_hash  bytea NOT NULL,
    token_id     text COLLATE "C" NOT NULL,
    session      text NOT NULL,
    created_at   bigint NOT NULL,
    expires_at   bigint NOT NULL
  );
  CREATE INDEX client_secrets_by_age ON client_secrets (expires_at);
`;

/** The thirteenth step: cached pages and screenshots; documented in SQLite's migrations. */
export const STORED_BYTES = `
  CREATE TABLE stored_bytes (
    kind        text COLLATE "C" NOT NULL,
    id          text COLLATE "C" NOT NULL,
    owner       text COLLATE "C" NOT NULL,
    media_type  text NOT NULL,
    content     bytea NOT NULL,
    bytes       bigint NOT NULL,
    stored_at   bigint NOT NULL,
    kept_until  bigint NOT NULL,
    PRIMARY KEY (kind, id)
  );
  CREATE INDEX stored_bytes_by_owner ON stored_bytes (kind, owner, stored_at, id, bytes);
  CREATE INDEX stored_bytes_by_age ON stored_bytes (kept_until);
`;

/** The channel on which triggers announce changes of rows that nodes cache. */
export const CHANGES_CHANNEL = "tollgate_changes";
