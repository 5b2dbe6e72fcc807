import { countRemoved } from "./daily-sums.ts";

/**
 * `ledger_remove`: removes the entries of some pages of the table that are dated before `removed_before`, with the
 * records of their calls, and returns their number. The accounts of the calls are locked first, as in a commit: only
 * the holder of its account changes a row of the sums, so a removal and a commit cannot deadlock.
 */
export const LEDGER_REMOVE = `
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
    ${countRemoved("(SELECT * FROM generations WHERE id = ANY (ids))")};
    DELETE FROM generations g WHERE g.id = ANY (ids);
    DELETE FROM entries e WHERE e.id = ANY (ids);
    RETURN cardinality(ids);
  END $$;
`;
