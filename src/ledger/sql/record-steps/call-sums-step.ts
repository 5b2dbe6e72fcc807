import { LEDGER_REMOVE } from "../postgres/books-functions.ts";
import { CALL_SUMS as POSTGRES_CALL_SUMS } from "../postgres/daily-sums.ts";

/**
 * The step since which the sums of days know the operation of calls, failures and list prices; see `schema.ts`. All calls are counted
 * again: about two seconds per million. Of those that were removed, only the sums are left, and their operation is `unknown`.
 */
export const CALL_SUMS = {
  sqlite: `
  ALTER TABLE daily_sums RENAME TO daily_sums_before;
  CREATE TABLE daily_sums (
    owner                  TEXT NOT NULL,
    day                    INTEGER NOT NULL, -- days since 1970-01-01 in the time zone
    account_id             TEXT NOT NULL,
    provider               TEXT NOT NULL,
    model                  TEXT NOT NULL,
    operation              TEXT NOT NULL,
    requests               INTEGER NOT NULL,
    failures               INTEGER NOT NULL DEFAULT 0,
    input_tokens           INTEGER NOT NULL,
    output_tokens          INTEGER NOT NULL,
    credits                INTEGER NOT NULL,
    list_credits           INTEGER NOT NULL DEFAULT 0,
    removed_requests       INTEGER NOT NULL DEFAULT 0,
    removed_failures       INTEGER NOT NULL DEFAULT 0,
    removed_input_tokens   INTEGER NOT NULL DEFAULT 0,
    removed_output_tokens  INTEGER NOT NULL DEFAULT 0,
    removed_credits        INTEGER NOT NULL DEFAULT 0,
    removed_list_credits   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, day, account_id, provider, model, operation)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO daily_sums (owner, day, account_id, provider, model, operation, requests, input_tokens, output_tokens, credits,
      removed_requests, removed_input_tokens, removed_output_tokens, removed_credits)
    SELECT owner, day, account_id, provider, model, 'unknown', removed_requests, removed_input_tokens, removed_output_tokens,
      removed_credits, removed_requests, removed_input_tokens, removed_output_tokens, removed_credits
    FROM daily_sums_before WHERE removed_requests > 0;
  INSERT INTO daily_sums (owner, day, account_id, provider, model, operation, requests, failures, input_tokens, output_tokens, credits,
      list_credits)
    SELECT owner, CASE (SELECT timezone FROM ledger_state) WHEN 'UTC' THEN started_at / 86400000
        ELSE (SELECT d.day FROM days d WHERE d.start <= started_at ORDER BY d.start DESC LIMIT 1) END AS its_day,
      debit_account, provider, model, operation, count(*), sum(outcome <> 'complete' AND outcome <> 'abandoned'), sum(input_tokens),
      sum(output_tokens), sum(coalesce(credits, amount)), sum(coalesce(list_credits, 0))
    FROM entries WHERE owner IS NOT NULL AND number <= (SELECT number FROM calls_by_owner_mark) GROUP BY 1, 2, 3, 4, 5, 6;
  DROP TABLE daily_sums_before;
  `,
  postgres: POSTGRES_CALL_SUMS + LEDGER_REMOVE.withOperations,
};
