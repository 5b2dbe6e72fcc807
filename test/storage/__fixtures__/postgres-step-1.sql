-- The first step of the schema on Postgres, as it was before there was a second one.
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

CREATE FUNCTION ledger_commit(
  kinds text[], ids text[], accounts_named text[], amounts bigint[], ats bigint[], leases bigint[], purposes text[],
  parts int[], sweep_at bigint, INOUT link_ids text[],
  OUT outcomes text[], OUT figures bigint[], OUT names text[], OUT parent_ids text[]
)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  left_max CONSTANT int := 1000;
  given CONSTANT int := cardinality(ids);
  is_known CONSTANT boolean := link_ids IS NOT NULL;
  blank CONSTANT bigint[] := array_fill(NULL::bigint, ARRAY[given]);
  left_ids text[] := '{}';
  charges bigint[] := blank;
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
  op record;
  n int;
  i int;
  due bigint;
  charge bigint;
  over bigint;
  room bigint;
  link_room bigint;
  tightest int;
  has_ended boolean;
  has_late boolean;
BEGIN
  outcomes := array_fill(NULL::text, ARRAY[given]); figures := blank; names := outcomes;

  -- One node sweeps at a time; the others have nothing to wait for.
  IF sweep_at IS NOT NULL AND pg_try_advisory_xact_lock(hashtext('tollgate ledger sweep')) THEN
    left_ids := ARRAY(SELECT h.id FROM holds h WHERE h.lease_until < sweep_at ORDER BY h.lease_until LIMIT left_max);
  END IF;

  -- Unless the caller knows the chains. A comparison with NULL costs no look-up.
  IF NOT is_known OR left_ids <> '{}' THEN
    link_ids := ARRAY(
      SELECT DISTINCT unnest(a.chain) FROM (
        SELECT DISTINCT coalesce(o.account, h.account_id, e.debit_account)
        FROM unnest(kinds || array_fill('expire'::text, ARRAY[cardinality(left_ids)]), ids || left_ids, accounts_named)
          AS o (kind, id, account)
        LEFT JOIN holds h ON h.id = CASE WHEN o.account IS NULL THEN o.id END COLLATE "C"
        LEFT JOIN entries e ON e.kind = 'expire'
          AND e.id = CASE WHEN h.id IS NULL AND o.kind IN ('settle', 'release') THEN o.id END COLLATE "C"
      ) named (id) JOIN accounts a ON a.id = named.id COLLATE "C");
  END IF;

  SELECT array_agg(a.id), array_agg(CASE WHEN a.prepaid THEN a.credits_posted END), array_agg(a.credits_posted),
      array_agg(a.debits_posted), array_agg(a.debits_pending), array_agg(a.max_budget), array_agg(a.period_debits),
      array_agg(a.period), array_agg(a.period_start), array_agg(ledger_period_end(a.period, a.period_start)),
      array_agg(a.parent_id)
    INTO link_ids, funds, credits, posted, pending, budgets, spent, periods, starts, ends, parent_ids
    FROM (SELECT * FROM accounts WHERE id = ANY (link_ids) ORDER BY id FOR NO KEY UPDATE) a;
  SELECT coalesce(jsonb_object_agg(l.id, l.n), '{}') INTO place FROM unnest(link_ids) WITH ORDINALITY AS l (id, n);
  parents := ARRAY(SELECT (place ->> l.id)::int FROM unnest(parent_ids) WITH ORDINALITY AS l (id, n) ORDER BY l.n);
  IF cardinality(array_remove(parents, NULL)) <> cardinality(array_remove(parent_ids, NULL)) THEN
    outcomes := NULL; -- the caller was wrong
    RETURN;
  END IF;

  FOR this_part IN 1 .. coalesce(parts[given], 0) LOOP
    has_ended := false; has_late := false;

    n := array_position(parts, this_part);
    IF kinds[n] = 'sweep' THEN
      left_ids := ARRAY(SELECT h.id FROM holds h WHERE h.lease_until < ats[n] AND place ? h.account_id
        ORDER BY h.lease_until LIMIT left_max);
      ids := ids || left_ids;
      kinds := kinds || array_fill('expire'::text, ARRAY[cardinality(left_ids)]);
      ats := ats || array_fill(ats[n], ARRAY[cardinality(left_ids)]);
      parts := parts || array_fill(this_part, ARRAY[cardinality(left_ids)]);
      outcomes[n] := 'swept'; figures[n] := cardinality(left_ids);
    END IF;

    -- What the rows under an operation's id make of it: an outcome, or, where that is NULL, an amount that is `due`
    -- from the link at `first` upwards. Of an expired hold nothing is set aside any more, so that its late end is a
    -- charge (or a return) of the difference.
    FOR op IN
      SELECT o.n, o.kind, o.kind = 'hold' AS takes, o.amount, o.at, e.kind IS NOT NULL AS is_late,
        coalesce(l.shortfall, e.shortfall) AS figure,
        CASE WHEN o.kind = 'hold' THEN 0 ELSE coalesce(h.amount, 0) END AS held,
        CASE o.kind WHEN 'release' THEN 0 WHEN 'expire' THEN coalesce(h.observed, 0) ELSE o.amount END
          - coalesce(e.amount, 0) AS due,
        (place ->> coalesce(o.account, h.account_id, e.debit_account))::int AS first,
        CASE
          WHEN o.kind = 'hold' THEN CASE
            WHEN NOT place ? o.account THEN 'no-account'
            WHEN h.id IS NOT NULL THEN
              CASE WHEN h.account_id = o.account AND h.amount = o.amount THEN 'exists' ELSE 'conflict' END
            WHEN e.id IS NOT NULL THEN
              CASE WHEN e.debit_account = o.account AND e.held = o.amount THEN 'exists' ELSE 'conflict' END
          END
          WHEN o.kind = 'grant' THEN CASE
            WHEN e.kind = 'grant' AND e.credit_account = o.account AND e.amount = o.amount THEN 'exists'
            WHEN e.id IS NOT NULL OR h.id IS NOT NULL THEN 'conflict'
            WHEN NOT place ? o.account THEN 'no-account'
            ELSE 'granted'
          END
          WHEN o.kind = 'renew' THEN CASE WHEN h.id IS NULL THEN 'ended' ELSE 'renewed' END
          WHEN h.id IS NOT NULL THEN NULL
          WHEN e.id IS NULL OR e.kind = 'expire' AND NOT place ? e.debit_account THEN 'no-hold'
          WHEN e.kind <> 'expire' THEN
            CASE WHEN e.kind = o.kind AND e.amount + e.shortfall = coalesce(o.amount, 0) THEN 'exists' ELSE 'conflict' END
          WHEN l.id IS NOT NULL THEN
            CASE WHEN e.amount + CASE l.debit_account WHEN 'revenue' THEN -l.amount ELSE l.amount END + l.shortfall
              = coalesce(o.amount, 0) THEN 'exists' ELSE 'conflict' END
        END AS outcome
      FROM unnest(kinds, ids, accounts_named, amounts, ats, parts) WITH ORDINALITY
        AS o (kind, id, account, amount, at, part, n)
      LEFT JOIN holds h ON h.id = o.id COLLATE "C" AND (o.kind = 'hold' OR place ? h.account_id)
      LEFT JOIN entries e ON e.id = CASE WHEN h.id IS NULL THEN o.id END COLLATE "C"
      LEFT JOIN entries l ON l.id = CASE WHEN e.kind = 'expire' THEN o.id || ':late' END COLLATE "C"
      WHERE o.part = this_part AND o.kind <> 'sweep'
      ORDER BY o.n
    LOOP
      n := op.n; i := op.first;
      IF op.outcome IS NOT NULL THEN
        outcomes[n] := op.outcome; figures[n] := op.figure;
        IF op.outcome = 'granted' THEN
          credits[i] := credits[i] + op.amount;
          funds[i] := funds[i] + op.amount;
        END IF;
        CONTINUE;
      END IF;
      due := op.due; over := due - op.held;

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
        WHILE i IS NOT NULL LOOP
          pending[i] := pending[i] + due;
          i := parents[i];
        END LOOP;
        outcomes[n] := 'held';
        CONTINUE;
      END IF;

      -- All that was held can be charged, and beyond it what the chain has room for.
      charge := CASE WHEN over > 0 AND over > room THEN due - over + greatest(room, 0) ELSE due END;
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
      charges[n] := charge;
      figures[n] := due - charge;
      outcomes[n] := op.kind || 'd';
      IF op.is_late THEN has_late := true; ELSE has_ended := true; END IF;
    END LOOP;

    IF 'held' = ANY (outcomes) THEN
      INSERT INTO holds (id, account_id, amount, purpose, lease_until, created_at)
        SELECT o.id, o.account, o.amount, o.purpose, o.lease_until, o.at
        FROM unnest(ids, accounts_named, amounts, purposes, leases, ats, parts, outcomes)
          AS o (id, account, amount, purpose, lease_until, at, part, outcome)
        WHERE o.part = this_part AND o.outcome = 'held';
    END IF;
    IF 'renewed' = ANY (outcomes) THEN
      UPDATE holds h SET lease_until = o.lease_until, observed = coalesce(o.amount, h.observed)
        FROM unnest(ids, amounts, leases, parts, outcomes) AS o (id, amount, lease_until, part, outcome)
        WHERE o.part = this_part AND o.outcome = 'renewed' AND h.id = o.id COLLATE "C";
    END IF;
    IF has_late THEN
      INSERT INTO entries
        SELECT e.id || ':late', 'settle', CASE WHEN o.charge < 0 THEN 'revenue' ELSE e.debit_account END,
          CASE WHEN o.charge < 0 THEN e.debit_account ELSE 'revenue' END, abs(o.charge), 0, o.shortfall, o.at
        FROM unnest(ids, charges, figures, ats, parts) AS o (id, charge, shortfall, at, part)
        JOIN entries e ON e.id = o.id COLLATE "C"
        WHERE o.part = this_part AND o.charge IS NOT NULL;
    END IF;
    IF has_ended THEN
      WITH gone AS (
        DELETE FROM holds h
          USING unnest(kinds, ids, charges, figures, ats, parts) AS o (kind, id, charge, shortfall, at, part)
          WHERE o.part = this_part AND o.charge IS NOT NULL AND h.id = o.id COLLATE "C"
          RETURNING h.id, o.kind, h.account_id, o.charge, h.amount, o.shortfall, o.at
      )
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
        SELECT g.id, g.kind, g.account_id, 'revenue', g.charge, g.amount, g.shortfall, g.at FROM gone g;
    END IF;
    IF 'granted' = ANY (outcomes) THEN
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
        SELECT o.id, 'grant', 'bank', o.account, o.amount, 0, 0, o.at
        FROM unnest(ids, accounts_named, amounts, ats, parts, outcomes) AS o (id, account, amount, at, part, outcome)
        WHERE o.part = this_part AND o.outcome = 'granted';
    END IF;
  END LOOP;

  UPDATE accounts a SET credits_posted = l.credits, debits_posted = l.posted, debits_pending = l.pending,
      period_start = l.start, period_debits = l.spent
    FROM unnest(link_ids, credits, posted, pending, starts, spent) AS l (id, credits, posted, pending, start, spent)
    WHERE a.id = l.id COLLATE "C" AND (a.credits_posted, a.debits_posted, a.debits_pending, a.period_start, a.period_debits)
      IS DISTINCT FROM (l.credits, l.posted, l.pending, l.start, l.spent);
  outcomes := outcomes[:given]; figures := figures[:given]; names := names[:given];
  IF is_known THEN link_ids := NULL; parent_ids := NULL; END IF;
END $$;

CREATE FUNCTION ledger_commit_plain(
  link_ids text[], link_parents text[], link_taken bigint[], link_pending bigint[], link_posted bigint[], latest bigint,
  hold_ids text[], hold_accounts text[], hold_amounts bigint[], hold_purposes text[], hold_leases bigint[], hold_ats bigint[],
  end_ids text[], end_kinds text[], end_accounts text[], end_held bigint[], end_charges bigint[], end_ats bigint[],
  renew_ids text[], renew_leases bigint[], renew_observed bigint[]
)
RETURNS boolean
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  written bigint;
BEGIN
  UPDATE accounts a SET debits_pending = a.debits_pending + l.pending, debits_posted = a.debits_posted + l.posted,
      period_debits = a.period_debits + l.posted
    FROM unnest(link_ids, link_parents, link_taken, link_pending, link_posted)
      AS l (id, parent_id, taken, pending, posted)
    WHERE a.id = l.id COLLATE "C" AND a.parent_id IS NOT DISTINCT FROM l.parent_id
      AND (a.period IS NULL OR latest < ledger_period_end(a.period, a.period_start))
      AND (l.taken IS NULL
        OR (NOT a.prepaid OR a.credits_posted - a.debits_posted - a.debits_pending >= l.taken)
        AND (a.max_budget IS NULL OR a.max_budget - a.period_debits - a.debits_pending >= l.taken));
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written <> cardinality(link_ids) THEN RAISE SQLSTATE 'TGNPL'; END IF;

  IF hold_ids <> '{}' THEN
    IF EXISTS (SELECT FROM entries e WHERE e.id = ANY (hold_ids)) THEN RAISE SQLSTATE 'TGNPL'; END IF;
    INSERT INTO holds (id, account_id, amount, purpose, lease_until, created_at)
      SELECT * FROM unnest(hold_ids, hold_accounts, hold_amounts, hold_purposes, hold_leases, hold_ats);
  END IF;

  IF end_ids <> '{}' THEN
    DELETE FROM holds h USING unnest(end_ids, end_accounts, end_held) AS o (id, account, held)
      WHERE h.id = o.id COLLATE "C" AND h.account_id = o.account AND h.amount = o.held;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(end_ids) THEN RAISE SQLSTATE 'TGNPL'; END IF;
    INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
      SELECT o.id, o.kind, o.account, 'revenue', o.charge, o.held, 0, o.at
      FROM unnest(end_ids, end_kinds, end_accounts, end_charges, end_held, end_ats) AS o (id, kind, account, charge, held, at);
  END IF;

  IF renew_ids <> '{}' THEN
    UPDATE holds h SET lease_until = o.lease_until, observed = coalesce(o.observed, h.observed)
      FROM unnest(renew_ids, renew_leases, renew_observed) AS o (id, lease_until, observed)
      WHERE h.id = o.id COLLATE "C";
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(renew_ids) THEN RAISE SQLSTATE 'TGNPL'; END IF;
  END IF;
  RETURN true;
EXCEPTION WHEN unique_violation OR check_violation OR SQLSTATE 'TGNPL' THEN
  RETURN false;
END $$;
