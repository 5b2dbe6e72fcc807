/**
 * Of budgets beside a chain. The boundaries of their periods, which equal those of the ledger's `periods.ts`, are calculated from those
 * of days, which know the zone. `ledger_budgets` are the accounts of those that a call of a model counts in, the token's own first.
 */
export const LEDGER_BUDGETS = `
  CREATE FUNCTION ledger_day_of_month(month bigint, wanted bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT least(m.first - date '1970-01-01' + wanted - 1, (m.first + interval '1 month')::date - date '1970-01-01' - 1)
    FROM (SELECT make_date((month / 12)::int, (month % 12)::int + 1, 1)) AS m (first)
  $$;

  -- The first day of the period that contains a day, or of the one so many periods later.
  CREATE FUNCTION ledger_first_day(period text, wanted bigint, day bigint, later int) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE period
      WHEN 'daily' THEN day + later
      WHEN 'weekly' THEN day - ((day + 4 - wanted) % 7 + 7) % 7 + 7 * later
      WHEN 'quarterly' THEN ledger_day_of_month(m.month - (m.month % 12 + 13 - wanted) % 3 + 3 * later, 1)
      ELSE ledger_day_of_month(m.month + later - CASE WHEN ledger_day_of_month(m.month, wanted) > day THEN 1 ELSE 0 END, wanted)
    END
    FROM (SELECT extract(year FROM d.date)::bigint * 12 + extract(month FROM d.date)::bigint - 1
      FROM (SELECT date '1970-01-01' + day::int) AS d (date)) AS m (month)
  $$;

  CREATE FUNCTION ledger_midnight(day bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN ledger_day(day * 86400000) >= day THEN ledger_period_start('daily', day * 86400000)
      ELSE ledger_period_end('daily', day * 86400000) END
  $$;

  CREATE FUNCTION ledger_budget_start(period text, wanted bigint, at bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN period IS NULL OR wanted IS NULL AND period IN ('daily', 'monthly') THEN ledger_period_start(period, at)
      ELSE ledger_midnight(ledger_first_day(period, coalesce(wanted, 1), ledger_day(at), 0)) END
  $$;

  CREATE FUNCTION ledger_budget_end(period text, wanted bigint, began bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN period IS NULL OR wanted IS NULL AND period IN ('daily', 'monthly') THEN ledger_period_end(period, began)
      ELSE ledger_midnight(ledger_first_day(period, coalesce(wanted, 1), ledger_day(began), 1)) END
  $$;

  CREATE FUNCTION ledger_budgets(account text, provider text, model text) RETURNS text[] LANGUAGE sql STABLE AS $$
    SELECT array_agg('budget:' || b.id ORDER BY l.level, b.id)
    FROM unnest((SELECT a.chain FROM accounts a WHERE a.id = account COLLATE "C")) WITH ORDINALITY AS l (id, level)
    JOIN budgets b ON b.account_id = l.id COLLATE "C" AND b.deleted_at IS NULL
    WHERE b.group_id IS NULL OR EXISTS (
      SELECT FROM model_groups g, json_array_elements_text(g.models::json) AS glob
      WHERE g.id = b.group_id AND provider || '/' || model
        LIKE replace(replace(replace(replace(glob, '\\', '\\\\'), '%', '\\%'), '_', '\\_'), '*', '%'))
  $$;

  -- The places of accounts among the locked ones.
  CREATE FUNCTION ledger_places(place jsonb, ids text[]) RETURNS int[] LANGUAGE plpgsql IMMUTABLE AS $$
  DECLARE
    places int[] := ARRAY(SELECT (place ->> i.id)::int FROM unnest(ids) WITH ORDINALITY AS i (id, n) ORDER BY i.n);
  BEGIN
    IF array_position(places, NULL) IS NOT NULL THEN RAISE EXCEPTION 'a budget is not locked'; END IF;
    RETURN places;
  END $$;
`;
