-- A database of the version whose schema ended with step 4: the statements of these steps, and the rows that its stores wrote.
-- before-jobs.json is what that version read from it.

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

  CREATE FUNCTION ledger_rates(requests bigint, tokens bigint, calls bigint, began bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT json_build_object('requests', requests, 'tokens', tokens, 'calls', calls, 'minuteEndsAt', began + 60000)::text
  $$;

  CREATE FUNCTION ledger_commit(
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
          e.amount AS before, coalesce(l.shortfall, e.shortfall) AS figure,
          CASE WHEN o.kind = 'hold' THEN 0 ELSE coalesce(h.amount, 0) END AS held,
          CASE o.kind WHEN 'release' THEN 0 WHEN 'expire' THEN coalesce(h.observed, 0) WHEN 'top-up' THEN o.amount - h.amount
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
          spent[i] := greatest(spent[i] + charge, 0);
          i := parents[i];
        END LOOP;
      END LOOP;
      PERFORM ledger_write(ops[from_place:to_place], outcomes[from_place:to_place], payers[from_place:to_place],
        charges[from_place:to_place], befores[from_place:to_place], figures[from_place:to_place], keys[from_place:to_place]);
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
  CREATE FUNCTION ledger_owner(account text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce(
      (SELECT u.name FROM unnest(a.chain) WITH ORDINALITY l (id, level)
        JOIN accounts u ON u.id = l.id AND u.kind = 'user' ORDER BY l.level LIMIT 1),
      (SELECT t.user_name FROM tokens t WHERE t.account_id = a.id LIMIT 1),
      a.name)
    FROM accounts a WHERE a.id = account COLLATE "C"
  $$;

  CREATE FUNCTION ledger_write(
    ops ledger_operation[], outcomes text[],
    payers text[], charges bigint[], befores bigint[], shortfalls bigint[], keys text[]
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
      INSERT INTO holds (id, account_id, amount, purpose, lease_until, created_at, tokens, retry_key)
        SELECT o.id, o.account, o.amount, o.purpose, o.lease_until, o.at, o.tokens, o.retry_key
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
      UPDATE holds h SET lease_until = o.lease_until, observed = coalesce(o.amount, h.observed)
        FROM unnest(outcomes, ops) AS o (outcome) WHERE o.outcome = 'renewed' AND h.id = o.id;
    END IF;

    IF 'granted' = ANY (done) THEN
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
        SELECT o.id, 'grant', 'bank', o.account, o.amount, 0, 0, o.at
        FROM unnest(outcomes, ops) AS o (outcome) WHERE o.outcome = 'granted';
    END IF;

    IF done && '{settled, released, expired}' THEN
      IF 'expired' = ANY (done) THEN
        INSERT INTO generations (id, owner, account_id, operation, provider, model, streamed, status, outcome, usage,
            input_tokens, output_tokens, credits, ms, started_at)
          SELECT h.id, coalesce(ledger_owner(h.account_id), ''), h.account_id, p.words[1], p.words[2], p.words[3],
            false, 0, 'expired', '{}', 0, 0, o.charge, o.at - h.created_at, h.created_at
          FROM unnest(outcomes, charges, ops) AS o (outcome, charge)
          JOIN holds h ON h.id = o.id
          CROSS JOIN regexp_match(h.purpose, '^(\S*) ?([^/]*)/?(.*)$') AS p (words)
          WHERE o.outcome = 'expired';
      END IF;
      WITH gone AS (
        DELETE FROM holds h USING unnest(charges, befores, shortfalls, ops) AS o (charge, before, shortfall)
          WHERE o.charge IS NOT NULL AND o.before IS NULL AND h.id = o.id
          RETURNING h.id, o.kind, h.account_id, o.charge, h.amount, o.shortfall, o.at
      )
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
        SELECT g.id, g.kind, g.account_id, 'revenue', g.charge, g.amount, g.shortfall, g.at FROM gone g;
      IF array_remove(keys, NULL) <> '{}' THEN
        UPDATE retry_keys k SET status = o.status, headers = o.headers, body = decode(o.body, 'base64'), kept_until = o.kept_until
          FROM unnest(payers, keys, ops) AS o (payer, held_key)
          WHERE o.status IS NOT NULL AND k.account_id = o.payer AND k.key = o.held_key AND k.hold_id = o.id;
        DELETE FROM retry_keys k USING unnest(payers, keys, ops) AS o (payer, held_key)
          WHERE o.status IS NULL AND k.account_id = o.payer AND k.key = o.held_key AND k.hold_id = o.id;
      END IF;
    END IF;

    IF 'late' = ANY (done) THEN
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
        SELECT o.id || ':late', 'settle', CASE WHEN o.charge < 0 THEN 'revenue' ELSE o.payer END,
          CASE WHEN o.charge < 0 THEN o.payer ELSE 'revenue' END, abs(o.charge), 0, o.shortfall, o.at
        FROM unnest(payers, charges, befores, shortfalls, ops) AS o (payer, charge, before, shortfall)
        WHERE o.before IS NOT NULL;
      UPDATE generations g SET credits = o.before + o.charge FROM unnest(charges, befores, ops) AS o (charge, before)
        WHERE o.before IS NOT NULL AND o.record IS NULL AND g.id = o.id;
      DELETE FROM generations g USING unnest(befores, ops) AS o (before)
        WHERE o.before IS NOT NULL AND o.record IS NOT NULL AND g.id = o.id;
    END IF;

    IF done && '{settled, released, late}' THEN
      INSERT INTO generations (id, owner, account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
          input_tokens, output_tokens, credits, ms, first_byte_ms, started_at)
        SELECT o.id, r.owner, o.payer, r.operation, r.dialect, r.provider, r.model, r.streamed, r.status, r.outcome, r.usage,
          r.input_tokens, r.output_tokens, o.charge + coalesce(o.before, 0), r.ms, r.first_byte_ms, r.started_at
        FROM unnest(payers, charges, befores, ops) AS o (payer, charge, before)
        CROSS JOIN json_populate_record(NULL::generations, o.record) r
        WHERE o.charge IS NOT NULL AND o.record IS NOT NULL;
    END IF;
  END $$;

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

  CREATE TYPE ledger_plain_link AS (taken bigint, id text COLLATE "C", parentId text COLLATE "C", requests bigint, tokens bigint, since bigint, returned bigint, posted bigint, ended bigint, excess bigint, takenFirst bigint, takenLast bigint, rated boolean, requestsRoom bigint, tokensRoom bigint, callsRoom bigint);
  CREATE TYPE ledger_plain_hold AS (amount bigint, id text COLLATE "C", account text COLLATE "C", purpose text COLLATE "C", lease bigint, at bigint, tokens bigint);
  CREATE TYPE ledger_plain_end AS (kind text COLLATE "C", id text COLLATE "C", account text COLLATE "C", held bigint, charge bigint, at bigint, owner text COLLATE "C", operation text COLLATE "C", dialect text COLLATE "C", provider text COLLATE "C", model text COLLATE "C", streamed boolean, status bigint, outcome text COLLATE "C", usage text COLLATE "C", input_tokens bigint, output_tokens bigint, ms double precision, first_byte_ms double precision, started_at bigint);
  CREATE TYPE ledger_plain_change AS (id text COLLATE "C", account text COLLATE "C", held bigint, amount bigint, lease bigint, observed bigint);

  CREATE FUNCTION ledger_commit_plain(
    latest bigint, -- the time of the latest operation
    first_id text, last_id text, -- of new holds
    are_rated boolean, -- whether new holds have limits
    links ledger_plain_link[], holds ledger_plain_hold[], ends ledger_plain_end[], changes ledger_plain_change[]
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
      INSERT INTO holds (id, account_id, amount, purpose, lease_until, created_at, tokens)
        SELECT o.id, o.account, o.amount, o.purpose, o.lease, o.at, o.tokens FROM unnest(holds) o
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
        SELECT o.id, o.kind, o.account, 'revenue', o.charge, o.held, 0, o.at FROM unnest(ends) o;
      INSERT INTO generations (id, owner, account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
          input_tokens, output_tokens, credits, ms, first_byte_ms, started_at)
        SELECT o.id, o.owner, o.account, o.operation, o.dialect, o.provider, o.model, o.streamed, o.status, o.outcome, o.usage,
          o.input_tokens, o.output_tokens, o.charge, o.ms, o.first_byte_ms, o.started_at
        FROM unnest(ends) o WHERE o.owner IS NOT NULL;
    END IF;

    IF cardinality(changes) > 0 THEN
      UPDATE holds h SET lease_until = coalesce(o.lease, h.lease_until), observed = coalesce(o.observed, h.observed),
          amount = o.amount
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
INSERT INTO accounts (id, kind, name, parent_id, prepaid, max_budget, period, credits_posted, debits_posted, debits_pending, period_start, period_debits, created_at, minute_start, minute_requests, minute_tokens, open_calls) VALUES
  ('organisation:acme', 'organisation', 'acme', NULL, false, 50000, 'monthly', 0, 8636, 440, 1793491200000, 8636, 1795348800000, 0, 0, 0, 0),
  ('token:robot', 'token', 'robot', NULL, false, NULL, NULL, 0, 44, 70, 0, 44, 1795348800000, 1795349400003, 1, 40, 1),
  ('user:ben', 'user', 'ben', NULL, true, NULL, NULL, 500, 500, 0, 0, 500, 1795348800000, 0, 0, 0, 0),
  ('token:ben-1', 'token', 'ben-1', 'user:ben', false, NULL, NULL, 0, 500, 0, 0, 500, 1795348800000, 1795348800000, 2, 40, 0),
  ('user:ann', 'user', 'ann', 'organisation:acme', true, NULL, NULL, 20000, 8636, 440, 0, 8636, 1795348800000, 0, 0, 0, 0),
  ('token:ann-1', 'token', 'ann-1', 'user:ann', false, 9000, 'daily', 0, 251, 350, 1795305600000, 251, 1795348800000, 1795349400000, 3, 380, 3),
  ('token:ann-2', 'token', 'ann-2', 'user:ann', false, NULL, NULL, 0, 8385, 90, 0, 8385, 1795348800000, 1795349400004, 1, 40, 1);

INSERT INTO tokens (id, secret_hash, user_name, account_id, service, admin, models, rpm, concurrency, expires_at, revoked_at, created_at, tpm) VALUES
  ('ann-1', '\x0505050505050505050505050505050505050505050505050505050505050505', 'ann', 'token:ann-1', false, false, 'openai/*,claude/?', 60, 9, NULL, NULL, 1795348800000, 9000),
  ('ann-2', '\x0505050505050505050505050505050505050505050505050505050505050505', 'ann', 'token:ann-2', false, false, NULL, NULL, NULL, 1796348800000, 1795348800005, 1795348800000, NULL),
  ('ben-1', '\x0505050505050505050505050505050505050505050505050505050505050505', 'ben', 'token:ben-1', false, true, NULL, NULL, NULL, NULL, NULL, 1795348800000, NULL),
  ('robot', '\x0505050505050505050505050505050505050505050505050505050505050505', 'machine', 'token:robot', true, false, NULL, NULL, NULL, NULL, NULL, 1795348800000, NULL);

INSERT INTO holds (id, account_id, amount, purpose, observed, lease_until, created_at, tokens, retry_key) VALUES
  ('open-plain', 'token:ann-1', 100, 'chat claude/some-model', NULL, 1795349520000, 1795349400000, 40, NULL),
  ('open-observed', 'token:ann-1', 200, 'chat claude/some-model', 150, 1795349580000, 1795349400001, 300, NULL),
  ('open-claim', 'token:ann-1', 50, 'chat claude/some-model', NULL, 1795349520000, 1795349400002, 40, 'running'),
  ('open-robot', 'token:robot', 70, 'chat openai/o''del', NULL, 1795349520000, 1795349400003, 40, NULL),
  ('open-raised', 'token:ann-2', 90, 'chat claude/some-model', NULL, 1795349520000, 1795349400004, 40, NULL);

INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at) VALUES
  ('answered', 'settle', 'token:ann-1', 'revenue', 12, 30, 0, 1795348800007),
  ('expired-free', 'expire', 'token:ann-1', 'revenue', 0, 50, 0, 1795348920000),
  ('expired-key', 'expire', 'token:ann-1', 'revenue', 0, 50, 0, 1795348920000),
  ('expired-late-less', 'expire', 'token:ann-1', 'revenue', 20, 50, 0, 1795348920000),
  ('expired-late-less:late', 'settle', 'revenue', 'token:ann-1', 15, 0, 0, 1795348980000),
  ('expired-late-more', 'expire', 'token:ann-1', 'revenue', 20, 50, 0, 1795348920000),
  ('expired-late-more:late', 'settle', 'token:ann-1', 'revenue', 15, 0, 0, 1795348980000),
  ('expired-late-release', 'expire', 'token:ann-1', 'revenue', 20, 50, 0, 1795348920000),
  ('expired-late-release:late', 'settle', 'revenue', 'token:ann-1', 20, 0, 0, 1795348980000),
  ('expired-late-unrecorded', 'expire', 'token:ann-1', 'revenue', 20, 50, 0, 1795348920000),
  ('expired-late-unrecorded:late', 'settle', 'token:ann-1', 'revenue', 13, 0, 0, 1795348980000),
  ('expired-observed', 'expire', 'token:ann-1', 'revenue', 20, 50, 0, 1795348920000),
  ('expired-robot', 'expire', 'token:robot', 'revenue', 44, 50, 0, 1795348920000),
  ('grant-ann', 'grant', 'bank', 'user:ann', 20000, 0, 0, 1795348800000),
  ('grant-ben', 'grant', 'bank', 'user:ben', 500, 0, 0, 1795348800000),
  ('many-000', 'settle', 'token:ann-2', 'revenue', 0, 20, 0, 1795348800000),
  ('many-001', 'settle', 'token:ann-2', 'revenue', 1, 20, 0, 1795348800001),
  ('many-002', 'settle', 'token:ann-2', 'revenue', 2, 20, 0, 1795348800002),
  ('many-003', 'settle', 'token:ann-2', 'revenue', 3, 20, 0, 1795348800003),
  ('many-004', 'settle', 'token:ann-2', 'revenue', 4, 20, 0, 1795348800004),
  ('many-005', 'settle', 'token:ann-2', 'revenue', 5, 20, 0, 1795348800005),
  ('many-006', 'settle', 'token:ann-2', 'revenue', 6, 20, 0, 1795348800006),
  ('many-007', 'settle', 'token:ann-2', 'revenue', 7, 20, 0, 1795348800007),
  ('many-008', 'settle', 'token:ann-2', 'revenue', 8, 20, 0, 1795348800008),
  ('many-009', 'settle', 'token:ann-2', 'revenue', 9, 20, 0, 1795348800009),
  ('many-010', 'settle', 'token:ann-2', 'revenue', 10, 20, 0, 1795348800010),
  ('many-011', 'settle', 'token:ann-2', 'revenue', 11, 20, 0, 1795348800011),
  ('many-012', 'settle', 'token:ann-2', 'revenue', 12, 20, 0, 1795348800012),
  ('many-013', 'settle', 'token:ann-2', 'revenue', 13, 20, 0, 1795348800013),
  ('many-014', 'settle', 'token:ann-2', 'revenue', 14, 20, 0, 1795348800014),
  ('many-015', 'settle', 'token:ann-2', 'revenue', 15, 20, 0, 1795348800015),
  ('many-016', 'settle', 'token:ann-2', 'revenue', 16, 20, 0, 1795348800016),
  ('many-017', 'settle', 'token:ann-2', 'revenue', 17, 20, 0, 1795348800017),
  ('many-018', 'settle', 'token:ann-2', 'revenue', 18, 20, 0, 1795348800018),
  ('many-019', 'settle', 'token:ann-2', 'revenue', 19, 20, 0, 1795348800019),
  ('many-020', 'settle', 'token:ann-2', 'revenue', 20, 20, 0, 1795348800020),
  ('many-021', 'settle', 'token:ann-2', 'revenue', 21, 20, 0, 1795348800021),
  ('many-022', 'settle', 'token:ann-2', 'revenue', 22, 20, 0, 1795348800022),
  ('many-023', 'settle', 'token:ann-2', 'revenue', 23, 20, 0, 1795348800023),
  ('many-024', 'settle', 'token:ann-2', 'revenue', 24, 20, 0, 1795348800024),
  ('many-025', 'settle', 'token:ann-2', 'revenue', 25, 20, 0, 1795348800025),
  ('many-026', 'settle', 'token:ann-2', 'revenue', 26, 20, 0, 1795348800000),
  ('many-027', 'settle', 'token:ann-2', 'revenue', 27, 20, 0, 1795348800001),
  ('many-028', 'settle', 'token:ann-2', 'revenue', 28, 20, 0, 1795348800002),
  ('many-029', 'settle', 'token:ann-2', 'revenue', 29, 20, 0, 1795348800003),
  ('many-030', 'settle', 'token:ann-2', 'revenue', 30, 20, 0, 1795348800004),
  ('many-031', 'settle', 'token:ann-2', 'revenue', 31, 20, 0, 1795348800005),
  ('many-032', 'settle', 'token:ann-2', 'revenue', 32, 20, 0, 1795348800006),
  ('many-033', 'settle', 'token:ann-2', 'revenue', 33, 20, 0, 1795348800007),
  ('many-034', 'settle', 'token:ann-2', 'revenue', 34, 20, 0, 1795348800008),
  ('many-035', 'settle', 'token:ann-2', 'revenue', 35, 20, 0, 1795348800009),
  ('many-036', 'settle', 'token:ann-2', 'revenue', 36, 20, 0, 1795348800010),
  ('many-037', 'settle', 'token:ann-2', 'revenue', 37, 20, 0, 1795348800011),
  ('many-038', 'settle', 'token:ann-2', 'revenue', 38, 20, 0, 1795348800012),
  ('many-039', 'settle', 'token:ann-2', 'revenue', 39, 20, 0, 1795348800013),
  ('many-040', 'settle', 'token:ann-2', 'revenue', 40, 20, 0, 1795348800014),
  ('many-041', 'settle', 'token:ann-2', 'revenue', 41, 20, 0, 1795348800015),
  ('many-042', 'settle', 'token:ann-2', 'revenue', 42, 20, 0, 1795348800016),
  ('many-043', 'settle', 'token:ann-2', 'revenue', 43, 20, 0, 1795348800017),
  ('many-044', 'settle', 'token:ann-2', 'revenue', 44, 20, 0, 1795348800018),
  ('many-045', 'settle', 'token:ann-2', 'revenue', 45, 20, 0, 1795348800019),
  ('many-046', 'settle', 'token:ann-2', 'revenue', 46, 20, 0, 1795348800020),
  ('many-047', 'settle', 'token:ann-2', 'revenue', 47, 20, 0, 1795348800021),
  ('many-048', 'settle', 'token:ann-2', 'revenue', 48, 20, 0, 1795348800022),
  ('many-049', 'settle', 'token:ann-2', 'revenue', 49, 20, 0, 1795348800023),
  ('many-050', 'settle', 'token:ann-2', 'revenue', 50, 20, 0, 1795348800024),
  ('many-051', 'settle', 'token:ann-2', 'revenue', 51, 20, 0, 1795348800025),
  ('many-052', 'settle', 'token:ann-2', 'revenue', 52, 20, 0, 1795348800000),
  ('many-053', 'settle', 'token:ann-2', 'revenue', 53, 20, 0, 1795348800001),
  ('many-054', 'settle', 'token:ann-2', 'revenue', 54, 20, 0, 1795348800002),
  ('many-055', 'settle', 'token:ann-2', 'revenue', 55, 20, 0, 1795348800003),
  ('many-056', 'settle', 'token:ann-2', 'revenue', 56, 20, 0, 1795348800004),
  ('many-057', 'settle', 'token:ann-2', 'revenue', 57, 20, 0, 1795348800005),
  ('many-058', 'settle', 'token:ann-2', 'revenue', 58, 20, 0, 1795348800006),
  ('many-059', 'settle', 'token:ann-2', 'revenue', 59, 20, 0, 1795348800007),
  ('many-060', 'settle', 'token:ann-2', 'revenue', 60, 20, 0, 1795348800008),
  ('many-061', 'settle', 'token:ann-2', 'revenue', 61, 20, 0, 1795348800009),
  ('many-062', 'settle', 'token:ann-2', 'revenue', 62, 20, 0, 1795348800010),
  ('many-063', 'settle', 'token:ann-2', 'revenue', 63, 20, 0, 1795348800011),
  ('many-064', 'settle', 'token:ann-2', 'revenue', 64, 20, 0, 1795348800012),
  ('many-065', 'settle', 'token:ann-2', 'revenue', 65, 20, 0, 1795348800013),
  ('many-066', 'settle', 'token:ann-2', 'revenue', 66, 20, 0, 1795348800014),
  ('many-067', 'settle', 'token:ann-2', 'revenue', 67, 20, 0, 1795348800015),
  ('many-068', 'settle', 'token:ann-2', 'revenue', 68, 20, 0, 1795348800016),
  ('many-069', 'settle', 'token:ann-2', 'revenue', 69, 20, 0, 1795348800017),
  ('many-070', 'settle', 'token:ann-2', 'revenue', 70, 20, 0, 1795348800018),
  ('many-071', 'settle', 'token:ann-2', 'revenue', 71, 20, 0, 1795348800019),
  ('many-072', 'settle', 'token:ann-2', 'revenue', 72, 20, 0, 1795348800020),
  ('many-073', 'settle', 'token:ann-2', 'revenue', 73, 20, 0, 1795348800021),
  ('many-074', 'settle', 'token:ann-2', 'revenue', 74, 20, 0, 1795348800022),
  ('many-075', 'settle', 'token:ann-2', 'revenue', 75, 20, 0, 1795348800023),
  ('many-076', 'settle', 'token:ann-2', 'revenue', 76, 20, 0, 1795348800024),
  ('many-077', 'settle', 'token:ann-2', 'revenue', 77, 20, 0, 1795348800025),
  ('many-078', 'settle', 'token:ann-2', 'revenue', 78, 20, 0, 1795348800000),
  ('many-079', 'settle', 'token:ann-2', 'revenue', 79, 20, 0, 1795348800001),
  ('many-080', 'settle', 'token:ann-2', 'revenue', 80, 20, 0, 1795348800002),
  ('many-081', 'settle', 'token:ann-2', 'revenue', 81, 20, 0, 1795348800003),
  ('many-082', 'settle', 'token:ann-2', 'revenue', 82, 20, 0, 1795348800004),
  ('many-083', 'settle', 'token:ann-2', 'revenue', 83, 20, 0, 1795348800005),
  ('many-084', 'settle', 'token:ann-2', 'revenue', 84, 20, 0, 1795348800006),
  ('many-085', 'settle', 'token:ann-2', 'revenue', 85, 20, 0, 1795348800007),
  ('many-086', 'settle', 'token:ann-2', 'revenue', 86, 20, 0, 1795348800008),
  ('many-087', 'settle', 'token:ann-2', 'revenue', 87, 20, 0, 1795348800009),
  ('many-088', 'settle', 'token:ann-2', 'revenue', 88, 20, 0, 1795348800010),
  ('many-089', 'settle', 'token:ann-2', 'revenue', 89, 20, 0, 1795348800011),
  ('many-090', 'settle', 'token:ann-2', 'revenue', 90, 20, 0, 1795348800012),
  ('many-091', 'settle', 'token:ann-2', 'revenue', 91, 20, 0, 1795348800013),
  ('many-092', 'settle', 'token:ann-2', 'revenue', 92, 20, 0, 1795348800014),
  ('many-093', 'settle', 'token:ann-2', 'revenue', 93, 20, 0, 1795348800015),
  ('many-094', 'settle', 'token:ann-2', 'revenue', 94, 20, 0, 1795348800016),
  ('many-095', 'settle', 'token:ann-2', 'revenue', 95, 20, 0, 1795348800017),
  ('many-096', 'settle', 'token:ann-2', 'revenue', 96, 20, 0, 1795348800018),
  ('many-097', 'settle', 'token:ann-2', 'revenue', 97, 20, 0, 1795348800019),
  ('many-098', 'settle', 'token:ann-2', 'revenue', 98, 20, 0, 1795348800020),
  ('many-099', 'settle', 'token:ann-2', 'revenue', 99, 20, 0, 1795348800021),
  ('many-100', 'settle', 'token:ann-2', 'revenue', 100, 20, 0, 1795348800022),
  ('many-101', 'settle', 'token:ann-2', 'revenue', 101, 20, 0, 1795348800023),
  ('many-102', 'settle', 'token:ann-2', 'revenue', 102, 20, 0, 1795348800024),
  ('many-103', 'settle', 'token:ann-2', 'revenue', 103, 20, 0, 1795348800025),
  ('many-104', 'settle', 'token:ann-2', 'revenue', 104, 20, 0, 1795348800000),
  ('many-105', 'settle', 'token:ann-2', 'revenue', 105, 20, 0, 1795348800001),
  ('many-106', 'settle', 'token:ann-2', 'revenue', 106, 20, 0, 1795348800002),
  ('many-107', 'settle', 'token:ann-2', 'revenue', 107, 20, 0, 1795348800003),
  ('many-108', 'settle', 'token:ann-2', 'revenue', 108, 20, 0, 1795348800004),
  ('many-109', 'settle', 'token:ann-2', 'revenue', 109, 20, 0, 1795348800005),
  ('many-110', 'settle', 'token:ann-2', 'revenue', 110, 20, 0, 1795348800006),
  ('many-111', 'settle', 'token:ann-2', 'revenue', 111, 20, 0, 1795348800007),
  ('many-112', 'settle', 'token:ann-2', 'revenue', 112, 20, 0, 1795348800008),
  ('many-113', 'settle', 'token:ann-2', 'revenue', 113, 20, 0, 1795348800009),
  ('many-114', 'settle', 'token:ann-2', 'revenue', 114, 20, 0, 1795348800010),
  ('many-115', 'settle', 'token:ann-2', 'revenue', 115, 20, 0, 1795348800011),
  ('many-116', 'settle', 'token:ann-2', 'revenue', 116, 20, 0, 1795348800012),
  ('many-117', 'settle', 'token:ann-2', 'revenue', 117, 20, 0, 1795348800013),
  ('many-118', 'settle', 'token:ann-2', 'revenue', 118, 20, 0, 1795348800014),
  ('many-119', 'settle', 'token:ann-2', 'revenue', 119, 20, 0, 1795348800015),
  ('many-120', 'settle', 'token:ann-2', 'revenue', 120, 20, 0, 1795348800016),
  ('many-121', 'settle', 'token:ann-2', 'revenue', 121, 20, 0, 1795348800017),
  ('many-122', 'settle', 'token:ann-2', 'revenue', 122, 20, 0, 1795348800018),
  ('many-123', 'settle', 'token:ann-2', 'revenue', 123, 20, 0, 1795348800019),
  ('many-124', 'settle', 'token:ann-2', 'revenue', 124, 20, 0, 1795348800020),
  ('many-125', 'settle', 'token:ann-2', 'revenue', 125, 20, 0, 1795348800021),
  ('many-126', 'settle', 'token:ann-2', 'revenue', 126, 20, 0, 1795348800022),
  ('many-127', 'settle', 'token:ann-2', 'revenue', 127, 20, 0, 1795348800023),
  ('many-128', 'settle', 'token:ann-2', 'revenue', 128, 20, 0, 1795348800024),
  ('many-129', 'settle', 'token:ann-2', 'revenue', 129, 20, 0, 1795348800025),
  ('released', 'release', 'token:ann-1', 'revenue', 0, 70, 0, 1795348800004),
  ('released-unrecorded', 'release', 'token:ben-1', 'revenue', 0, 70, 0, 1795348800005),
  ('settled-above', 'settle', 'token:ann-1', 'revenue', 90, 60, 0, 1795348800002),
  ('settled-below', 'settle', 'token:ann-1', 'revenue', 25, 60, 0, 1795348800001),
  ('settled-unrecorded', 'settle', 'token:ann-1', 'revenue', 11, 60, 0, 1795348800003),
  ('short', 'settle', 'token:ben-1', 'revenue', 500, 100, 200, 1795348800006),
  ('waits-late', 'expire', 'token:ann-1', 'revenue', 20, 50, 0, 1795348920000),
  ('waits-late-free', 'expire', 'token:ann-1', 'revenue', 0, 50, 0, 1795348920000);

INSERT INTO generations (id, owner, account_id, operation, dialect, provider, model, streamed, status, outcome, usage, input_tokens, output_tokens, credits, ms, first_byte_ms, started_at) VALUES
  ('answered', 'ann', 'token:ann-1', 'chat', 'messages', 'claude', 'some-model', true, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 12, 1234.5, 78.25, 1795348800005),
  ('expired-free', 'ann', 'token:ann-1', 'chat', NULL, 'claude', 'some-model', false, 0, 'expired', '{}', 0, 0, 0, 120000, NULL, 1795348800000),
  ('expired-key', 'ann', 'token:ann-1', 'chat', NULL, 'claude', 'some-model', false, 0, 'expired', '{}', 0, 0, 0, 120000, NULL, 1795348800000),
  ('expired-late-less', 'ann', 'token:ann-1', 'chat', 'messages', 'claude', 'some-model', true, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 5, 1234.5, 78.25, 1795348800007),
  ('expired-late-more', 'ann', 'token:ann-1', 'chat', 'messages', 'claude', 'some-model', true, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 35, 1234.5, 78.25, 1795348800006),
  ('expired-late-release', 'ann', 'token:ann-1', 'chat', 'messages', 'claude', 'some-model', true, 200, 'abandoned', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 0, 1234.5, 78.25, 1795348800008),
  ('expired-late-unrecorded', 'ann', 'token:ann-1', 'chat', NULL, 'claude', 'some-model', false, 0, 'expired', '{}', 0, 0, 33, 120000, NULL, 1795348800000),
  ('expired-observed', 'ann', 'token:ann-1', 'chat', NULL, 'claude', 'some-model', false, 0, 'expired', '{}', 0, 0, 20, 120000, NULL, 1795348800000),
  ('expired-robot', 'machine', 'token:robot', 'images.generate', NULL, 'openai', 'org/model:7b', false, 0, 'expired', '{}', 0, 0, 44, 120000, NULL, 1795348800000),
  ('many-000', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 0, 1234.5, NULL, 1795348800000),
  ('many-001', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 1, 1234.5, NULL, 1795348799999),
  ('many-002', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 2, 1234.5, NULL, 1795348799998),
  ('many-003', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 3, 1234.5, NULL, 1795348799997),
  ('many-004', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 4, 1234.5, NULL, 1795348799996),
  ('many-005', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 5, 1234.5, NULL, 1795348799995),
  ('many-006', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 6, 1234.5, NULL, 1795348799994),
  ('many-007', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 7, 1234.5, NULL, 1795348799993),
  ('many-008', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 8, 1234.5, NULL, 1795348799992),
  ('many-009', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 9, 1234.5, NULL, 1795348799991),
  ('many-010', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 10, 1234.5, NULL, 1795348799990),
  ('many-011', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 11, 1234.5, NULL, 1795348799989),
  ('many-012', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 12, 1234.5, NULL, 1795348799988),
  ('many-013', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 13, 1234.5, NULL, 1795348799987),
  ('many-014', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 14, 1234.5, NULL, 1795348799986),
  ('many-015', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 15, 1234.5, NULL, 1795348799985),
  ('many-016', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 16, 1234.5, NULL, 1795348799984),
  ('many-017', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 17, 1234.5, NULL, 1795348799983),
  ('many-018', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 18, 1234.5, NULL, 1795348799982),
  ('many-019', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 19, 1234.5, NULL, 1795348799981),
  ('many-020', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 20, 1234.5, NULL, 1795348799980),
  ('many-021', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 21, 1234.5, NULL, 1795348799979),
  ('many-022', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 22, 1234.5, NULL, 1795348799978),
  ('many-023', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 23, 1234.5, NULL, 1795348799977),
  ('many-024', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 24, 1234.5, NULL, 1795348799976),
  ('many-025', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 25, 1234.5, NULL, 1795348799975),
  ('many-026', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 26, 1234.5, NULL, 1795347240000),
  ('many-027', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 27, 1234.5, NULL, 1795347239999),
  ('many-028', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 28, 1234.5, NULL, 1795347239998),
  ('many-029', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 29, 1234.5, NULL, 1795347239997),
  ('many-030', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 30, 1234.5, NULL, 1795347239996),
  ('many-031', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 31, 1234.5, NULL, 1795347239995),
  ('many-032', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 32, 1234.5, NULL, 1795347239994),
  ('many-033', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 33, 1234.5, NULL, 1795347239993),
  ('many-034', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 34, 1234.5, NULL, 1795347239992),
  ('many-035', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 35, 1234.5, NULL, 1795347239991),
  ('many-036', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 36, 1234.5, NULL, 1795347239990),
  ('many-037', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 37, 1234.5, NULL, 1795347239989),
  ('many-038', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 38, 1234.5, NULL, 1795347239988),
  ('many-039', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 39, 1234.5, NULL, 1795347239987),
  ('many-040', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 40, 1234.5, NULL, 1795347239986),
  ('many-041', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 41, 1234.5, NULL, 1795347239985),
  ('many-042', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 42, 1234.5, NULL, 1795347239984),
  ('many-043', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 43, 1234.5, NULL, 1795347239983),
  ('many-044', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 44, 1234.5, NULL, 1795347239982),
  ('many-045', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 45, 1234.5, NULL, 1795347239981),
  ('many-046', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 46, 1234.5, NULL, 1795347239980),
  ('many-047', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 47, 1234.5, NULL, 1795347239979),
  ('many-048', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 48, 1234.5, NULL, 1795347239978),
  ('many-049', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 49, 1234.5, NULL, 1795347239977),
  ('many-050', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 50, 1234.5, NULL, 1795347239976),
  ('many-051', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 51, 1234.5, NULL, 1795347239975),
  ('many-052', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 52, 1234.5, NULL, 1795345680000),
  ('many-053', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 53, 1234.5, NULL, 1795345679999),
  ('many-054', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 54, 1234.5, NULL, 1795345679998),
  ('many-055', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 55, 1234.5, NULL, 1795345679997),
  ('many-056', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 56, 1234.5, NULL, 1795345679996),
  ('many-057', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 57, 1234.5, NULL, 1795345679995),
  ('many-058', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 58, 1234.5, NULL, 1795345679994),
  ('many-059', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 59, 1234.5, NULL, 1795345679993),
  ('many-060', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 60, 1234.5, NULL, 1795345679992),
  ('many-061', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 61, 1234.5, NULL, 1795345679991),
  ('many-062', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 62, 1234.5, NULL, 1795345679990),
  ('many-063', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 63, 1234.5, NULL, 1795345679989),
  ('many-064', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 64, 1234.5, NULL, 1795345679988),
  ('many-065', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 65, 1234.5, NULL, 1795345679987),
  ('many-066', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 66, 1234.5, NULL, 1795345679986),
  ('many-067', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 67, 1234.5, NULL, 1795345679985),
  ('many-068', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 68, 1234.5, NULL, 1795345679984),
  ('many-069', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 69, 1234.5, NULL, 1795345679983),
  ('many-070', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 70, 1234.5, NULL, 1795345679982),
  ('many-071', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 71, 1234.5, NULL, 1795345679981),
  ('many-072', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 72, 1234.5, NULL, 1795345679980),
  ('many-073', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 73, 1234.5, NULL, 1795345679979),
  ('many-074', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 74, 1234.5, NULL, 1795345679978),
  ('many-075', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 75, 1234.5, NULL, 1795345679977),
  ('many-076', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 76, 1234.5, NULL, 1795345679976),
  ('many-077', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 77, 1234.5, NULL, 1795345679975),
  ('many-078', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 78, 1234.5, NULL, 1795344120000),
  ('many-079', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 79, 1234.5, NULL, 1795344119999),
  ('many-080', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 80, 1234.5, NULL, 1795344119998),
  ('many-081', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 81, 1234.5, NULL, 1795344119997),
  ('many-082', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 82, 1234.5, NULL, 1795344119996),
  ('many-083', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 83, 1234.5, NULL, 1795344119995),
  ('many-084', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 84, 1234.5, NULL, 1795344119994),
  ('many-085', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 85, 1234.5, NULL, 1795344119993),
  ('many-086', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 86, 1234.5, NULL, 1795344119992),
  ('many-087', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 87, 1234.5, NULL, 1795344119991),
  ('many-088', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 88, 1234.5, NULL, 1795344119990),
  ('many-089', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 89, 1234.5, NULL, 1795344119989),
  ('many-090', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 90, 1234.5, NULL, 1795344119988),
  ('many-091', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 91, 1234.5, NULL, 1795344119987),
  ('many-092', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 92, 1234.5, NULL, 1795344119986),
  ('many-093', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 93, 1234.5, NULL, 1795344119985),
  ('many-094', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 94, 1234.5, NULL, 1795344119984),
  ('many-095', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 95, 1234.5, NULL, 1795344119983),
  ('many-096', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 96, 1234.5, NULL, 1795344119982),
  ('many-097', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 97, 1234.5, NULL, 1795344119981),
  ('many-098', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 98, 1234.5, NULL, 1795344119980),
  ('many-099', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 99, 1234.5, NULL, 1795344119979),
  ('many-100', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 100, 1234.5, NULL, 1795344119978),
  ('many-101', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 101, 1234.5, NULL, 1795344119977),
  ('many-102', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 102, 1234.5, NULL, 1795344119976),
  ('many-103', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 103, 1234.5, NULL, 1795344119975),
  ('many-104', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 104, 1234.5, NULL, 1795342560000),
  ('many-105', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 105, 1234.5, NULL, 1795342559999),
  ('many-106', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 106, 1234.5, NULL, 1795342559998),
  ('many-107', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 107, 1234.5, NULL, 1795342559997),
  ('many-108', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 108, 1234.5, NULL, 1795342559996),
  ('many-109', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 109, 1234.5, NULL, 1795342559995),
  ('many-110', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 110, 1234.5, NULL, 1795342559994),
  ('many-111', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 111, 1234.5, NULL, 1795342559993),
  ('many-112', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 112, 1234.5, NULL, 1795342559992),
  ('many-113', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 113, 1234.5, NULL, 1795342559991),
  ('many-114', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 114, 1234.5, NULL, 1795342559990),
  ('many-115', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 115, 1234.5, NULL, 1795342559989),
  ('many-116', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 116, 1234.5, NULL, 1795342559988),
  ('many-117', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 117, 1234.5, NULL, 1795342559987),
  ('many-118', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 118, 1234.5, NULL, 1795342559986),
  ('many-119', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 119, 1234.5, NULL, 1795342559985),
  ('many-120', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 120, 1234.5, NULL, 1795342559984),
  ('many-121', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 121, 1234.5, NULL, 1795342559983),
  ('many-122', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 122, 1234.5, NULL, 1795342559982),
  ('many-123', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 123, 1234.5, NULL, 1795342559981),
  ('many-124', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 124, 1234.5, NULL, 1795342559980),
  ('many-125', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 125, 1234.5, NULL, 1795342559979),
  ('many-126', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 126, 1234.5, NULL, 1795342559978),
  ('many-127', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 127, 1234.5, NULL, 1795342559977),
  ('many-128', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 128, 1234.5, NULL, 1795342559976),
  ('many-129', 'ann', 'token:ann-2', 'embeddings', NULL, 'claude', 'some-model', false, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 129, 1234.5, NULL, 1795342559975),
  ('released', 'ann', 'token:ann-1', 'chat', NULL, 'claude', 'some-model', true, 503, 'failed', '{}', 0, 0, 0, 1234.5, 78.25, 1795348800003),
  ('settled-above', 'ann', 'token:ann-1', 'chat', 'messages', 'claude', 'some-model', true, 200, 'interrupted', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 90, 1234.5, 78.25, 1795348800002),
  ('settled-below', 'ann', 'token:ann-1', 'chat', 'messages', 'claude', 'some-model', true, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 25, 1234.5, 78.25, 1795348800000),
  ('short', 'ben', 'token:ben-1', 'chat', 'messages', 'claude', 'some-model', true, 200, 'complete', '{"input":10,"cacheRead":5,"output":7,"reasoning":2}', 15, 9, 500, 1234.5, 78.25, 1795348800004),
  ('waits-late', 'ann', 'token:ann-1', 'chat', NULL, 'claude', 'some-model', false, 0, 'expired', '{}', 0, 0, 20, 120000, NULL, 1795348800000),
  ('waits-late-free', 'ann', 'token:ann-1', 'chat', NULL, 'claude', 'some-model', false, 0, 'expired', '{}', 0, 0, 0, 120000, NULL, 1795348800000);

INSERT INTO retry_keys (account_id, key, fingerprint, hold_id, status, headers, body, kept_until) VALUES
  ('token:ann-1', 'answered', 'of answered', 'answered', 200, '[["content-type","application/json"],["x-odd","Ω '' \\ \""]]', '\x0001275cff', 1795435200007),
  ('token:ann-1', 'running', 'of running', 'open-claim', NULL, NULL, NULL, 1795435800002);

INSERT INTO responses (id, owner, provider, model, created_at, kept_until, previous_id, input, response) VALUES
  ('resp_first', 'ann', 'openai', 'm', 1795348800000, 1796348800000, NULL, '[{"said":"Ω '' \\ \n"}]', '{"id":"resp_first"}'),
  ('resp_second', 'ann', 'openai', 'm', 1795348800001, 1796348800000, 'resp_first', '[]', '{}'),
  ('resp_upstream', 'ben', 'openai', 'm', 1795348800002, 1796348800000, NULL, NULL, NULL);

CREATE TABLE tollgate_schema (version bigint NOT NULL);
INSERT INTO tollgate_schema VALUES (4);
