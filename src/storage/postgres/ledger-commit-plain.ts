/**
 * `ledger_commit_plain`: the way of nearly every commit. In a plain batch no outcome depends on another: each id occurs
 * once, holds find room whatever their order, settlements stay within their holds. Then the caller can work out what
 * changes in each account, and all that is left is to write it, each table with one statement. It halves the time.
 *
 * What makes a batch plain is checked here, on the rows as they are once they are locked; where it isn't, the answer is
 * false, nothing was done, and `ledger_commit` takes the batch. Accounts are locked in the order of `link_ids`, which the
 * caller sorts by their bytes, before anything else: as `ledger_commit` does.
 *
 * `link_taken` is the sum of an account's new holds, NULL where it has none: room for all of them without what the
 * batch's own settlements return is room in any order. Chains, and holds that end, must be as the caller remembers them.
 */
export const LEDGER_COMMIT_PLAIN = `
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
`;
