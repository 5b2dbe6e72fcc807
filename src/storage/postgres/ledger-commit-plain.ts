/**
 * `ledger_commit_plain`: the way of nearly every commit. In a plain batch no outcome depends on another: each id occurs
 * once, holds find room and rates whatever their order, settlements stay within their holds, no retry key is in play. Then
 * the caller can work out what changes in each account, and all that is left is to write it, each table with one
 * statement. It takes less than half the time.
 *
 * What makes a batch plain is checked here, on the rows as they are once they are locked; where it isn't, `done` is
 * false, nothing was done, and `ledger_commit` takes the batch. Accounts are locked in the order of `link_ids`, which the
 * caller sorts by their bytes, before anything else: as `ledger_commit` does. Chains, and holds that end or change, must
 * be as the caller remembers them.
 *
 * The parameters are arrays by the place of the account, hold or end; an empty one stands for NULLs. Of an account:
 *
 *   taken                   what its new and raised holds take: room for all of it without what the batch's own
 *                           settlements return is room in any order
 *   pending, posted, calls  how its counters change
 *   requests, tokens        its new holds, and what they count; since: the first one's time
 *   excess                  by how much ends correct the minute's tokens, for holds of the time from taken_first to taken_last
 *   rated, *_room           whether new holds have limits, and how much may have been counted before the batch without any of
 *                           these limits being passed; the answer then has what is counted after it
 *
 * `latest` is the time of the batch's latest operation, `records` are rows of `generations` as JSON.
 */
export const LEDGER_COMMIT_PLAIN = `
  CREATE FUNCTION ledger_commit_plain(
    link_ids text[], link_parents text[], link_taken bigint[], link_pending bigint[], link_posted bigint[], link_calls bigint[],
    link_requests bigint[], link_tokens bigint[], link_since bigint[],
    link_excess bigint[], link_taken_first bigint[], link_taken_last bigint[],
    link_rated boolean[], link_requests_room bigint[], link_tokens_room bigint[], link_calls_room bigint[], latest bigint,
    hold_ids text[], hold_accounts text[], hold_amounts bigint[], hold_purposes text[], hold_leases bigint[], hold_ats bigint[],
    hold_tokens bigint[],
    end_ids text[], end_kinds text[], end_accounts text[], end_held bigint[], end_charges bigint[], end_ats bigint[],
    records text,
    change_ids text[], change_accounts text[], change_held bigint[], change_amounts bigint[], change_leases bigint[],
    change_observed bigint[],
    OUT done boolean, OUT rated_ids text[], OUT minutes bigint[], OUT requests bigint[], OUT tokens bigint[], OUT calls bigint[]
  )
  LANGUAGE plpgsql
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
  SET plan_cache_mode = force_generic_plan
  AS $$
  DECLARE
    minute CONSTANT bigint := 60000;
    written bigint;
  BEGIN
    WITH changed AS (
      UPDATE accounts a SET debits_pending = a.debits_pending + l.pending, debits_posted = a.debits_posted + l.posted,
          period_debits = a.period_debits + l.posted, open_calls = a.open_calls + l.calls,
          minute_start = CASE WHEN l.since - a.minute_start >= minute THEN l.since ELSE a.minute_start END,
          minute_requests = CASE WHEN l.since - a.minute_start >= minute THEN 0 ELSE a.minute_requests END + l.requests,
          minute_tokens = greatest(0, l.tokens + CASE WHEN l.since - a.minute_start >= minute THEN 0
            ELSE a.minute_tokens + CASE WHEN l.taken_first >= a.minute_start THEN l.excess ELSE 0 END END)
        FROM unnest(link_ids, link_parents, link_taken, link_pending, link_posted, link_calls, link_requests, link_tokens,
            link_since, link_excess, link_taken_first, link_taken_last,
            link_rated, link_requests_room, link_tokens_room, link_calls_room)
          AS l (id, parent_id, taken, pending, posted, calls, requests, tokens, since, excess, taken_first, taken_last,
            rated, requests_room, tokens_room, calls_room)
        WHERE a.id = l.id COLLATE "C" AND a.parent_id IS NOT DISTINCT FROM l.parent_id
          AND (a.period IS NULL OR latest < ledger_period_end(a.period, a.period_start))
          AND (l.taken IS NULL
            OR (NOT a.prepaid OR a.credits_posted - a.debits_posted - a.debits_pending >= l.taken)
            AND (a.max_budget IS NULL OR a.max_budget - a.period_debits - a.debits_pending >= l.taken))
          -- Its new holds are all of one minute, and of its corrections all or none are of the minute that then runs.
          AND (l.since IS NULL OR l.since - a.minute_start >= minute OR latest - a.minute_start < minute)
          AND (l.taken_last IS NULL OR l.taken_last < a.minute_start
            OR CASE WHEN l.since - a.minute_start >= minute THEN l.taken_last < l.since ELSE l.taken_first >= a.minute_start END)
          AND (l.rated IS NULL OR coalesce(
            l.calls_room >= a.open_calls, true) AND coalesce(
            l.requests_room >= CASE WHEN l.since - a.minute_start >= minute THEN 0 ELSE a.minute_requests END, true) AND coalesce(
            l.tokens_room >= CASE WHEN l.since - a.minute_start >= minute THEN 0 ELSE a.minute_tokens END, true))
        RETURNING l.rated, a.id, a.minute_start, a.minute_requests, a.minute_tokens, a.open_calls
    )
    SELECT count(*), array_agg(c.id) FILTER (WHERE c.rated), array_agg(c.minute_start) FILTER (WHERE c.rated),
        array_agg(c.minute_requests) FILTER (WHERE c.rated), array_agg(c.minute_tokens) FILTER (WHERE c.rated),
        array_agg(c.open_calls) FILTER (WHERE c.rated)
      INTO written, rated_ids, minutes, requests, tokens, calls FROM changed c;
    IF written <> cardinality(link_ids) THEN RAISE SQLSTATE 'TGNPL'; END IF;

    IF hold_ids <> '{}' THEN
      IF EXISTS (SELECT FROM entries e WHERE e.id = ANY (hold_ids)) THEN RAISE SQLSTATE 'TGNPL'; END IF;
      INSERT INTO holds (id, account_id, amount, purpose, lease_until, created_at, tokens)
        SELECT * FROM unnest(hold_ids, hold_accounts, hold_amounts, hold_purposes, hold_leases, hold_ats, hold_tokens);
    END IF;

    IF end_ids <> '{}' THEN
      DELETE FROM holds h USING unnest(end_ids, end_accounts, end_held) AS o (id, account, held)
        WHERE h.id = o.id COLLATE "C" AND h.account_id = o.account AND h.amount = o.held;
      GET DIAGNOSTICS written = ROW_COUNT;
      IF written <> cardinality(end_ids) THEN RAISE SQLSTATE 'TGNPL'; END IF;
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
        SELECT o.id, o.kind, o.account, 'revenue', o.charge, o.held, 0, o.at
        FROM unnest(end_ids, end_kinds, end_accounts, end_charges, end_held, end_ats) AS o (id, kind, account, charge, held, at);
      IF records IS NOT NULL THEN
        INSERT INTO generations SELECT r.* FROM json_populate_recordset(NULL::generations, records::json) r;
      END IF;
    END IF;

    IF change_ids <> '{}' THEN
      UPDATE holds h SET lease_until = coalesce(o.lease_until, h.lease_until), observed = coalesce(o.observed, h.observed),
          amount = o.amount
        FROM unnest(change_ids, change_accounts, change_held, change_amounts, change_leases, change_observed)
          AS o (id, account, held, amount, lease_until, observed)
        WHERE h.id = o.id COLLATE "C" AND h.account_id = o.account AND h.amount = o.held;
      GET DIAGNOSTICS written = ROW_COUNT;
      IF written <> cardinality(change_ids) THEN RAISE SQLSTATE 'TGNPL'; END IF;
    END IF;
    done := true;
  EXCEPTION WHEN unique_violation OR check_violation OR SQLSTATE 'TGNPL' THEN
    done := false;
  END $$;
`;
