/**
 * `ledger_commit`: a batch of ledger operations in one statement. A commit is one round trip, and a node that is paused
 * in the middle of one holds no lock.
 *
 *   1. lock the accounts of every chain of the batch, in the order of their ids
 *   2. read the rows of the operations' ids and retry keys, now that no other process can take, change or end a hold in
 *      those accounts
 *   3. apply the operations one after the other to the accounts' counters in memory
 *   4. write the results, each changed account once
 *
 * Each statement of a function sees everything committed before the statement began, so step 2 reads the rows that step
 * 1 waited for. A hold or entry whose account is not locked was committed after step 1 and counts as missing.
 *
 * The caller may pass the accounts of the chains, cached from an earlier result: a chain never changes. If an account
 * is missing anyway (after a manual change), the result has no outcomes and nothing was done.
 *
 * The operations are passed as JSON, together with the positions at which their parts end; steps 2 to 4 run for each
 * part, of which there is almost always one. Within a part no id occurs twice, and no hold has a retry key that an
 * earlier end may have freed. A sweep is a separate part, which appends an `expire` for each expired hold.
 *
 * Budgets are accounts beside the chains. A commit locks all budgets of the accounts of the chains, and those that holds and entries
 * name; the model of a call decides in step 3 which of them it counts in. The transaction that makes a budget changes the account that the
 * budget is for, so that a commit that has locked the account finds all its budgets. If it has not locked one of them, the result has no
 * outcomes.
 *
 * Counters are arrays indexed by the account's position among the locked ones, and results are arrays indexed by the
 * operation's position, because PL/pgSQL assigns fastest to elements of arrays of numbers. The planner's settings
 * prevent a plan made for an empty table from reading a large one sequentially.
 */
export const LEDGER_COMMIT = `
  CREATE OR REPLACE FUNCTION ledger_rates(requests bigint, tokens bigint, calls bigint, began bigint)
  RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT json_build_object('requests', requests, 'tokens', tokens, 'calls', calls, 'minuteEndsAt', began + 60000)::text
  $$;

  -- The counts of all levels; for an older node, those of the account itself.
  CREATE OR REPLACE FUNCTION ledger_states(states text[], are_all boolean) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN are_all THEN '[' || array_to_string(states, ',') || ']' ELSE states[1] END
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
    has_budgets boolean[];
    funds bigint[];    -- credits, where a balance of them limits the account
    credits bigint[];
    posted bigint[];
    pending bigint[];
    budgets bigint[];
    raises bigint[];   -- beyond the budgets, before those times
    raise_ends bigint[];
    spent bigint[];    -- posted since the period began
    periods text[];
    firsts bigint[];   -- what the periods begin with
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
    counts_budgets boolean := EXISTS (SELECT FROM budgets);
    named text[];    -- the budgets that a call counts in
    places int[];    -- the accounts of a call: its chain, and those
    added int[];     -- of a move, the places of the budgets that it did not count in before, or does not any more
    dropped int[];
    limits json;   -- of a hold, by the levels of its chain
    level int;
    states text[]; -- the counts for the limits
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
          LEFT JOIN entries e ON (e.kind = 'expire' OR o.kind = 'refund')
            AND e.id = CASE WHEN h.id IS NULL AND o.kind IN ('settle', 'release', 'refund') THEN o.id END COLLATE "C"
        ) named (id) JOIN accounts a ON a.id = named.id COLLATE "C");
    END IF;

    IF counts_budgets THEN
      link_ids := link_ids || ARRAY(
        SELECT 'budget:' || b.id FROM budgets b WHERE b.account_id = ANY (link_ids)
        UNION SELECT json_array_elements_text(h.budgets::json)
        FROM (SELECT id FROM unnest(ops) UNION ALL SELECT id FROM unnest(left_ids) id) o JOIN holds h ON h.id = o.id COLLATE "C"
        UNION SELECT json_array_elements_text(e.budgets::json)
        FROM unnest(ops) o JOIN entries e ON e.id = CASE WHEN o.kind IN ('settle', 'release', 'refund') THEN o.id END COLLATE "C");
    END IF;

    SELECT array_agg(a.id), array_agg(CASE WHEN a.prepaid THEN a.credits_posted END), array_agg(a.credits_posted),
        array_agg(a.debits_posted), array_agg(a.debits_pending), array_agg(a.max_budget), array_agg(a.period_debits),
        array_agg(a.period), array_agg(a.period_start), 
        array_agg(CASE a.kind WHEN 'budget' THEN ledger_budget_end(a.period, a.period_from, a.period_start)
          ELSE ledger_period_end(a.period, a.period_start) END),
        array_agg(a.period_from), array_agg(a.raised_by), array_agg(a.raised_until), array_agg(a.has_budgets), array_agg(a.open_calls), array_agg(a.minute_start), array_agg(a.minute_requests), array_agg(a.minute_tokens),
        array_agg(a.parent_id)
      INTO link_ids, funds, credits, posted, pending, budgets, spent, periods, starts, ends,
        firsts, raises, raise_ends, has_budgets, calls, minutes, requests, tokens,
        parent_ids
      FROM (SELECT * FROM accounts WHERE id = ANY (link_ids) ORDER BY id FOR NO KEY UPDATE) a;
    SELECT coalesce(jsonb_object_agg(l.id, l.n), '{}') INTO place FROM unnest(link_ids) WITH ORDINALITY AS l (id, n);
    parents := ARRAY(SELECT (place ->> l.id)::int FROM unnest(parent_ids) WITH ORDINALITY AS l (id, n) ORDER BY l.n);
    IF cardinality(array_remove(parents, NULL)) <> cardinality(array_remove(parent_ids, NULL)) THEN
      outcomes := NULL; -- the caller was wrong
      RETURN;
    END IF;

    IF true = ANY (has_budgets) AND EXISTS (SELECT FROM budgets b WHERE b.account_id = ANY (link_ids) AND NOT place ? ('budget:' || b.id))
    THEN
      outcomes := NULL; -- one was made in the meantime
      RETURN;
    END IF;
    counts_budgets := counts_budgets OR true = ANY (has_budgets);

    -- Read after the accounts are locked: nobody can close the books now.
    SELECT s.closed_before INTO closed_before FROM ledger_state s;

    FOREACH part_end IN ARRAY part_ends LOOP
      from_place := next_place; to_place := part_end; next_place := part_end + 1; claims := '{}';

      IF (ops[from_place]).kind = 'sweep' THEN
        n := from_place;
        -- A user who was moved took the budgets along, which other holds of the account still name: those may not be locked.
        left_ids := ARRAY(SELECT h.id FROM holds h WHERE h.lease_until < (ops[n]).at AND place ? h.account_id
            AND (h.budgets IS NULL OR place ?& ARRAY(SELECT json_array_elements_text(h.budgets::json)))
          ORDER BY h.lease_until LIMIT left_max);
        outcomes[n] := 'swept'; figures[n] := cardinality(left_ids);
        IF may_sweep THEN
          DELETE FROM retry_keys WHERE (account_id, key) IN (
            SELECT k.account_id, k.key FROM retry_keys k
            WHERE k.kept_until < (ops[n]).at
              AND (k.status IS NOT NULL OR NOT EXISTS (SELECT FROM holds h WHERE h.id = k.hold_id))
            ORDER BY k.kept_until LIMIT 5 * left_max FOR UPDATE SKIP LOCKED);
        END IF;
        from_place := cardinality(ops) + 1;
        ops := ops || ARRAY(
          SELECT json_populate_record(NULL::ledger_operation, json_build_object('kind', 'expire', 'id', l.id, 'at', (ops[n]).at))
          FROM unnest(left_ids) l (id));
        to_place := cardinality(ops);
      END IF;

      -- What the rows under an operation's id make of it: an outcome, or, where that is NULL, an amount that is \`due\`
      -- from the link at \`first\` upwards. Of an expired hold nothing is set aside any more, so that its late end is a
      -- charge (or a return) of the difference.
      FOR op IN
        SELECT from_place - 1 + o.ordinality AS n, o.kind, o.kind IN ('hold', 'top-up', 'move') AS takes, o.account, o.amount, o.at,
          o.tokens, o.retry_key, o.key_place, o.fingerprint,
          coalesce(o.limits, CASE WHEN o.is_rated THEN json_build_array(json_build_object('requests_max', o.requests_max,
            'tokens_max', o.tokens_max, 'calls_max', o.calls_max)) END) AS limits,
          o.counts_above IS TRUE AS counts_above, h.counts_above AS counted_above,
          -- Of a hold that is a part of a call, only the tokens count.
          CASE WHEN o.is_part OR h.is_part THEN 0 ELSE 1 END AS call_count,
          k.hold_id AS answered_by, h.retry_key AS held_key, h.created_at AS taken_at,
          CASE o.kind WHEN 'settle' THEN o.tokens - h.tokens WHEN 'release' THEN -h.tokens END AS excess,
          e.amount AS before, e.created_at AS expired_at, l.created_at AS late_at,
          CASE WHEN o.kind = 'refund' THEN f.amount + coalesce(g.amount, 0) ELSE coalesce(l.shortfall, e.shortfall) END AS figure,
          -- The parts of a charge, of which a late end may have returned some already.
          e.amount - CASE WHEN l.debit_account = 'revenue' THEN l.amount ELSE 0 END AS charged,
          CASE WHEN l.debit_account <> 'revenue' THEN l.amount ELSE 0 END AS charged_late,
          CASE WHEN o.kind = 'hold' THEN 0 ELSE coalesce(h.amount, 0) END AS held,
          CASE o.kind WHEN 'release' THEN 0 WHEN 'expire' THEN CASE h.keeper WHEN 'job' THEN h.amount ELSE coalesce(h.observed, 0) END
            WHEN 'top-up' THEN o.amount - h.amount WHEN 'move' THEN o.amount - h.amount
            ELSE o.amount END - coalesce(e.amount, 0) AS due,
          (place ->> coalesce(o.account, h.account_id, e.debit_account))::int AS first,
          CASE WHEN counts_budgets AND o.kind IN ('hold', 'move')
            THEN ledger_budgets(coalesce(o.account, h.account_id), o.provider, o.model) END AS budgets_now,
          CASE WHEN counts_budgets THEN coalesce(h.budgets, e.budgets) END AS budgets_named,
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
              WHEN e.kind = 'grant' AND o.account = CASE WHEN o.amount < 0 THEN e.debit_account ELSE e.credit_account END
                AND e.amount = abs(o.amount) THEN 'exists'
              WHEN e.id IS NOT NULL OR h.id IS NOT NULL THEN 'conflict'
              WHEN NOT place ? o.account THEN 'no-account'
              ELSE 'granted'
            END
            WHEN o.kind = 'refund' THEN CASE
              WHEN h.id IS NOT NULL THEN 'running'
              -- A late end and a refund are entries of their own, but no calls.
              WHEN e.kind IS NULL OR e.kind = 'grant' OR e.corrects_at IS NOT NULL OR NOT place ? e.debit_account THEN 'no-call'
              WHEN f.id IS NOT NULL THEN 'exists'
              WHEN e.amount + CASE l.debit_account WHEN 'revenue' THEN -l.amount ELSE coalesce(l.amount, 0) END = 0 THEN 'free'
            END
            WHEN o.kind = 'park' THEN CASE
              WHEN h.id IS NULL THEN 'ended'
              WHEN h.keeper = 'job' THEN 'exists'
              WHEN EXISTS (SELECT FROM jobs j WHERE j.id = (o.job ->> 'id') COLLATE "C") THEN 'conflict'
              ELSE 'parked'
            END
            WHEN o.kind = 'keep-answer' THEN
              CASE WHEN k.hold_id = o.id AND (o.status IS NOT NULL OR k.status IS NOT NULL) THEN 'kept' ELSE 'no-key' END
            WHEN o.kind = 'renew' THEN CASE WHEN h.id IS NULL THEN 'ended' ELSE 'renewed' END
            WHEN o.kind = 'top-up' THEN CASE WHEN h.id IS NULL THEN 'ended' WHEN h.amount >= o.amount THEN 'exists' END
            WHEN o.kind = 'move' THEN CASE WHEN h.id IS NULL THEN 'ended' END
            WHEN h.id IS NOT NULL THEN NULL
            WHEN e.id IS NULL OR e.kind = 'expire' AND NOT place ? e.debit_account THEN 'no-hold'
            -- Whatever it cost has been given back.
            WHEN e.kind = 'expire' AND f.id IS NOT NULL THEN 'exists'
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
        LEFT JOIN entries f ON f.id = CASE WHEN e.kind = 'expire' OR o.kind = 'refund' AND e.kind = 'settle' THEN o.id || ':refund' END
        LEFT JOIN entries g ON g.id = CASE WHEN f.id IS NOT NULL AND l.id IS NOT NULL THEN o.id || ':late:refund' END
        LEFT JOIN retry_keys k ON k.account_id = o.account AND k.key = o.retry_key
        LEFT JOIN holds r ON r.id = CASE WHEN k.status IS NULL THEN k.hold_id END
        ORDER BY o.ordinality
      LOOP
        n := op.n; i := op.first;
        IF op.outcome IS NOT NULL THEN
          outcomes[n] := op.outcome; figures[n] := op.figure;
          IF op.outcome = 'granted' AND op.amount < 0 AND credits[i] - posted[i] - pending[i] + op.amount < 0 THEN
            outcomes[n] := 'insufficient'; figures[n] := credits[i] - posted[i] - pending[i]; names[n] := op.account;
          ELSIF op.outcome = 'granted' THEN
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
        places := '{}';
        WHILE i IS NOT NULL LOOP
          places := places || i;
          i := parents[i];
        END LOOP;
        IF counts_budgets THEN
          added := '{}'; dropped := '{}';
          named := CASE WHEN op.kind = 'hold' THEN op.budgets_now
            ELSE ARRAY(SELECT json_array_elements_text(op.budgets_named::json)) END;
          IF op.kind = 'move' THEN
            added := ledger_places(place, ARRAY(SELECT unnest(op.budgets_now) EXCEPT SELECT unnest(named)));
            dropped := ledger_places(place, ARRAY(SELECT unnest(named) EXCEPT SELECT unnest(op.budgets_now)));
            named := ARRAY(SELECT b FROM unnest(op.budgets_now) b WHERE b = ANY (named));
          END IF;
          places := places || ledger_places(place, named);
        END IF;
        i := op.first;
        IF op.kind = 'refund' THEN
          outcomes[n] := 'refunded'; figures[n] := op.charged + op.charged_late; payers[n] := link_ids[i];
          dated := greatest(op.at, closed_before);
          FOREACH i IN ARRAY places LOOP
            dated := greatest(dated, starts[i]);
          END LOOP;
          FOREACH i IN ARRAY places LOOP
            IF dated >= ends[i] THEN
              starts[i] := ledger_budget_start(periods[i], firsts[i], dated);
              ends[i] := ledger_budget_end(periods[i], firsts[i], dated);
              spent[i] := 0;
            END IF;
            posted[i] := posted[i] - op.charged - op.charged_late;
            -- Each part lowers the spending of the period that it was charged in.
            spent[i] := greatest(0, spent[i] - CASE WHEN op.expired_at >= starts[i] THEN op.charged ELSE 0 END
              - CASE WHEN op.late_at >= starts[i] THEN op.charged_late ELSE 0 END);
          END LOOP;
          dates[n] := dated;
          CONTINUE;
        END IF;
        due := op.due; over := due - op.held;

        -- The limits of each level. Of an older node, only those of the account itself.
        limits := op.limits;
        IF limits IS NOT NULL THEN
          level := 0; states := '{}'; passed := NULL;
          WHILE i IS NOT NULL LOOP
            IF op.at - minutes[i] >= minute THEN
              began := op.at; seen_requests := 0; seen_tokens := 0;
            ELSE
              began := minutes[i]; seen_requests := requests[i]; seen_tokens := tokens[i];
            END IF;
            states := states || ledger_rates(seen_requests, seen_tokens, calls[i], began);
            IF passed IS NULL THEN
              passed := CASE
                WHEN seen_requests + op.call_count > (limits -> level ->> 'requests_max')::bigint THEN 'requestsPerMinute'
                WHEN seen_tokens + op.tokens > (limits -> level ->> 'tokens_max')::bigint THEN 'tokensPerMinute'
                WHEN calls[i] + op.call_count > (limits -> level ->> 'calls_max')::bigint THEN 'concurrentCalls'
              END;
              figures[n] := level;
            END IF;
            i := parents[i]; level := level + 1;
          END LOOP;
          i := op.first;
          IF passed IS NOT NULL THEN
            outcomes[n] := 'limited'; names[n] := passed; details[n] := ledger_states(states, op.counts_above);
            CONTINUE;
          END IF;
        END IF;

        -- The link with the least room, the nearest to the token among equals. What was spent in an earlier period no
        -- longer counts; a clock that went back doesn't bring it back.
        room := NULL;
        IF op.takes OR over > 0 THEN
          FOREACH i IN ARRAY places LOOP
            link_room := least(funds[i] - posted[i] - pending[i],
              budgets[i] + CASE WHEN op.at < raise_ends[i] THEN raises[i] ELSE 0 END - pending[i]
                - CASE WHEN op.at >= ends[i] THEN 0 ELSE spent[i] END);
            IF link_room < room OR room IS NULL AND link_room IS NOT NULL THEN room := link_room; tightest := i; END IF;
          END LOOP;
          i := op.first;
        END IF;

        IF op.takes THEN
          -- Whatever room is left, a hold can be moved to less.
          IF room < due AND (due > 0 OR op.kind <> 'move') THEN
            outcomes[n] := 'insufficient'; figures[n] := room; names[n] := link_ids[tightest];
            CONTINUE;
          END IF;
          IF op.kind = 'move' AND counts_budgets THEN
            room := NULL;
            FOREACH i IN ARRAY added LOOP
              link_room := budgets[i] + CASE WHEN op.at < raise_ends[i] THEN raises[i] ELSE 0 END - pending[i]
                - CASE WHEN op.at >= ends[i] THEN 0 ELSE spent[i] END;
              IF link_room < room OR room IS NULL AND link_room IS NOT NULL THEN room := link_room; tightest := i; END IF;
            END LOOP;
            IF room < op.amount THEN
              -- As of the others, what is left beyond that which is held already.
              outcomes[n] := 'insufficient'; figures[n] := room - op.held; names[n] := link_ids[tightest];
              CONTINUE;
            END IF;
            FOREACH i IN ARRAY added LOOP pending[i] := pending[i] + op.amount; END LOOP;
            FOREACH i IN ARRAY dropped LOOP pending[i] := pending[i] - op.held; END LOOP;
            i := op.first;
          END IF;
          IF op.budgets_now IS NOT NULL THEN ops[n].budgets := to_json(op.budgets_now); END IF;
          IF op.kind = 'top-up' THEN
            outcomes[n] := 'raised';
          ELSIF op.kind = 'move' THEN
            outcomes[n] := 'moved';
          ELSE
            outcomes[n] := 'held';
            IF op.key_place IS NOT NULL THEN claims[op.key_place] := n; END IF;
            -- A minute begins with the first call after the last one ended.
            states := '{}';
            WHILE i IS NOT NULL LOOP
              IF op.at - minutes[i] >= minute THEN
                minutes[i] := op.at; requests[i] := 0; tokens[i] := 0;
              END IF;
              requests[i] := requests[i] + op.call_count; tokens[i] := tokens[i] + op.tokens; calls[i] := calls[i] + op.call_count;
              IF limits IS NOT NULL THEN
                states := states || ledger_rates(requests[i], tokens[i], calls[i], minutes[i]);
              END IF;
              EXIT WHEN NOT op.counts_above;
              i := parents[i];
            END LOOP;
            i := op.first;
            IF limits IS NOT NULL THEN details[n] := ledger_states(states, op.counts_above); END IF;
            IF true = ANY (has_budgets) THEN
              FOREACH i IN ARRAY places LOOP
                IF has_budgets[i] THEN names[n] := 'budgets'; END IF; -- no plain commit for the caller
              END LOOP;
            END IF;
          END IF;
          FOREACH i IN ARRAY places LOOP
            pending[i] := pending[i] + due;
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
          WHILE i IS NOT NULL LOOP
            calls[i] := calls[i] - op.call_count;
            IF op.excess <> 0 AND op.taken_at >= minutes[i] THEN tokens[i] := greatest(tokens[i] + op.excess, 0); END IF;
            EXIT WHEN NOT op.counted_above;
            i := parents[i];
          END LOOP;
          i := op.first;
        END IF;
        -- If a clock went back, the charge gets the start of the latest period that the chain is in, and counts in the period
        -- of that date in every account: no budget counts it in another period than the books.
        FOREACH i IN ARRAY places LOOP
          dated := greatest(dated, starts[i]);
        END LOOP;
        FOREACH i IN ARRAY places LOOP
          IF dated >= ends[i] THEN
            starts[i] := ledger_budget_start(periods[i], firsts[i], dated);
            ends[i] := ledger_budget_end(periods[i], firsts[i], dated);
            spent[i] := 0;
          END IF;
          pending[i] := pending[i] - op.held;
          posted[i] := posted[i] + charge;
          -- What is returned of an earlier period's charge leaves the spending of this one.
          IF charge >= 0 OR op.expired_at >= starts[i] THEN spent[i] := greatest(spent[i] + charge, 0); END IF;
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
`;
