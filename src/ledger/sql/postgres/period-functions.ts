/** The boundaries of budget periods in UTC, equal to those in the ledger's `accounts.ts`. */
export const LEDGER_PERIODS = `
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
`;
