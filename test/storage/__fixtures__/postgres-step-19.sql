-- A database of the version before parked jobs, whose schema ended with step 19: the statements of its steps, and the
-- rows that its stores wrote.

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


  DROP FUNCTION IF EXISTS ledger_commit;
  DROP FUNCTION IF EXISTS ledger_commit_plain;
  DROP FUNCTION IF EXISTS ledger_period_start;
  DROP FUNCTION IF EXISTS ledger_period_end;

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

  CREATE TYPE ledger_operation AS (
    kind          text,
    id            text COLLATE "C",
    account       text COLLATE "C",
    amount        bigint,
    at            bigint,
    lease_until   bigint,
    purpose       text,
    tokens        bigint,
    -- Of a hold with limits:
    is_rated      boolean,
    requests_max  bigint,
    tokens_max    bigint,
    calls_max     bigint,
    -- Of a hold with a retry key, and of the settlement that keeps an answer for it:
    retry_key     text COLLATE "C",
    key_place     int, -- of the first hold in its part that comes with the key
    fingerprint   text,
    kept_until    bigint,
    status        bigint,
    headers       text,
    body          text, -- base64
    -- Of an end with a record: columns of a generation
    record        json
  );

  CREATE FUNCTION ledger_period_start(period text, at bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE period
      WHEN 'daily' THEN at - at % 86400000
      WHEN 'monthly' THEN (extract(epoch FROM date_trunc('month', to_timestamp(at / 1000), 'UTC')) * 1000)::bigint
      ELSE 0
    END
  $$;

  -- The first moment that belongs to a later period than the one that began at, or holds, this one.
  CREATE FUNCTION ledger_period_end(period text, began bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE period
      WHEN 'daily' THEN began - began % 86400000 + 86400000
      WHEN 'monthly' THEN (extract(epoch FROM
        date_trunc('month', to_timestamp(began / 1000) AT TIME ZONE 'UTC') + interval '1 month') * 1000)::bigint
      ELSE 9223372036854775807
    END
  $$;


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

  ALTER TYPE ledger_operation
    ADD ATTRIBUTE parent text, -- of a hold
    ADD ATTRIBUTE keeper text; -- of a renewal

  CREATE TYPE ledger_plain_5_link AS (taken bigint, id text COLLATE "C", parentId text COLLATE "C", requests bigint, tokens bigint, since bigint, returned bigint, posted bigint, ended bigint, excess bigint, takenFirst bigint, takenLast bigint, rated boolean, requestsRoom bigint, tokensRoom bigint, callsRoom bigint);
  CREATE TYPE ledger_plain_5_hold AS (amount bigint, id text COLLATE "C", account text COLLATE "C", purpose text COLLATE "C", lease bigint, at bigint, tokens bigint, parent text COLLATE "C");
  CREATE TYPE ledger_plain_5_end AS (kind text COLLATE "C", id text COLLATE "C", account text COLLATE "C", held bigint, charge bigint, at bigint, owner text COLLATE "C", operation text COLLATE "C", dialect text COLLATE "C", provider text COLLATE "C", model text COLLATE "C", streamed boolean, status bigint, outcome text COLLATE "C", usage text COLLATE "C", input_tokens bigint, output_tokens bigint, ms double precision, first_byte_ms double precision, started_at bigint, parent text COLLATE "C");
  CREATE TYPE ledger_plain_5_change AS (id text COLLATE "C", account text COLLATE "C", held bigint, amount bigint, lease bigint, observed bigint, keeper text COLLATE "C");


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


  LOCK TABLE accounts, holds, entries, generations IN ACCESS EXCLUSIVE MODE;

  CREATE TABLE ledger_state (
    timezone          text NOT NULL,
    closed_before     bigint NOT NULL DEFAULT 0,
    sealed_before     bigint NOT NULL DEFAULT 0,
    sealed_entries    bigint NOT NULL DEFAULT 0,
    sealed_shortfall  bigint NOT NULL DEFAULT 0,
    removed_before    bigint NOT NULL DEFAULT 0,
    CHECK (removed_before <= sealed_before AND sealed_before <= closed_before)
  );
  INSERT INTO ledger_state (timezone) VALUES ('UTC');

  CREATE TABLE opening_balances (
    account_id      text COLLATE "C" PRIMARY KEY,
    credits_posted  bigint NOT NULL,
    debits_posted   bigint NOT NULL,
    period_start    bigint NOT NULL,
    period_debits   bigint NOT NULL
  );

  CREATE TABLE daily_sums (
    owner                  text COLLATE "C" NOT NULL,
    day                    bigint NOT NULL,
    account_id             text COLLATE "C" NOT NULL,
    provider               text COLLATE "C" NOT NULL,
    model                  text COLLATE "C" NOT NULL,
    requests               bigint NOT NULL,
    input_tokens           bigint NOT NULL,
    output_tokens          bigint NOT NULL,
    credits                bigint NOT NULL,
    removed_requests       bigint NOT NULL DEFAULT 0,
    removed_input_tokens   bigint NOT NULL DEFAULT 0,
    removed_output_tokens  bigint NOT NULL DEFAULT 0,
    removed_credits        bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, day, account_id, provider, model)
  ) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

  ALTER TABLE entries ADD COLUMN corrects_at bigint, ADD COLUMN corrects_shortfall bigint;
  ALTER TABLE entries DISABLE TRIGGER USER;
  UPDATE entries l SET corrects_at = e.created_at, corrects_shortfall = e.shortfall
    FROM entries e WHERE l.id LIKE '%:late' AND e.id = left(l.id, -5) AND e.kind = 'expire';
  ALTER TABLE entries ENABLE TRIGGER USER;
  DROP TRIGGER entries_are_only_appended ON entries;
  CREATE TRIGGER entries_are_only_appended BEFORE UPDATE OR TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  CREATE FUNCTION refuse_removal() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF OLD.created_at >= (SELECT s.removed_before FROM ledger_state s) THEN
      RAISE EXCEPTION '% are only appended', TG_TABLE_NAME;
    END IF;
    RETURN OLD;
  END $$;
  CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries FOR EACH ROW EXECUTE FUNCTION refuse_removal();

  -- Small indexes of the pages by their dates, for readers of the latest rows.
  CREATE INDEX entries_by_date ON entries USING brin (created_at) WITH (pages_per_range = 32);
  CREATE INDEX generations_by_date ON generations USING brin (started_at) WITH (pages_per_range = 32);

  WITH RECURSIVE
    links (leaf, id) AS (
      SELECT id, id FROM accounts UNION ALL SELECT l.leaf, a.parent_id FROM links l JOIN accounts a ON a.id = l.id
      WHERE a.parent_id IS NOT NULL),
    charges (account_id, amount, at, corrects_at) AS (
      SELECT CASE debit_account WHEN 'revenue' THEN credit_account ELSE debit_account END,
        CASE debit_account WHEN 'revenue' THEN -amount ELSE amount END, created_at,
        CASE debit_account WHEN 'revenue' THEN coalesce(corrects_at, 0) ELSE created_at END
      FROM entries
      WHERE kind <> 'grant' AND created_at >= (SELECT min(period_start) FROM accounts WHERE period_start > 0)),
    spent (id, amount) AS (
      SELECT l.id, sum(c.amount)::bigint FROM charges c JOIN links l ON l.leaf = c.account_id JOIN accounts a ON a.id = l.id
      WHERE a.period_start > 0 AND c.at >= a.period_start AND c.corrects_at >= a.period_start GROUP BY l.id)
  UPDATE accounts a SET period_debits = coalesce((SELECT s.amount FROM spent s WHERE s.id = a.id), 0)
  WHERE a.period_start > 0;
  UPDATE accounts SET period_debits = debits_posted WHERE period_start = 0;

  CREATE FUNCTION ledger_day(at bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT at / 86400000 $$;

  CREATE OR REPLACE FUNCTION ledger_rates(requests bigint, tokens bigint, calls bigint, began bigint)
  RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT json_build_object('requests', requests, 'tokens', tokens, 'calls', calls, 'minuteEndsAt', began + 60000)::text
  $$;

  CREATE OR REPLACE FUNCTION ledger_commit(
    operations text, part_ends int[], INOUT link_ids text[],
    OUT outcomes text[], OUT figures bigint[], OUT names text[], OUT details text[], OUT parent_ids text[]
  )
  LANGUAGE plpgsql
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
  SET plan_cache_mode = force_generic_plan
  AS $$
  DECLARE
    left_max CONSTANT int := 1000;
    minute CONSTANT bigint := 60000;
    answers_length_max CONSTANT bigint := 8 * 1024 * 1024;
    ops ledger_operation[] := ARRAY(SELECT o FROM json_populate_recordset(NULL::ledger_operation, operations::json) o);
    given CONSTANT int := cardinality(ops);
    is_known CONSTANT boolean := link_ids IS NOT NULL;
    blank CONSTANT bigint[] := array_fill(NULL::bigint, ARRAY[given]);
    sweep_at bigint := (SELECT max(o.at) FROM unnest(ops) o WHERE o.kind = 'sweep');
    may_sweep boolean := false;
    left_ids text[] := '{}';
    -- By the operation's place, of ends: the account, what is charged and, of late ones, what had been; the retry key
    payers text[];
    charges bigint[] := blank;
    befores bigint[] := blank;
    dates bigint[] := blank;     -- of entries
    corrected bigint[] := blank; -- of late ends, the date of the expiry
    closed_before bigint;
    keys text[];
    claims int[];      -- by the key's first place, the hold that claims it in this part
    -- By the account's place:
    place jsonb;
    parents int[];
    funds bigint[];    -- credits, where a balance of them limits the account
    credits bigint[];
    posted bigint[];
    pending bigint[];
    budgets bigint[];
    spent bigint[];    -- posted since the period began
    periods text[];
    starts bigint[];
    ends bigint[];
    calls bigint[];
    minutes bigint[];  -- when the running minute began, and what it has seen
    requests bigint[];
    tokens bigint[];
    next_place int := 1;
    part_end int;
    from_place int;
    to_place int;
    op record;
    n int;
    i int;
    due bigint;
    charge bigint;
    over bigint;
    room bigint;
    link_room bigint;
    tightest int;
    dated bigint;
    passed text;
    began bigint;
    seen_requests bigint;
    seen_tokens bigint;
    answer text;
    answers_length bigint := 0;
  BEGIN
    outcomes := array_fill(NULL::text, ARRAY[given]); figures := blank; names := outcomes; details := outcomes;
    payers := outcomes; keys := outcomes;

    -- One node sweeps at a time; the others have nothing to wait for.
    IF sweep_at IS NOT NULL AND pg_try_advisory_xact_lock(hashtext('tollgate ledger sweep')) THEN
      may_sweep := true;
      left_ids := ARRAY(SELECT h.id FROM holds h WHERE h.lease_until < sweep_at ORDER BY h.lease_until LIMIT left_max);
    END IF;

    -- Unless the caller knows the chains. A comparison with NULL costs no look-up.
    IF NOT is_known OR left_ids <> '{}' THEN
      link_ids := ARRAY(
        SELECT DISTINCT unnest(a.chain) FROM (
          SELECT DISTINCT coalesce(o.account, h.account_id, e.debit_account)
          FROM (SELECT kind, id, account FROM unnest(ops) UNION ALL SELECT 'expire', id, NULL FROM unnest(left_ids) id) o
          LEFT JOIN holds h ON h.id = CASE WHEN o.account IS NULL THEN o.id END COLLATE "C"
          LEFT JOIN entries e ON e.kind = 'expire'
            AND e.id = CASE WHEN h.id IS NULL AND o.kind IN ('settle', 'release') THEN o.id END COLLATE "C"
        ) named (id) JOIN accounts a ON a.id = named.id COLLATE "C");
    END IF;

    SELECT array_agg(a.id), array_agg(CASE WHEN a.prepaid THEN a.credits_posted END), array_agg(a.credits_posted),
        array_agg(a.debits_posted), array_agg(a.debits_pending), array_agg(a.max_budget), array_agg(a.period_debits),
        array_agg(a.period), array_agg(a.period_start), array_agg(ledger_period_end(a.period, a.period_start)),
        array_agg(a.open_calls), array_agg(a.minute_start), array_agg(a.minute_requests), array_agg(a.minute_tokens),
        array_agg(a.parent_id)
      INTO link_ids, funds, credits, posted, pending, budgets, spent, periods, starts, ends, calls, minutes, requests, tokens,
        parent_ids
      FROM (SELECT * FROM accounts WHERE id = ANY (link_ids) ORDER BY id FOR NO KEY UPDATE) a;
    SELECT coalesce(jsonb_object_agg(l.id, l.n), '{}') INTO place FROM unnest(link_ids) WITH ORDINALITY AS l (id, n);
    parents := ARRAY(SELECT (place ->> l.id)::int FROM unnest(parent_ids) WITH ORDINALITY AS l (id, n) ORDER BY l.n);
    IF cardinality(array_remove(parents, NULL)) <> cardinality(array_remove(parent_ids, NULL)) THEN
      outcomes := NULL; -- the caller was wrong
      RETURN;
    END IF;

    -- Read after the accounts are locked: nobody can close the books now.
    SELECT s.closed_before INTO closed_before FROM ledger_state s;

    FOREACH part_end IN ARRAY part_ends LOOP
      from_place := next_place; to_place := part_end; next_place := part_end + 1; claims := '{}';

      IF (ops[from_place]).kind = 'sweep' THEN
        n := from_place;
        left_ids := ARRAY(SELECT h.id FROM holds h WHERE h.lease_until < (ops[n]).at AND place ? h.account_id
          ORDER BY h.lease_until LIMIT left_max);
        outcomes[n] := 'swept'; figures[n] := cardinality(left_ids);
        IF may_sweep THEN
          DELETE FROM retry_keys WHERE (account_id, key) IN (
            SELECT k.account_id, k.key FROM retry_keys k
            WHERE k.kept_until < (ops[n]).at AND NOT EXISTS (SELECT FROM holds h WHERE h.id = k.hold_id)
            ORDER BY k.kept_until LIMIT 5 * left_max FOR UPDATE SKIP LOCKED);
        END IF;
        from_place := cardinality(ops) + 1;
        ops := ops || ARRAY(
          SELECT json_populate_record(NULL::ledger_operation, json_build_object('kind', 'expire', 'id', l.id, 'at', (ops[n]).at))
          FROM unnest(left_ids) l (id));
        to_place := cardinality(ops);
      END IF;

      -- What the rows under an operation's id make of it: an outcome, or, where that is NULL, an amount that is `due`
      -- from the link at `first` upwards. Of an expired hold nothing is set aside any more, so that its late end is a
      -- charge (or a return) of the difference.
      FOR op IN
        SELECT from_place - 1 + o.ordinality AS n, o.kind, o.kind IN ('hold', 'top-up') AS takes, o.account, o.amount, o.at,
          o.tokens, o.is_rated, o.requests_max, o.tokens_max, o.calls_max, o.retry_key, o.key_place, o.fingerprint,
          k.hold_id AS answered_by, h.retry_key AS held_key, h.created_at AS taken_at,
          CASE o.kind WHEN 'settle' THEN o.tokens - h.tokens WHEN 'release' THEN -h.tokens END AS excess,
          e.amount AS before, e.created_at AS expired_at, coalesce(l.shortfall, e.shortfall) AS figure,
          CASE WHEN o.kind = 'hold' THEN 0 ELSE coalesce(h.amount, 0) END AS held,
          CASE o.kind WHEN 'release' THEN 0 WHEN 'expire' THEN CASE h.keeper WHEN 'job' THEN h.amount ELSE coalesce(h.observed, 0) END
            WHEN 'top-up' THEN o.amount - h.amount
            ELSE o.amount END - coalesce(e.amount, 0) AS due,
          (place ->> coalesce(o.account, h.account_id, e.debit_account))::int AS first,
          CASE
            WHEN o.kind = 'hold' THEN CASE
              WHEN NOT place ? o.account THEN 'no-account'
              WHEN h.id IS NOT NULL THEN
                CASE WHEN h.account_id = o.account AND h.amount = o.amount THEN 'exists' ELSE 'conflict' END
              WHEN e.id IS NOT NULL THEN
                CASE WHEN e.debit_account = o.account AND e.held = o.amount THEN 'exists' ELSE 'conflict' END
              -- A claim lives as long as its hold, an answer until its time is over.
              WHEN k.status IS NULL AND r.id IS NOT NULL OR k.status IS NOT NULL AND k.kept_until >= o.at THEN CASE
                WHEN k.fingerprint <> o.fingerprint THEN 'retry-mismatch'
                WHEN k.status IS NULL THEN 'retry-running'
                ELSE 'replayed'
              END
            END
            WHEN o.kind = 'grant' THEN CASE
              WHEN e.kind = 'grant' AND e.credit_account = o.account AND e.amount = o.amount THEN 'exists'
              WHEN e.id IS NOT NULL OR h.id IS NOT NULL THEN 'conflict'
              WHEN NOT place ? o.account THEN 'no-account'
              ELSE 'granted'
            END
            WHEN o.kind = 'renew' THEN CASE WHEN h.id IS NULL THEN 'ended' ELSE 'renewed' END
            WHEN o.kind = 'top-up' THEN CASE WHEN h.id IS NULL THEN 'ended' WHEN h.amount >= o.amount THEN 'exists' END
            WHEN h.id IS NOT NULL THEN NULL
            WHEN e.id IS NULL OR e.kind = 'expire' AND NOT place ? e.debit_account THEN 'no-hold'
            WHEN e.kind <> 'expire' THEN
              CASE WHEN e.kind = o.kind AND e.amount + e.shortfall = coalesce(o.amount, 0) THEN 'exists' ELSE 'conflict' END
            WHEN l.id IS NOT NULL THEN
              CASE WHEN e.amount + CASE l.debit_account WHEN 'revenue' THEN -l.amount ELSE l.amount END + l.shortfall
                = coalesce(o.amount, 0) THEN 'exists' ELSE 'conflict' END
          END AS outcome
        FROM unnest(ops[from_place:to_place]) WITH ORDINALITY o
        LEFT JOIN holds h ON h.id = o.id AND (o.kind = 'hold' OR place ? h.account_id)
        LEFT JOIN entries e ON e.id = CASE WHEN h.id IS NULL THEN o.id END
        LEFT JOIN entries l ON l.id = CASE WHEN e.kind = 'expire' THEN o.id || ':late' END
        LEFT JOIN retry_keys k ON k.account_id = o.account AND k.key = o.retry_key
        LEFT JOIN holds r ON r.id = CASE WHEN k.status IS NULL THEN k.hold_id END
        ORDER BY o.ordinality
      LOOP
        n := op.n; i := op.first;
        IF op.outcome IS NOT NULL THEN
          outcomes[n] := op.outcome; figures[n] := op.figure;
          IF op.outcome = 'granted' THEN
            credits[i] := credits[i] + op.amount;
            funds[i] := funds[i] + op.amount;
            dates[n] := greatest(op.at, closed_before);
          ELSIF op.outcome = 'replayed' THEN
            -- With its answer where a call is the first with its key, as long as they are not too many for one row.
            names[n] := op.answered_by;
            IF op.key_place = n AND answers_length < answers_length_max THEN
              SELECT json_build_object('status', k.status, 'headers', k.headers, 'body', encode(k.body, 'base64')) INTO answer
                FROM retry_keys k WHERE k.account_id = op.account AND k.key = op.retry_key;
              details[n] := answer; -- from a variable: with a query in the assignment the whole array is copied
              answers_length := answers_length + length(answer);
            END IF;
          END IF;
          CONTINUE;
        END IF;
        IF claims[op.key_place] IS NOT NULL THEN
          outcomes[n] := CASE WHEN (ops[claims[op.key_place]]).fingerprint = op.fingerprint THEN 'retry-running'
            ELSE 'retry-mismatch' END;
          CONTINUE;
        END IF;
        due := op.due; over := due - op.held;

        -- The limits of the account itself: a minute begins with the first call after the last one ended.
        IF op.kind = 'hold' THEN
          IF op.at - minutes[i] >= minute THEN
            began := op.at; seen_requests := 0; seen_tokens := 0;
          ELSE
            began := minutes[i]; seen_requests := requests[i]; seen_tokens := tokens[i];
          END IF;
          IF op.is_rated THEN
            passed := CASE
              WHEN seen_requests + 1 > op.requests_max THEN 'requestsPerMinute'
              WHEN seen_tokens + op.tokens > op.tokens_max THEN 'tokensPerMinute'
              WHEN calls[i] + 1 > op.calls_max THEN 'concurrentCalls'
            END;
            IF passed IS NOT NULL THEN
              outcomes[n] := 'limited'; names[n] := passed;
              details[n] := ledger_rates(seen_requests, seen_tokens, calls[i], began);
              CONTINUE;
            END IF;
          END IF;
        END IF;

        -- The link with the least room, the nearest to the token among equals. What was spent in an earlier period no
        -- longer counts; a clock that went back doesn't bring it back.
        room := NULL;
        IF op.takes OR over > 0 THEN
          WHILE i IS NOT NULL LOOP
            link_room := least(funds[i] - posted[i] - pending[i],
              budgets[i] - pending[i] - CASE WHEN op.at >= ends[i] THEN 0 ELSE spent[i] END);
            IF link_room < room OR room IS NULL AND link_room IS NOT NULL THEN room := link_room; tightest := i; END IF;
            i := parents[i];
          END LOOP;
          i := op.first;
        END IF;

        IF op.takes THEN
          IF room < due THEN
            outcomes[n] := 'insufficient'; figures[n] := room; names[n] := link_ids[tightest];
            CONTINUE;
          END IF;
          IF op.kind = 'top-up' THEN
            outcomes[n] := 'raised';
          ELSE
            outcomes[n] := 'held';
            IF op.key_place IS NOT NULL THEN claims[op.key_place] := n; END IF;
            minutes[i] := began; requests[i] := seen_requests + 1; tokens[i] := seen_tokens + op.tokens;
            calls[i] := calls[i] + 1;
            IF op.is_rated THEN details[n] := ledger_rates(requests[i], tokens[i], calls[i], minutes[i]); END IF;
          END IF;
          WHILE i IS NOT NULL LOOP
            pending[i] := pending[i] + due;
            i := parents[i];
          END LOOP;
          CONTINUE;
        END IF;

        -- All that was held can be charged, and beyond it what the chain has room for.
        charge := CASE WHEN over > 0 AND over > room THEN due - over + greatest(room, 0) ELSE due END;
        charges[n] := charge; figures[n] := due - charge; befores[n] := op.before; payers[n] := link_ids[i];
        outcomes[n] := op.kind || 'd';
        keys[n] := op.held_key;
        corrected[n] := op.expired_at;
        dated := greatest(op.at, closed_before);
        IF op.before IS NULL THEN
          calls[i] := calls[i] - 1;
          IF op.excess <> 0 AND op.taken_at >= minutes[i] THEN tokens[i] := greatest(tokens[i] + op.excess, 0); END IF;
        END IF;
        WHILE i IS NOT NULL LOOP
          IF op.at >= ends[i] THEN
            starts[i] := ledger_period_start(periods[i], op.at);
            ends[i] := ledger_period_end(periods[i], op.at);
            spent[i] := 0;
          END IF;
          pending[i] := pending[i] - op.held;
          posted[i] := posted[i] + charge;
          -- What is returned of an earlier period's charge leaves the spending of this one.
          IF charge >= 0 OR op.expired_at >= starts[i] THEN spent[i] := greatest(spent[i] + charge, 0); END IF;
          -- The entry's date is in every period in which it counts, also if a clock went back.
          dated := greatest(dated, starts[i]);
          i := parents[i];
        END LOOP;
        dates[n] := dated;
      END LOOP;
      PERFORM ledger_write(ops[from_place:to_place], outcomes[from_place:to_place], payers[from_place:to_place],
        charges[from_place:to_place], befores[from_place:to_place], figures[from_place:to_place], keys[from_place:to_place],
        dates[from_place:to_place], corrected[from_place:to_place]);
    END LOOP;

    UPDATE accounts a SET credits_posted = credits[l], debits_posted = posted[l], debits_pending = pending[l],
        period_start = starts[l], period_debits = spent[l], open_calls = calls[l], minute_start = minutes[l],
        minute_requests = requests[l], minute_tokens = tokens[l]
      FROM generate_series(1, cardinality(link_ids)) l
      WHERE a.id = link_ids[l] COLLATE "C" AND (a.credits_posted, a.debits_posted, a.debits_pending, a.period_start, a.period_debits,
          a.open_calls, a.minute_start, a.minute_requests, a.minute_tokens)
        IS DISTINCT FROM (credits[l], posted[l], pending[l], starts[l], spent[l], calls[l], minutes[l], requests[l], tokens[l]);
    outcomes := outcomes[:given]; figures := figures[:given]; names := names[:given]; details := details[:given];
    IF is_known THEN link_ids := NULL; parent_ids := NULL; END IF;
  END $$;

  -- The user whose calls an account's are: the one above it, or the one that its token was made for.
  CREATE OR REPLACE FUNCTION ledger_owner(account text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce(
      (SELECT u.name FROM unnest(a.chain) WITH ORDINALITY l (id, level)
        JOIN accounts u ON u.id = l.id AND u.kind = 'user' ORDER BY l.level LIMIT 1),
      (SELECT t.user_name FROM tokens t WHERE t.account_id = a.id LIMIT 1),
      a.name)
    FROM accounts a WHERE a.id = account COLLATE "C"
  $$;

  CREATE OR REPLACE FUNCTION ledger_write(
    ops ledger_operation[], outcomes text[],
    payers text[], charges bigint[], befores bigint[], shortfalls bigint[], keys text[],
    dates bigint[], corrected bigint[]
  )
  RETURNS void
  LANGUAGE plpgsql
  AS $$
  DECLARE
    done CONSTANT text[] := ARRAY(
      SELECT DISTINCT CASE WHEN o.before IS NULL THEN o.outcome ELSE 'late' END
      FROM unnest(outcomes, befores, ops) AS o (outcome, before));
  BEGIN
    IF 'held' = ANY (done) THEN
      INSERT INTO holds (id, account_id, amount, purpose, lease_until, created_at, tokens, retry_key, parent)
        SELECT o.id, o.account, o.amount, o.purpose, o.lease_until, o.at, o.tokens, o.retry_key, o.parent
        FROM unnest(outcomes, ops) AS o (outcome) WHERE o.outcome = 'held';
      INSERT INTO retry_keys (account_id, key, fingerprint, hold_id, kept_until)
        SELECT o.account, o.retry_key, o.fingerprint, o.id, o.kept_until
        FROM unnest(outcomes, ops) AS o (outcome) WHERE o.outcome = 'held' AND o.retry_key IS NOT NULL
        ON CONFLICT (account_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, hold_id = excluded.hold_id,
          status = NULL, headers = NULL, body = NULL, kept_until = excluded.kept_until;
    END IF;

    IF 'raised' = ANY (done) THEN
      UPDATE holds h SET amount = o.amount FROM unnest(outcomes, ops) AS o (outcome)
        WHERE o.outcome = 'raised' AND h.id = o.id;
    END IF;

    IF 'renewed' = ANY (done) THEN
      -- A hand-over that comes late never shortens the lease that the job has been given since.
      UPDATE holds h SET lease_until = CASE WHEN o.keeper = 'job' AND h.keeper = 'job'
            THEN greatest(h.lease_until, o.lease_until) ELSE o.lease_until END, observed = coalesce(o.amount, h.observed),
          keeper = coalesce(o.keeper, h.keeper)
        FROM unnest(outcomes, ops) AS o (outcome) WHERE o.outcome = 'renewed' AND h.id = o.id;
    END IF;

    IF 'granted' = ANY (done) THEN
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
        SELECT o.id, 'grant', 'bank', o.account, o.amount, 0, 0, o.date
        FROM unnest(outcomes, dates, ops) AS o (outcome, date) WHERE o.outcome = 'granted';
    END IF;

    IF done && '{settled, released, expired}' THEN
      IF 'expired' = ANY (done) THEN
        INSERT INTO generations (id, owner, account_id, operation, provider, model, streamed, status, outcome, usage,
            input_tokens, output_tokens, credits, ms, started_at, parent)
          SELECT h.id, coalesce(ledger_owner(h.account_id), ''), h.account_id, p.words[1], p.words[2], p.words[3],
            false, 0, 'expired', '{}', 0, 0, o.charge, o.at - h.created_at, h.created_at, h.parent
          FROM unnest(outcomes, charges, ops) AS o (outcome, charge)
          JOIN holds h ON h.id = o.id
          CROSS JOIN regexp_match(h.purpose, '^(\S*) ?([^/]*)/?(.*)$') AS p (words)
          WHERE o.outcome = 'expired';
      END IF;
      WITH gone AS (
        DELETE FROM holds h USING unnest(charges, befores, shortfalls, dates, ops) AS o (charge, before, shortfall, date)
          WHERE o.charge IS NOT NULL AND o.before IS NULL AND h.id = o.id
          RETURNING h.id, o.kind, h.account_id, o.charge, h.amount, o.shortfall, o.date
      )
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
        SELECT g.id, g.kind, g.account_id, 'revenue', g.charge, g.amount, g.shortfall, g.date FROM gone g;
      IF array_remove(keys, NULL) <> '{}' THEN
        UPDATE retry_keys k SET status = o.status, headers = o.headers, body = decode(o.body, 'base64'), kept_until = o.kept_until
          FROM unnest(payers, keys, ops) AS o (payer, held_key)
          WHERE o.status IS NOT NULL AND k.account_id = o.payer AND k.key = o.held_key AND k.hold_id = o.id;
        DELETE FROM retry_keys k USING unnest(payers, keys, ops) AS o (payer, held_key)
          WHERE o.status IS NULL AND k.account_id = o.payer AND k.key = o.held_key AND k.hold_id = o.id;
      END IF;
    END IF;

    IF 'late' = ANY (done) THEN
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at, corrects_at,
          corrects_shortfall)
        SELECT o.id || ':late', 'settle', CASE WHEN o.charge < 0 THEN 'revenue' ELSE o.payer END,
          CASE WHEN o.charge < 0 THEN o.payer ELSE 'revenue' END, abs(o.charge), 0, o.shortfall, o.date, o.corrected,
          (SELECT e.shortfall FROM entries e WHERE e.id = o.id)
        FROM unnest(payers, charges, befores, shortfalls, dates, corrected, ops)
          AS o (payer, charge, before, shortfall, date, corrected)
        WHERE o.before IS NOT NULL;
      UPDATE generations g SET credits = o.before + o.charge FROM unnest(charges, befores, ops) AS o (charge, before)
        WHERE o.before IS NOT NULL AND o.record IS NULL AND g.id = o.id;
      DELETE FROM generations g USING unnest(befores, ops) AS o (before)
        WHERE o.before IS NOT NULL AND o.record IS NOT NULL AND g.id = o.id;
    END IF;

    IF done && '{settled, released, late}' THEN
      INSERT INTO generations (id, owner, account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
          input_tokens, output_tokens, credits, ms, first_byte_ms, started_at, parent)
        SELECT o.id, r.owner, o.payer, r.operation, r.dialect, r.provider, r.model, r.streamed, r.status, r.outcome, r.usage,
          r.input_tokens, r.output_tokens, o.charge + coalesce(o.before, 0), r.ms, r.first_byte_ms, r.started_at, r.parent
        FROM unnest(payers, charges, befores, ops) AS o (payer, charge, before)
        CROSS JOIN json_populate_record(NULL::generations, o.record) r
        WHERE o.charge IS NOT NULL AND o.record IS NOT NULL;
    END IF;
  END $$;

  CREATE OR REPLACE FUNCTION ledger_commit_plain_5(
    latest bigint, -- the time of the latest operation
    first_id text, last_id text, -- of new holds
    are_rated boolean, -- whether new holds have limits
    links ledger_plain_5_link[], holds ledger_plain_5_hold[], ends ledger_plain_5_end[], changes ledger_plain_5_change[]
  )
  RETURNS json
  LANGUAGE plpgsql
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
  SET plan_cache_mode = force_generic_plan
  AS $$
  DECLARE
    minute CONSTANT bigint := 60000;
    written bigint;
  BEGIN
    UPDATE accounts a SET debits_pending = a.debits_pending + coalesce(l.taken, 0) - coalesce(l.returned, 0),
        debits_posted = a.debits_posted + coalesce(l.posted, 0), period_debits = a.period_debits + coalesce(l.posted, 0),
        open_calls = a.open_calls + coalesce(l.requests, 0) - coalesce(l.ended, 0),
        minute_start = CASE WHEN l.since - a.minute_start >= minute THEN l.since ELSE a.minute_start END,
        minute_requests = CASE WHEN l.since - a.minute_start >= minute THEN 0 ELSE a.minute_requests END
          + coalesce(l.requests, 0),
        minute_tokens = greatest(0, coalesce(l.tokens, 0) + CASE WHEN l.since - a.minute_start >= minute THEN 0
          ELSE a.minute_tokens + CASE WHEN l.takenFirst >= a.minute_start THEN l.excess ELSE 0 END END)
      FROM unnest(links) l
      WHERE a.id = l.id AND a.parent_id IS NOT DISTINCT FROM l.parentId
        AND (a.period IS NULL OR latest < ledger_period_end(a.period, a.period_start))
        -- Each of its charges gets a date in the period in which it counts; a plain batch spans a minute at most.
        AND (l.posted IS NULL OR greatest(latest - minute, 0) >= a.period_start)
        AND (l.taken IS NULL
          OR (NOT a.prepaid OR a.credits_posted - a.debits_posted - a.debits_pending >= l.taken)
          AND (a.max_budget IS NULL OR a.max_budget - a.period_debits - a.debits_pending >= l.taken))
        -- Its new holds are all of one minute, and of its corrections all or none are of the minute that then runs.
        AND (l.since IS NULL OR l.since - a.minute_start >= minute OR latest - a.minute_start < minute)
        AND (l.takenLast IS NULL OR l.takenLast < a.minute_start
          OR CASE WHEN l.since - a.minute_start >= minute THEN l.takenLast < l.since ELSE l.takenFirst >= a.minute_start END)
        AND (l.rated IS NULL OR coalesce(
          l.callsRoom >= a.open_calls, true) AND coalesce(
          l.requestsRoom >= CASE WHEN l.since - a.minute_start >= minute THEN 0 ELSE a.minute_requests END, true) AND coalesce(
          l.tokensRoom >= CASE WHEN l.since - a.minute_start >= minute THEN 0 ELSE a.minute_tokens END, true));
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(links) THEN RAISE SQLSTATE 'TGNPL'; END IF;

    IF cardinality(holds) > 0 THEN
      INSERT INTO holds (id, account_id, amount, purpose, lease_until, created_at, tokens, parent)
        SELECT o.id, o.account, o.amount, o.purpose, o.lease, o.at, o.tokens, o.parent FROM unnest(holds) o
        -- None has ended: nearly always to be seen at a glance, since ids begin with the time.
        WHERE CASE WHEN NOT EXISTS (SELECT FROM entries e WHERE e.id BETWEEN first_id AND last_id)
          AND o.id BETWEEN first_id AND last_id THEN true
          ELSE (SELECT e.id FROM entries e WHERE e.id = o.id) IS NULL END;
      GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(holds) THEN RAISE SQLSTATE 'TGNPL'; END IF;
    END IF;

    IF cardinality(ends) > 0 THEN
      DELETE FROM holds h USING unnest(ends) o WHERE h.id = o.id AND h.account_id = o.account AND h.amount = o.held;
      GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(ends) THEN RAISE SQLSTATE 'TGNPL'; END IF;
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
        SELECT o.id, o.kind, o.account, 'revenue', o.charge, o.held, 0, o.at FROM unnest(ends) o
        -- None is dated before the books were closed. Read after the accounts are locked.
        WHERE greatest(latest - minute, 0) >= (SELECT s.closed_before FROM ledger_state s);
      GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(ends) THEN RAISE SQLSTATE 'TGNPL'; END IF;
      INSERT INTO generations (id, owner, account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
          input_tokens, output_tokens, credits, ms, first_byte_ms, started_at, parent)
        SELECT o.id, o.owner, o.account, o.operation, o.dialect, o.provider, o.model, o.streamed, o.status, o.outcome, o.usage,
          o.input_tokens, o.output_tokens, o.charge, o.ms, o.first_byte_ms, o.started_at, o.parent
        FROM unnest(ends) o WHERE o.owner IS NOT NULL;
    END IF;

    IF cardinality(changes) > 0 THEN
      UPDATE holds h SET lease_until = CASE WHEN o.keeper = 'job' AND h.keeper = 'job'
            THEN greatest(h.lease_until, o.lease) ELSE coalesce(o.lease, h.lease_until) END, observed = coalesce(o.observed, h.observed),
          amount = o.amount, keeper = coalesce(o.keeper, h.keeper)
        FROM unnest(changes) o WHERE h.id = o.id AND h.account_id = o.account AND h.amount = o.held;
      GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(changes) THEN RAISE SQLSTATE 'TGNPL'; END IF;
    END IF;

    IF NOT are_rated THEN RETURN '[]'; END IF;
    RETURN (
      SELECT coalesce(json_agg(json_build_object('id', a.id, 'minuteStart', a.minute_start, 'minuteRequests', a.minute_requests,
        'minuteTokens', a.minute_tokens, 'openCalls', a.open_calls)), '[]')
      FROM unnest(links) l JOIN accounts a ON a.id = l.id WHERE l.rated);
  EXCEPTION WHEN unique_violation OR check_violation OR SQLSTATE 'TGNPL' THEN
    RETURN NULL;
  END $$;

  CREATE FUNCTION ledger_close(before bigint) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    LOCK TABLE accounts IN SHARE ROW EXCLUSIVE MODE;
    UPDATE ledger_state SET closed_before = greatest(closed_before, before);
  END $$;

  CREATE FUNCTION ledger_seal(before bigint, sealed bigint, entries bigint, shortfall bigint, openings text)
  RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE ledger_state SET sealed_before = before, sealed_entries = entries, sealed_shortfall = shortfall
      WHERE sealed_before = sealed;
    IF NOT FOUND THEN RETURN false; END IF;
    DELETE FROM opening_balances;
    INSERT INTO opening_balances SELECT * FROM json_populate_recordset(NULL::opening_balances, openings::json);
    RETURN true;
  END $$;

  CREATE FUNCTION ledger_remove(first_page bigint, end_page bigint) RETURNS bigint
  LANGUAGE plpgsql
  SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
  AS $$
  DECLARE
    before CONSTANT bigint := (SELECT s.removed_before FROM ledger_state s);
    ids CONSTANT text[] := ARRAY(
      SELECT e.id FROM entries e LEFT JOIN generations g ON g.id = e.id
      WHERE e.ctid >= format('(%s,0)', first_page)::tid AND e.ctid < format('(%s,0)', end_page)::tid
        -- By a clock that went back, a call may have begun after the date of its end.
        AND e.created_at < before AND coalesce(g.started_at, 0) < before);
  BEGIN
    IF ids = '{}' THEN RETURN 0; END IF;
    PERFORM FROM accounts a WHERE a.id IN (SELECT g.account_id FROM generations g WHERE g.id = ANY (ids))
      ORDER BY a.id FOR NO KEY UPDATE;
    INSERT INTO daily_sums AS s (owner, day, account_id, provider, model, requests, input_tokens, output_tokens, credits, removed_requests, removed_input_tokens, removed_output_tokens, removed_credits)
    SELECT n.*, n.requests, n.input_tokens, n.output_tokens, n.credits FROM (SELECT g.owner, ledger_day(g.started_at) AS day, g.account_id, g.provider, g.model, count(*) AS requests,
      (sum(g.input_tokens))::bigint AS input_tokens, (sum(g.output_tokens))::bigint AS output_tokens,
      (sum(g.credits))::bigint AS credits
    FROM (SELECT * FROM generations WHERE id = ANY (ids)) g GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5) n
    ON CONFLICT (owner, day, account_id, provider, model) DO UPDATE SET requests = s.requests + excluded.requests,
    input_tokens = s.input_tokens + excluded.input_tokens, output_tokens = s.output_tokens + excluded.output_tokens,
    credits = s.credits + excluded.credits, removed_requests = s.removed_requests + excluded.requests,
      removed_input_tokens = s.removed_input_tokens + excluded.input_tokens,
      removed_output_tokens = s.removed_output_tokens + excluded.output_tokens,
      removed_credits = s.removed_credits + excluded.credits;
    DELETE FROM generations g WHERE g.id = ANY (ids);
    DELETE FROM entries e WHERE e.id = ANY (ids);
    RETURN cardinality(ids);
  END $$;

  INSERT INTO daily_sums AS s (owner, day, account_id, provider, model, requests, input_tokens, output_tokens, credits) SELECT g.owner, ledger_day(g.started_at) AS day, g.account_id, g.provider, g.model, count(*) AS requests,
      (sum(g.input_tokens))::bigint AS input_tokens, (sum(g.output_tokens))::bigint AS output_tokens,
      (sum(g.credits))::bigint AS credits
    FROM generations g GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5 ON CONFLICT (owner, day, account_id, provider, model) DO UPDATE SET requests = s.requests + excluded.requests,
    input_tokens = s.input_tokens + excluded.input_tokens, output_tokens = s.output_tokens + excluded.output_tokens,
    credits = s.credits + excluded.credits;

  CREATE FUNCTION count_generations() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO daily_sums AS s (owner, day, account_id, provider, model, requests, input_tokens, output_tokens, credits) SELECT g.owner, ledger_day(g.started_at) AS day, g.account_id, g.provider, g.model, count(*) AS requests,
      (sum(g.input_tokens))::bigint AS input_tokens, (sum(g.output_tokens))::bigint AS output_tokens,
      (sum(g.credits))::bigint AS credits
    FROM added g GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5 ON CONFLICT (owner, day, account_id, provider, model) DO UPDATE SET requests = s.requests + excluded.requests,
    input_tokens = s.input_tokens + excluded.input_tokens, output_tokens = s.output_tokens + excluded.output_tokens,
    credits = s.credits + excluded.credits;
    RETURN NULL;
  END $$;
  CREATE FUNCTION uncount_generations() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO daily_sums AS s (owner, day, account_id, provider, model, requests, input_tokens, output_tokens, credits) SELECT g.owner, ledger_day(g.started_at) AS day, g.account_id, g.provider, g.model, -count(*) AS requests,
      (-sum(g.input_tokens))::bigint AS input_tokens, (-sum(g.output_tokens))::bigint AS output_tokens,
      (-sum(g.credits))::bigint AS credits
    FROM gone g GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5 ON CONFLICT (owner, day, account_id, provider, model) DO UPDATE SET requests = s.requests + excluded.requests,
    input_tokens = s.input_tokens + excluded.input_tokens, output_tokens = s.output_tokens + excluded.output_tokens,
    credits = s.credits + excluded.credits;
    RETURN NULL;
  END $$;
  CREATE TRIGGER generations_are_counted AFTER INSERT ON generations REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_generations();
  CREATE TRIGGER changes_are_counted AFTER UPDATE ON generations REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_generations();
  CREATE TRIGGER changes_are_uncounted AFTER UPDATE ON generations REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION uncount_generations();
  CREATE TRIGGER deletions_are_uncounted AFTER DELETE ON generations REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION uncount_generations();


  CREATE TABLE price_catalog (
    slot      bigint PRIMARY KEY CHECK (slot = 1),
    location  text NOT NULL,
    content   text NOT NULL,
    read_at   bigint NOT NULL
  );


  CREATE TABLE webhook_secrets (
    owner            text COLLATE "C" PRIMARY KEY,
    secret           text NOT NULL,
    previous_secret  text,
    previous_until   bigint,
    made_at          bigint NOT NULL
  );


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


  CREATE TABLE client_secrets (
    id           text COLLATE "C" PRIMARY KEY,
    secret_hash  bytea NOT NULL,
    token_id     text COLLATE "C" NOT NULL,
    session      text NOT NULL,
    created_at   bigint NOT NULL,
    expires_at   bigint NOT NULL
  );
  CREATE INDEX client_secrets_by_age ON client_secrets (expires_at);


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


  CREATE TABLE crawls (
    id               text COLLATE "C" PRIMARY KEY,
    kind             text NOT NULL,
    owner            text COLLATE "C" NOT NULL,
    caller           text NOT NULL,
    request          text NOT NULL,
    pages_max        bigint NOT NULL,
    concurrency_max  bigint NOT NULL,
    delay_ms         bigint NOT NULL,
    state            text NOT NULL,
    failure_code     text,
    failure          text,
    discovered       bigint NOT NULL DEFAULT 0,
    completed        bigint NOT NULL DEFAULT 0,
    failed           bigint NOT NULL DEFAULT 0,
    skipped          bigint NOT NULL DEFAULT 0,
    credits          bigint NOT NULL DEFAULT 0,
    bytes            bigint NOT NULL DEFAULT 0,
    created_at       bigint NOT NULL,
    ended_at         bigint,
    expires_at       bigint NOT NULL
  ) WITH (fillfactor = 70);
  CREATE INDEX crawls_by_owner ON crawls (owner, created_at);
  CREATE INDEX crawls_by_state ON crawls (owner) WHERE state = 'scraping';
  CREATE INDEX crawls_by_age ON crawls (expires_at);

  CREATE TABLE crawl_pages (
    crawl_id      text COLLATE "C" NOT NULL,
    number        bigint NOT NULL,
    kind          text NOT NULL,
    key           text COLLATE "C" NOT NULL,
    url           text NOT NULL,
    host          text COLLATE "C" NOT NULL,
    depth         bigint NOT NULL,
    state         bigint NOT NULL DEFAULT 0,
    attempts      bigint NOT NULL DEFAULT 0,
    lease_token   text COLLATE "C",
    lease_until   bigint,
    work          text,
    digest        text COLLATE "C",
    position      bigint,
    bytes         bigint NOT NULL DEFAULT 0,
    failure_code  text,
    failure       text,
    ended_at      bigint,
    PRIMARY KEY (crawl_id, number)
  );
  CREATE UNIQUE INDEX crawl_pages_by_key ON crawl_pages (crawl_id, key);
  CREATE INDEX crawl_pages_waiting ON crawl_pages (crawl_id, host, number) WHERE state = 0;
  CREATE INDEX crawl_pages_leased ON crawl_pages (lease_until) WHERE lease_token IS NOT NULL;
  CREATE INDEX crawl_pages_of_crawl ON crawl_pages (crawl_id) WHERE lease_token IS NOT NULL;
  CREATE INDEX crawl_pages_of_host ON crawl_pages (host) WHERE lease_token IS NOT NULL;
  CREATE INDEX crawl_pages_by_lease ON crawl_pages (lease_token) WHERE lease_token IS NOT NULL;
  CREATE INDEX crawl_pages_by_position ON crawl_pages (crawl_id, position, bytes) WHERE position IS NOT NULL;
  CREATE UNIQUE INDEX crawl_pages_by_digest ON crawl_pages (crawl_id, digest) WHERE digest IS NOT NULL;
  CREATE INDEX crawl_pages_failed ON crawl_pages (crawl_id, number) WHERE failure_code IS NOT NULL;

  CREATE TABLE crawl_lanes (
    crawl_id  text COLLATE "C" NOT NULL,
    host      text COLLATE "C" NOT NULL,
    waiting   bigint NOT NULL,
    ready_at  bigint NOT NULL,
    PRIMARY KEY (crawl_id, host)
  );
  CREATE INDEX crawl_lanes_by_moment ON crawl_lanes (ready_at) WHERE waiting > 0;

  CREATE TABLE web_hosts (
    host         text COLLATE "C" PRIMARY KEY,
    next_at      bigint NOT NULL,
    interval_ms  bigint NOT NULL
  );
  CREATE INDEX web_hosts_by_age ON web_hosts (next_at);

  CREATE TABLE crawl_notes (
    crawl_id  text COLLATE "C" NOT NULL,
    code      text COLLATE "C" NOT NULL,
    url       text NOT NULL,
    message   text NOT NULL,
    count     bigint NOT NULL,
    noted_at  bigint NOT NULL,
    PRIMARY KEY (crawl_id, code)
  );

  CREATE TABLE crawl_results (
    crawl_id  text COLLATE "C" NOT NULL,
    number    bigint NOT NULL,
    content   bytea NOT NULL,
    PRIMARY KEY (crawl_id, number)
  );
  ALTER TABLE crawl_results ALTER COLUMN content SET STORAGE EXTERNAL; -- compressed by the gateway

  CREATE FUNCTION crawl_add(
    of_crawl text, kinds text[], keys text[], urls text[], hosts text[], depths bigint[], now_at bigint, discovered_max bigint,
    OUT added bigint, OUT is_full boolean
  ) LANGUAGE plpgsql AS $$
  DECLARE
    known bigint;
    fresh bigint;
  BEGIN
    added := 0;
    is_full := false;
    SELECT discovered INTO known FROM crawls WHERE id = of_crawl AND state = 'scraping' FOR UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT count(DISTINCT given.key) INTO fresh FROM unnest(keys) AS given (key)
      WHERE NOT EXISTS (SELECT 1 FROM crawl_pages p WHERE p.crawl_id = of_crawl AND p.key = given.key);
    IF fresh = 0 THEN RETURN; END IF;
    is_full := known + fresh > discovered_max;
    WITH new_pages AS (
      SELECT DISTINCT ON (given.key) given.* FROM unnest(kinds, keys, urls, hosts, depths) WITH ORDINALITY
        AS given (kind, key, url, host, depth, place)
      WHERE NOT EXISTS (SELECT 1 FROM crawl_pages p WHERE p.crawl_id = of_crawl AND p.key = given.key)
      ORDER BY given.key, given.place
    ), numbered AS (
      SELECT *, row_number() OVER (ORDER BY place) - 1 AS index FROM new_pages
    ), inserted AS (
      INSERT INTO crawl_pages (crawl_id, number, kind, key, url, host, depth)
        SELECT of_crawl, known + index, kind, key, url, host, depth FROM numbered WHERE known + index < discovered_max
        RETURNING host
    ), by_host AS (
      SELECT host, count(*) AS count FROM inserted GROUP BY host
    ), paced AS (
      INSERT INTO web_hosts (host, next_at, interval_ms) SELECT host, now_at, 0 FROM by_host ORDER BY host
        ON CONFLICT (host) DO NOTHING
    ), lanes AS (
      INSERT INTO crawl_lanes (crawl_id, host, waiting, ready_at) SELECT of_crawl, host, count, now_at FROM by_host
        ORDER BY host
        ON CONFLICT (crawl_id, host) DO UPDATE SET waiting = crawl_lanes.waiting + excluded.waiting
    )
    SELECT coalesce(sum(count), 0) INTO added FROM by_host;
    UPDATE crawls SET discovered = discovered + added WHERE id = of_crawl;
  END $$;

  CREATE FUNCTION crawl_fetched(
    of_crawl text, page_number bigint, token text, attempt bigint, parked text, result bytea, result_bytes bigint,
    page_digest text
  ) RETURNS text LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM 1 FROM crawls WHERE id = of_crawl AND state = 'scraping' FOR UPDATE;
    IF NOT FOUND THEN RETURN 'lost'; END IF;
    IF EXISTS (SELECT 1 FROM crawl_pages WHERE crawl_id = of_crawl AND digest = page_digest AND number <> page_number) THEN
      RETURN 'duplicate';
    END IF;
    UPDATE crawl_pages SET state = 2, work = parked, bytes = result_bytes, digest = page_digest
      WHERE crawl_id = of_crawl AND number = page_number AND lease_token = token AND attempts = attempt AND state = 1;
    IF NOT FOUND THEN RETURN 'lost'; END IF;
    INSERT INTO crawl_results (crawl_id, number, content) VALUES (of_crawl, page_number, result)
      ON CONFLICT (crawl_id, number) DO UPDATE SET content = excluded.content;
    RETURN 'stored';
  END $$;

  CREATE FUNCTION crawl_end(
    of_crawl text, page_number bigint, token text, attempt bigint, new_state bigint, code text, message text, cost bigint,
    of_host text, now_at bigint
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    crawl record;
    size bigint;
  BEGIN
    SELECT completed, delay_ms INTO crawl FROM crawls WHERE id = of_crawl FOR UPDATE;
    UPDATE crawl_pages SET state = new_state, failure_code = code, failure = message, ended_at = now_at, work = NULL,
        lease_token = NULL, lease_until = NULL, position = CASE WHEN new_state = 3 THEN crawl.completed END
      WHERE crawl_id = of_crawl AND number = page_number AND lease_token = token AND attempts = attempt
      RETURNING bytes INTO size;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE crawls SET completed = completed + (new_state = 3)::int, failed = failed + (new_state = 4)::int,
        skipped = skipped + (new_state > 4)::int, credits = credits + cost,
        bytes = bytes + CASE WHEN new_state = 3 THEN size ELSE 0 END
      WHERE id = of_crawl;
    IF crawl.delay_ms = 0 THEN
      UPDATE crawl_lanes SET ready_at = now_at WHERE crawl_id = of_crawl AND host = of_host AND ready_at > now_at;
    END IF;
    RETURN true;
  END $$;

  CREATE FUNCTION crawl_give_back(
    of_crawl text, page_number bigint, token text, attempt bigint, of_host text, ready bigint
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    is_over boolean;
  BEGIN
    SELECT state <> 'scraping' INTO is_over FROM crawls WHERE id = of_crawl FOR UPDATE;
    UPDATE crawl_pages SET state = CASE WHEN is_over THEN 6 ELSE 0 END, attempts = attempts - 1, lease_token = NULL,
        lease_until = NULL
      WHERE crawl_id = of_crawl AND number = page_number AND lease_token = token AND attempts = attempt AND state = 1;
    IF NOT FOUND THEN RETURN false; END IF;
    IF is_over THEN
      UPDATE crawls SET skipped = skipped + 1 WHERE id = of_crawl;
    ELSE
      UPDATE crawl_lanes SET waiting = waiting + 1, ready_at = greatest(ready_at, ready)
        WHERE crawl_id = of_crawl AND host = of_host;
    END IF;
    RETURN true;
  END $$;


  CREATE TABLE web_documents (
    owner        text COLLATE "C" NOT NULL,
    key          text COLLATE "C" NOT NULL,
    url          text NOT NULL,
    host         text COLLATE "C" NOT NULL,
    extension    text COLLATE "C" NOT NULL,
    title        text NOT NULL,
    description  text NOT NULL,
    stored_at    bigint NOT NULL,
    kept_until   bigint NOT NULL,
    words        tsvector NOT NULL, -- begins with the mark of the owner
    PRIMARY KEY (owner, key)
  );
  CREATE INDEX web_documents_by_moment ON web_documents (owner, stored_at);
  CREATE INDEX web_documents_by_age ON web_documents (kept_until);
  CREATE INDEX web_documents_by_words ON web_documents USING gin (words);



  ALTER TABLE crawls ADD COLUMN account_id text COLLATE "C";
  ALTER TABLE crawls ADD COLUMN retry_key text COLLATE "C";
  ALTER TABLE crawls ADD COLUMN fingerprint text;
  CREATE UNIQUE INDEX crawls_by_retry_key ON crawls (account_id, retry_key) WHERE retry_key IS NOT NULL;


  CREATE FUNCTION web_marks(owner text, host text, extension text, title text)
  RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$
    SELECT array_to_tsvector(ARRAY(
      SELECT 'o' || encode(convert_to(owner, 'UTF8'), 'hex')
      UNION SELECT 'type:' || extension
      UNION SELECT 'title:' || lexeme FROM unnest(to_tsvector('simple', title))
      UNION SELECT 'site:' || array_to_string(labels[1:depth], '.') || '.'
        FROM (SELECT string_to_array(rtrim(host, '.'), '.') AS labels) AS split, generate_series(1, cardinality(labels)) AS depth
    ))
  $$;
  CREATE FUNCTION web_mark() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.words := NEW.words || web_marks(NEW.owner, NEW.host, NEW.extension, NEW.title);
      RETURN NEW;
    END
  $$;
  CREATE TRIGGER web_documents_marked BEFORE INSERT OR UPDATE ON web_documents FOR EACH ROW EXECUTE FUNCTION web_mark();
  UPDATE web_documents SET key = key;
  -- KiB of words that wait to be put into the index: the page that fills the list waits for all of them.
  ALTER INDEX web_documents_by_words SET (gin_pending_list_limit = 256);

  CREATE FUNCTION web_matching(
    query tsquery, places tsquery, of_owner text, now_at bigint, looked_through bigint, most bigint
  ) RETURNS SETOF web_documents LANGUAGE sql STABLE
    SET enable_seqscan = off SET enable_indexscan = off SET jit = off AS $$
    SELECT * FROM (
      SELECT * FROM web_documents d
      WHERE d.words @@ query AND d.kept_until + 0 > now_at AND d.owner || '' = of_owner
      LIMIT CASE WHEN numnode(places) = 0 THEN most ELSE looked_through END
    ) AS found
    WHERE numnode(places) = 0 OR found.words @@ places LIMIT most
  $$;


  DROP FUNCTION IF EXISTS crawl_take;
  CREATE FUNCTION crawl_take(
    token text, until bigint, now_at bigint, take_max bigint, connections_max bigint, general_ms bigint, attempts_max bigint,
    busy_ms bigint, burst_ms bigint, lanes_max bigint, owner_share double precision DEFAULT NULL
  ) RETURNS SETOF crawl_pages LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
    SET plan_cache_mode = force_generic_plan AS $$
  DECLARE
    page record;
    due record;
    crawl record;
    taken bigint := 0;
    looked bigint := 0;
    stuck bigint := 0; -- lanes that others have locked: they stay due
    got bigint;
  BEGIN
    FOR page IN SELECT p.crawl_id, p.number, p.state, p.host, p.attempts FROM crawl_pages p
      WHERE p.lease_token IS NOT NULL AND p.lease_until < now_at LIMIT take_max FOR UPDATE SKIP LOCKED
    LOOP
      IF page.state = 2 THEN
        taken := taken + 1;
        RETURN QUERY UPDATE crawl_pages p SET lease_token = token, lease_until = until, attempts = p.attempts + 1
          WHERE p.crawl_id = page.crawl_id AND p.number = page.number RETURNING p.*;
        CONTINUE;
      END IF;
      SELECT c.state INTO crawl FROM crawls c WHERE c.id = page.crawl_id FOR UPDATE SKIP LOCKED;
      CONTINUE WHEN NOT FOUND;
      IF crawl.state <> 'scraping' THEN
        UPDATE crawl_pages p SET state = 6, lease_token = NULL, lease_until = NULL
          WHERE p.crawl_id = page.crawl_id AND p.number = page.number;
        UPDATE crawls SET skipped = skipped + 1 WHERE id = page.crawl_id;
      ELSIF page.attempts >= attempts_max THEN
        UPDATE crawl_pages p SET state = 4, lease_token = NULL, lease_until = NULL, ended_at = now_at,
            failure_code = 'CRASHED', failure = 'The page could not be fetched: its processes died.'
          WHERE p.crawl_id = page.crawl_id AND p.number = page.number;
        UPDATE crawls SET failed = failed + 1 WHERE id = page.crawl_id;
      ELSE
        UPDATE crawl_pages p SET state = 0, lease_token = NULL, lease_until = NULL
          WHERE p.crawl_id = page.crawl_id AND p.number = page.number;
        UPDATE crawl_lanes SET waiting = waiting + 1, ready_at = least(ready_at, now_at)
          WHERE crawl_id = page.crawl_id AND host = page.host;
      END IF;
    END LOOP;
    -- A few lanes at a time: more are needed only if those have to wait.
    WHILE taken < take_max AND looked < lanes_max LOOP
      WITH lanes AS MATERIALIZED (
        SELECT l.crawl_id, l.host, l.ready_at FROM crawl_lanes l WHERE l.waiting > 0 AND l.ready_at <= now_at
          ORDER BY l.ready_at LIMIT least(take_max - taken + stuck, lanes_max - looked) FOR UPDATE SKIP LOCKED
      ), their_crawls AS MATERIALIZED (
        SELECT c.id, c.state FROM crawls c WHERE c.id IN (SELECT lanes.crawl_id FROM lanes) FOR UPDATE SKIP LOCKED
      ), their_hosts AS MATERIALIZED (
        SELECT h.host FROM web_hosts h WHERE h.host IN (SELECT lanes.host FROM lanes) FOR UPDATE SKIP LOCKED
      ), locked AS (
        SELECT lanes.*, c.state, h.host IS NOT NULL AS is_open FROM lanes
          JOIN their_crawls c ON c.id = lanes.crawl_id LEFT JOIN their_hosts h ON h.host = lanes.host
      )
      SELECT coalesce(array_agg(crawl_id ORDER BY ready_at) FILTER (WHERE state = 'scraping' AND is_open), '{}') AS crawl_ids,
          coalesce(array_agg(host ORDER BY ready_at) FILTER (WHERE state = 'scraping' AND is_open), '{}') AS hosts,
          array_agg(DISTINCT crawl_id) FILTER (WHERE state <> 'scraping') AS ended,
          array_agg(DISTINCT host) FILTER (WHERE NOT is_open) AS closed, (SELECT count(*) FROM lanes) AS looked
        INTO due FROM locked;
      -- Lanes that were added while their crawl ended.
      IF due.ended IS NOT NULL THEN DELETE FROM crawl_lanes l WHERE l.crawl_id = ANY (due.ended); END IF;
      -- Locked, or forgotten: then the next take finds it.
      IF due.closed IS NOT NULL THEN
        INSERT INTO web_hosts (host, next_at, interval_ms) SELECT name, 0, 0 FROM unnest(due.closed) AS name
          WHERE NOT EXISTS (SELECT 1 FROM web_hosts h WHERE h.host = name) ON CONFLICT (host) DO NOTHING;
      END IF;
      looked := looked + due.looked;
      stuck := due.looked - cardinality(due.hosts);
      EXIT WHEN due.looked = 0;
      CONTINUE WHEN due.hosts = '{}';

      RETURN QUERY WITH lanes AS MATERIALIZED (
        SELECT given.place, l.crawl_id, l.host, l.waiting, c.owner, c.delay_ms, h.next_at,
            least(c.concurrency_max, c.pages_max - c.completed) AS pages_at_once,
            greatest(h.interval_ms, general_ms) AS pause,
            -- A host's own pause is kept exactly; the general rate over a second.
            CASE WHEN h.interval_ms > 0 THEN 0 ELSE greatest(0, burst_ms - greatest(h.interval_ms, general_ms)) END AS tolerance
          FROM unnest(due.crawl_ids, due.hosts) WITH ORDINALITY AS given (crawl_id, host, place)
          JOIN crawl_lanes l ON l.crawl_id = given.crawl_id AND l.host = given.host
          JOIN crawls c ON c.id = l.crawl_id JOIN web_hosts h ON h.host = l.host
      ), crawl_rooms AS MATERIALIZED (
        SELECT crawl_id, pages_at_once - (
            SELECT count(*) FROM crawl_pages p WHERE p.crawl_id = each.crawl_id AND p.lease_token IS NOT NULL) AS room
          FROM (SELECT DISTINCT crawl_id, pages_at_once FROM lanes) AS each
      ), owner_rooms AS MATERIALIZED (
        -- What this process has left is what others leave of its pages, less the owner's own.
        SELECT owner, CASE WHEN owner_share IS NULL THEN take_max
            ELSE greatest(1, floor((take_max - taken + owned) * owner_share))::bigint - owned END AS room
          FROM (
            SELECT owner, (SELECT count(*) FROM crawl_pages p JOIN crawls c ON c.id = p.crawl_id
                WHERE p.lease_token = token AND c.owner = each.owner) AS owned
              FROM (SELECT DISTINCT owner FROM lanes) AS each
          ) AS owners
      ), host_rooms AS MATERIALIZED (
        SELECT host, paced, least(paced, connections_max - (
            SELECT count(*) FROM crawl_pages p WHERE p.host = each.host AND p.lease_token IS NOT NULL)) AS room
          FROM (
            SELECT DISTINCT host, CASE WHEN next_at > now_at + tolerance THEN 0 WHEN pause = 0 THEN take_max
              ELSE (now_at + tolerance - greatest(next_at, now_at)) / pause + 1 END AS paced FROM lanes
          ) AS each
      ), wishes AS MATERIALIZED (
        SELECT lanes.*, c.room AS crawl_room, o.room AS owner_room, h.room AS host_room, h.paced,
            least(lanes.waiting, CASE WHEN lanes.delay_ms > 0 THEN 1 ELSE take_max END) AS wish
          FROM lanes JOIN crawl_rooms c ON c.crawl_id = lanes.crawl_id JOIN owner_rooms o ON o.owner = lanes.owner
            JOIN host_rooms h ON h.host = lanes.host
      ), by_host AS MATERIALIZED (
        SELECT *, greatest(0, least(wish, host_room - coalesce(sum(wish) OVER earlier, 0))) AS host_share FROM wishes
          WINDOW earlier AS (PARTITION BY host ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
      ), by_crawl AS MATERIALIZED (
        SELECT *, greatest(0, least(host_share, crawl_room - coalesce(sum(host_share) OVER earlier, 0))) AS crawl_share
          FROM by_host
          WINDOW earlier AS (PARTITION BY crawl_id ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
      ), by_owner AS MATERIALIZED (
        SELECT *, greatest(0, least(crawl_share, owner_room - coalesce(sum(crawl_share) OVER earlier, 0))) AS share
          FROM by_crawl
          WINDOW earlier AS (PARTITION BY owner ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
      ), rooms AS MATERIALIZED (
        SELECT *, greatest(0, least(share, take_max - taken - coalesce(sum(share) OVER earlier, 0)))::bigint AS room FROM by_owner
          WINDOW earlier AS (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
      ), chosen AS MATERIALIZED (
        SELECT rooms.crawl_id, rooms.host, rooms.pause, w.number FROM rooms CROSS JOIN LATERAL (
            SELECT p.number FROM crawl_pages p WHERE p.crawl_id = rooms.crawl_id AND p.host = rooms.host AND p.state = 0
              ORDER BY p.crawl_id, p.host, p.number LIMIT rooms.room
          ) AS w WHERE rooms.room > 0
      ), moved_lanes AS (
        UPDATE crawl_lanes l SET waiting = l.waiting - got.count, ready_at = CASE
            WHEN rooms.share > 0 THEN now_at + rooms.delay_ms
            WHEN rooms.paced > 0 THEN now_at + busy_ms
            ELSE greatest(now_at + 1, rooms.next_at - rooms.tolerance) END
          FROM rooms CROSS JOIN LATERAL (
            SELECT count(*) FROM chosen WHERE chosen.crawl_id = rooms.crawl_id AND chosen.host = rooms.host
          ) AS got
          -- A lane for which only this take has no room stays due.
          WHERE l.crawl_id = rooms.crawl_id AND l.host = rooms.host AND (rooms.room > 0 OR rooms.share = 0)
      ), moved_hosts AS (
        UPDATE web_hosts h SET next_at = greatest(h.next_at, now_at) + got.count * got.pause
          FROM (SELECT host, pause, count(*) FROM chosen GROUP BY host, pause) AS got
          WHERE h.host = got.host AND got.pause > 0
      )
      UPDATE crawl_pages p SET state = 1, attempts = p.attempts + 1, lease_token = token, lease_until = until
        FROM chosen WHERE p.crawl_id = chosen.crawl_id AND p.number = chosen.number RETURNING p.*;
      GET DIAGNOSTICS got = ROW_COUNT;
      taken := taken + got;
    END LOOP;
  END $$;

ALTER TABLE generations DISABLE TRIGGER USER;
TRUNCATE ledger_state;
INSERT INTO accounts (id, kind, name, parent_id, chain, prepaid, max_budget, period, credits_posted, debits_posted, debits_pending, period_start, period_debits, created_at, minute_start, minute_requests, minute_tokens, open_calls) VALUES ('user:ann', 'user', 'ann', NULL, '{user:ann}', true, NULL, NULL, 10000, 43, 600, 0, 43, 1795694400000, 0, 0, 0, 0);
INSERT INTO accounts (id, kind, name, parent_id, chain, prepaid, max_budget, period, credits_posted, debits_posted, debits_pending, period_start, period_debits, created_at, minute_start, minute_requests, minute_tokens, open_calls) VALUES ('token:ann-1', 'token', 'ann-1', 'user:ann', '{token:ann-1,user:ann}', false, NULL, NULL, 0, 43, 600, 0, 43, 1795694400000, 1795694400000, 8, 0, 6);
INSERT INTO daily_sums (owner, day, account_id, provider, model, requests, input_tokens, output_tokens, credits, removed_requests, removed_input_tokens, removed_output_tokens, removed_credits) VALUES ('ann', 20783, 'token:ann-1', 'claude', 'some-model', 1, 9, 0, 40, 0, 0, 0, 0);
INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at, corrects_at, corrects_shortfall) VALUES ('grant', 'grant', 'bank', 'user:ann', 10000, 0, 0, 1795694400000, NULL, NULL);
INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at, corrects_at, corrects_shortfall) VALUES ('ended', 'settle', 'token:ann-1', 'revenue', 40, 100, 0, 1795694400001, NULL, NULL);
INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at, corrects_at, corrects_shortfall) VALUES ('answered', 'settle', 'token:ann-1', 'revenue', 3, 100, 0, 1795694400001, NULL, NULL);
INSERT INTO generations (id, owner, account_id, operation, dialect, provider, model, streamed, status, outcome, usage, input_tokens, output_tokens, credits, ms, first_byte_ms, started_at, parent) VALUES ('ended', 'ann', 'token:ann-1', 'chat', 'messages', 'claude', 'some-model', true, 200, 'complete', '{"input":9}', 9, 0, 40, 1.5, NULL, 1795694400000, NULL);
INSERT INTO holds (id, account_id, amount, purpose, observed, lease_until, created_at, tokens, retry_key, keeper, parent) VALUES ('open-claim', 'token:ann-1', 100, 'responses openai/o''del', NULL, 1795694520000, 1795694400000, 0, 'running', 'process', NULL);
INSERT INTO holds (id, account_id, amount, purpose, observed, lease_until, created_at, tokens, retry_key, keeper, parent) VALUES ('left-job', 'token:ann-1', 100, 'video_generation xai/imagine', NULL, 1795694520000, 1795694400000, 0, NULL, 'process', NULL);
INSERT INTO holds (id, account_id, amount, purpose, observed, lease_until, created_at, tokens, retry_key, keeper, parent) VALUES ('open-bare', 'token:ann-1', 100, 'rerank', NULL, 1795694520000, 1795694400000, 0, NULL, 'process', NULL);
INSERT INTO holds (id, account_id, amount, purpose, observed, lease_until, created_at, tokens, retry_key, keeper, parent) VALUES ('open-chat', 'token:ann-1', 100, 'chat ollama/org/some model:7b', 15, 1795694520000, 1795694400000, 0, NULL, 'process', NULL);
INSERT INTO holds (id, account_id, amount, purpose, observed, lease_until, created_at, tokens, retry_key, keeper, parent) VALUES ('open-video', 'token:ann-1', 100, 'video_generation xai/imagine', NULL, 1795780800000, 1795694400000, 0, NULL, 'job', 'series-1');
INSERT INTO holds (id, account_id, amount, purpose, observed, lease_until, created_at, tokens, retry_key, keeper, parent) VALUES ('open-page', 'token:ann-1', 100, 'crawl web/native', NULL, 1795694580000, 1795694400000, 0, NULL, 'job', 'crawl-1');
INSERT INTO jobs (id, kind, owner, payload, run_at, attempts, lease_token, lease_node, lease_until, created_at) VALUES ('open-video', 'video', 'ann', '{"parked":{"id":"open-video"}}', 1795694400000, 0, 't', 'n', 1795694460000, 1795694400000);
INSERT INTO jobs (id, kind, owner, payload, run_at, attempts, lease_token, lease_node, lease_until, created_at) VALUES ('left-job', 'video', 'ann', '{"parked":{"id":"left-job"}}', 1795694400000, 0, 't', 'n', 1795694460000, 1795694400000);
INSERT INTO ledger_state (timezone, closed_before, sealed_before, sealed_entries, sealed_shortfall, removed_before) VALUES ('UTC', 0, 0, 0, 0, 0);
INSERT INTO retry_keys (account_id, key, fingerprint, hold_id, status, headers, body, kept_until) VALUES ('token:ann-1', 'answered', 'of answered', 'answered', 200, '[["content-type","application/json"]]', '\x7b226e223a317d', 1795780800001);
INSERT INTO retry_keys (account_id, key, fingerprint, hold_id, status, headers, body, kept_until) VALUES ('token:ann-1', 'running', 'of running', 'open-claim', NULL, NULL, NULL, 1795780800000);
INSERT INTO videos (id, video_id, provider, key_id, owner, account_id, model, operation, source_id, webhook_url, retry_key, fingerprint, requested, state, answer, created_answer, credits, created_at, polled_at, kept_until) VALUES ('open-video', 'vid_1', 'xai', 'k1', 'ann', 'token:ann-1', 'imagine', 'video_generation', NULL, NULL, 'of-video', 'of video', '{"seconds":4}', '{"status":"queued","urls":[]}', '{"id":"vid_1"}', '{"id":"vid_1","status":"queued"}', NULL, 1795694400000, 1795694400000, 1798286400000);
INSERT INTO videos (id, video_id, provider, key_id, owner, account_id, model, operation, source_id, webhook_url, retry_key, fingerprint, requested, state, answer, created_answer, credits, created_at, polled_at, kept_until) VALUES ('left-job', NULL, 'xai', NULL, 'ann', 'token:ann-1', 'imagine', 'video_generation', NULL, NULL, 'unanswered', 'of unanswered', '{"seconds":4}', '{"status":"queued","urls":[]}', '{}', NULL, NULL, 1795694400000, 1795694400000, 1798286400000);
ALTER TABLE generations ENABLE TRIGGER USER;
CREATE TABLE tollgate_schema (version bigint NOT NULL);
INSERT INTO tollgate_schema VALUES (19);
