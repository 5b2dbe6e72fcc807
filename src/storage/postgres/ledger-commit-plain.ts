/**
 * `ledger_commit_plain`: the way of nearly every commit. In a plain batch no outcome depends on another: each id occurs
 * once, holds find room and rates whatever their order, settlements stay within their holds, no retry key is in play. Then
 * the caller can work out what changes in each account, and all that is left is to write it, each table with one
 * statement. It takes less than half the time.
 *
 * What makes a batch plain is checked here, on the rows as they are once they are locked; where it isn't, the answer is
 * NULL, nothing was done, and `ledger_commit` takes the batch. Else it tells what is counted of the accounts whose new
 * holds have limits. Accounts are locked in the order of `links`, which the caller sorts by the bytes of their ids, before
 * anything else: as `ledger_commit` does. Chains, and holds that end or change, must be as the caller remembers them.
 */

/** Rows that the function is given. The texts of all rows are one array, their numbers another: each array has its price. */
interface Relation {
  texts: readonly string[];
  numbers: readonly string[];
}

/** The columns in their order. */
export const plainRelations = {
  /**
   * Accounts.
   *
   *   taken                   what new and raised holds take: room for all of it without what the batch's own
   *                           settlements return is room in any order
   *   pending, posted, calls  how the counters change
   *   requests, tokens        new holds, and what they count; since: the first one's time
   *   excess                  by how much ends correct the minute's tokens, for holds from takenFirst to takenLast
   *   rated, …Room            1 where new holds have limits; how much may have been counted before the batch without one
   *                           of these limits being passed
   */
  links: {
    texts: ["id", "parentId"],
    numbers: [
      "taken",
      "pending",
      "posted",
      "calls",
      "requests",
      "tokens",
      "since",
      "excess",
      "takenFirst",
      "takenLast",
      "rated",
      "requestsRoom",
      "tokensRoom",
      "callsRoom",
    ],
  },
  /** New ones. */
  holds: { texts: ["id", "account", "purpose"], numbers: ["amount", "lease", "at", "tokens"] },
  /** Of holds; with an owner, the end is recorded as a generation. */
  ends: {
    texts: [
      "id",
      "kind",
      "account",
      "owner",
      "operation",
      "dialect",
      "provider",
      "model",
      "outcome",
      "usage",
      "ms",
      "first_byte_ms",
    ],
    numbers: ["held", "charge", "at", "streamed", "status", "input_tokens", "output_tokens", "started_at"],
  },
  /** Of holds that stay open; `held` is the amount before. */
  changes: { texts: ["id", "account"], numbers: ["held", "amount", "lease", "observed"] },
} as const satisfies Record<string, Relation>;

/** The rows as a table with these columns. */
function rowsOf(name: keyof typeof plainRelations): string {
  const { texts, numbers }: Relation = plainRelations[name];
  const columns = [
    ...texts.map((column, index) => `${name}_texts[i * ${texts.length} + ${index + 1}] AS ${column}`),
    ...numbers.map((column, index) => `${name}_numbers[i * ${numbers.length} + ${index + 1}] AS ${column}`),
  ];
  return `(SELECT ${columns.join(", ")} FROM generate_series(0, ${countOf(name)} - 1) AS i)`;
}

function countOf(name: keyof typeof plainRelations): string {
  return `cardinality(${name}_texts) / ${plainRelations[name].texts.length}`;
}

/** Fails where not each row was written. */
function requireAll(name: keyof typeof plainRelations): string {
  return `GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> ${countOf(name)} THEN RAISE SQLSTATE 'TGNPL'; END IF;`;
}

export const LEDGER_COMMIT_PLAIN = `
  CREATE FUNCTION ledger_commit_plain(
    latest bigint, -- the time of the latest operation
    ${Object.keys(plainRelations)
      .map((name) => `${name}_texts text[], ${name}_numbers bigint[]`)
      .join(", ")}
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
    UPDATE accounts a SET debits_pending = a.debits_pending + l.pending, debits_posted = a.debits_posted + l.posted,
        period_debits = a.period_debits + l.posted, open_calls = a.open_calls + l.calls,
        minute_start = CASE WHEN l.since - a.minute_start >= minute THEN l.since ELSE a.minute_start END,
        minute_requests = CASE WHEN l.since - a.minute_start >= minute THEN 0 ELSE a.minute_requests END + l.requests,
        minute_tokens = greatest(0, l.tokens + CASE WHEN l.since - a.minute_start >= minute THEN 0
          ELSE a.minute_tokens + CASE WHEN l.takenFirst >= a.minute_start THEN l.excess ELSE 0 END END)
      FROM ${rowsOf("links")} l
      WHERE a.id = l.id COLLATE "C" AND a.parent_id IS NOT DISTINCT FROM l.parentId
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
    ${requireAll("links")}

    IF holds_texts <> '{}' THEN
      INSERT INTO holds (id, account_id, amount, purpose, lease_until, created_at, tokens)
        SELECT o.id, o.account, o.amount, o.purpose, o.lease, o.at, o.tokens FROM ${rowsOf("holds")} o
        WHERE NOT EXISTS (SELECT FROM entries e WHERE e.id = o.id COLLATE "C");
      ${requireAll("holds")}
    END IF;

    IF ends_texts <> '{}' THEN
      DELETE FROM holds h USING ${rowsOf("ends")} o
        WHERE h.id = o.id COLLATE "C" AND h.account_id = o.account AND h.amount = o.held;
      ${requireAll("ends")}
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
        SELECT o.id, o.kind, o.account, 'revenue', o.charge, o.held, 0, o.at FROM ${rowsOf("ends")} o;
      INSERT INTO generations (id, owner, account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
          input_tokens, output_tokens, credits, ms, first_byte_ms, started_at)
        SELECT o.id, o.owner, o.account, o.operation, o.dialect, o.provider, o.model, o.streamed = 1, o.status, o.outcome, o.usage,
          o.input_tokens, o.output_tokens, o.charge, o.ms::double precision, o.first_byte_ms::double precision, o.started_at
        FROM ${rowsOf("ends")} o WHERE o.owner IS NOT NULL;
    END IF;

    IF changes_texts <> '{}' THEN
      UPDATE holds h SET lease_until = coalesce(o.lease, h.lease_until), observed = coalesce(o.observed, h.observed),
          amount = o.amount
        FROM ${rowsOf("changes")} o WHERE h.id = o.id COLLATE "C" AND h.account_id = o.account AND h.amount = o.held;
      ${requireAll("changes")}
    END IF;

    RETURN (
      SELECT coalesce(json_agg(json_build_object('id', a.id, 'minuteStart', a.minute_start, 'minuteRequests', a.minute_requests,
        'minuteTokens', a.minute_tokens, 'openCalls', a.open_calls)), '[]')
      FROM ${rowsOf("links")} l JOIN accounts a ON a.id = l.id COLLATE "C" WHERE l.rated = 1);
  EXCEPTION WHEN unique_violation OR check_violation OR SQLSTATE 'TGNPL' THEN
    RETURN NULL;
  END $$;
`;
