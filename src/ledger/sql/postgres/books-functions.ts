import { COUNT_REMOVED } from "./daily-sums.ts";

/** `ledger_remove` with the statement that counts the removed calls. */
function removing(create: "CREATE" | "CREATE OR REPLACE", countRemoved: string): string {
  return `${create} FUNCTION ledger_remove(first_page bigint, end_page bigint) RETURNS bigint
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
    ${countRemoved};
    DELETE FROM generations g WHERE g.id = ANY (ids);
    DELETE FROM entries e WHERE e.id = ANY (ids);
    RETURN cardinality(ids);
  END $$;`;
}

/**
 * `ledger_close`: from now on, no entry gets a date before this one. Commits lock the accounts first and read the date
 * afterwards, so none that is under way can have read an earlier one.
 *
 * `ledger_seal`: stores the opening balances of a date, unless another process has sealed the books meanwhile.
 *
 * `ledger_remove`: removes the entries of some pages of the table that are dated before `removed_before`, with the
 * records of their calls, and returns their number. The accounts of the calls are locked first, as in a commit: only
 * the holder of its account changes a row of the sums, so a removal and a commit cannot deadlock.
 */
export const LEDGER_BOOKS = `
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

  ${removing("CREATE", COUNT_REMOVED.before)}
`;

/** Parts of the steps that changed the sums. */
export const LEDGER_REMOVE = {
  withOperations: removing("CREATE OR REPLACE", COUNT_REMOVED.withOperations),
  withTags: removing("CREATE OR REPLACE", COUNT_REMOVED.withTags),
  present: removing("CREATE OR REPLACE", COUNT_REMOVED.present),
};
