/**
 * The plain commit, used by almost every batch. In a plain batch no outcome depends on another: each id occurs once,
 * credits and rates suffice in any order, settlements stay within their holds, and no retry key is involved. The caller
 * can then calculate the change of each account, and the function only writes, with one statement per table. It takes
 * less than half the time.
 *
 * No account of a plain batch has budgets beside it: those are for `ledger_commit`.
 *
 * The function verifies that the batch is plain, on the locked rows. If it is not, the result is NULL, nothing was
 * done, and `ledger_commit` takes the batch. Otherwise it returns the counts of the accounts whose new holds have
 * limits. Accounts are locked first, in the order of `links`, which the caller sorts by the bytes of their ids, as
 * `ledger_commit` does. Chains, and holds that end or change, must match the caller's cache.
 */

/**
 * The function's name ends with the schema step that last changed the meaning of its rows, those of its types with the one that last
 * changed their columns. Postgres refuses a row with more or fewer columns than its type has, so nodes of an earlier version keep
 * calling the function of that version.
 */
export const plainCommit = "ledger_commit_plain_59";

const typeOf = (kind: string): string => `ledger_plain_59_${kind}`;

/**
 * The rows passed to the function: one type per kind, with its columns in order, and an array of it. Such a row is read
 * whole; fetching elements of arrays of texts and of numbers one by one takes several times as long. Rows are cheapest
 * to write if they begin with a column that is equal in many, and end with those that most batches do not need.
 */
export const plainRows = {
  /**
   * Accounts.
   *
   *   taken              the amount of new and raised holds: if it is available without the refunds of the batch's own
   *                      settlements, it is available in any order
   *   requests, tokens   new calls of the account and of those below it, and the tokens of new holds; since: the time of the first one
   *   ended              ended calls; the returned amounts, and the posted part
   *   excess             the correction of the minute's tokens by ends, for holds from takenFirst to takenLast
   *   rated, …Room       whether new holds have limits; the counts before the batch up to which none of these limits is
   *                      exceeded
   */
  link: {
    taken: "bigint",
    id: "text",
    parentId: "text",
    requests: "bigint",
    tokens: "bigint",
    since: "bigint",
    returned: "bigint",
    posted: "bigint",
    ended: "bigint",
    excess: "bigint",
    takenFirst: "bigint",
    takenLast: "bigint",
    rated: "boolean",
    requestsRoom: "bigint",
    tokensRoom: "bigint",
    callsRoom: "bigint",
  },
  /** New holds. */
  hold: {
    amount: "bigint",
    id: "text",
    account: "text",
    operation: "text",
    provider: "text",
    model: "text",
    streamed: "boolean",
    lease: "bigint",
    at: "bigint",
    tokens: "bigint",
    dialect: "text",
    parent: "text",
    session: "text",
    is_part: "boolean",
  },
  /** Ends of holds; with an owner, the end is recorded as a generation. */
  end: {
    kind: "text",
    id: "text",
    account: "text",
    held: "bigint",
    charge: "bigint",
    at: "bigint",
    owner: "text",
    operation: "text",
    dialect: "text",
    provider: "text",
    model: "text",
    streamed: "boolean",
    status: "bigint",
    outcome: "text",
    usage: "text",
    input_tokens: "bigint",
    output_tokens: "bigint",
    ms: "double precision",
    first_byte_ms: "double precision",
    started_at: "bigint",
    list_credits: "bigint",
    parent: "text",
    session: "text",
    upstream_request_id: "text",
    route: "text",
    attempts: "text",
    client_request_id: "text",
    end_user: "text",
    tags: "text",
    error_code: "text",
  },
  /** Changes of holds that stay open; `held` is the amount before. Those that a job takes over come with its row. */
  change: {
    id: "text",
    account: "text",
    held: "bigint",
    amount: "bigint",
    lease: "bigint",
    observed: "bigint",
    keeper: "text",
    parks: "boolean",
  },
  /** Rows of jobs that take holds over. */
  job: {
    id: "text",
    kind: "text",
    owner: "text",
    payload: "text",
    run_at: "bigint",
    created_at: "bigint",
    lease_token: "text",
    lease_node: "text",
    lease_until: "bigint",
  },
} as const satisfies Record<string, Record<string, "text" | "bigint" | "boolean" | "double precision">>;

const types = Object.entries(plainRows).map(([name, columns]) => {
  const definitions = Object.entries(columns).map(([column, type]) => `${column} ${type}`);
  return `CREATE TYPE ${typeOf(name)} AS (${definitions.join(", ").replaceAll(" text", ' text COLLATE "C"')});`;
});

const parameters = Object.keys(plainRows).map((name) => `${name}s ${typeOf(name)}[]`);

/** Fails if not every row was written. */
function requireAll(rows: `${keyof typeof plainRows}s`): string {
  return `GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(${rows}) THEN RAISE SQLSTATE 'TGNPL'; END IF;`;
}

/** Part of the fifty-ninth step. */
export const LEDGER_PLAIN_TYPES = `
  ${types.join("\n  ")}
`;

export const LEDGER_COMMIT_PLAIN = `
  CREATE OR REPLACE FUNCTION ${plainCommit}(
    latest bigint, -- the time of the latest operation
    first_id text, last_id text, -- of new holds
    are_rated boolean, -- whether new holds have limits
    ${parameters.join(", ")}
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
    UPDATE accounts a SET debits_pending = a.debits_pending + coalesce(l.taken, 0) - coalesce(l.returned, 0),
        debits_posted = a.debits_posted + coalesce(l.posted, 0), period_debits = a.period_debits + coalesce(l.posted, 0),
        open_calls = a.open_calls + coalesce(l.requests, 0) - coalesce(l.ended, 0),
        minute_start = CASE WHEN l.since - a.minute_start >= minute THEN l.since ELSE a.minute_start END,
        minute_requests = CASE WHEN l.since - a.minute_start >= minute THEN 0 ELSE a.minute_requests END
          + coalesce(l.requests, 0),
        minute_tokens = greatest(0, coalesce(l.tokens, 0) + CASE WHEN l.since - a.minute_start >= minute THEN 0
          ELSE a.minute_tokens + CASE WHEN l.takenFirst >= a.minute_start THEN l.excess ELSE 0 END END)
      FROM unnest(links) l
      WHERE a.id = l.id AND a.parent_id IS NOT DISTINCT FROM l.parentId AND NOT a.has_budgets
        AND (a.period IS NULL OR latest < ledger_period_end(a.period, a.period_start))
        -- Each of its charges gets a date in the period in which it counts; a plain batch spans a minute at most.
        AND (l.posted IS NULL OR greatest(latest - minute, 0) >= a.period_start)
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

    IF cardinality(holds) > 0 THEN
      INSERT INTO holds (id, account_id, amount, operation, provider, model, dialect, streamed, lease_until, created_at, tokens,
          parent, session, counts_above, is_part)
        SELECT o.id, o.account, o.amount, o.operation, o.provider, o.model, o.dialect, o.streamed, o.lease, o.at, o.tokens,
          o.parent, o.session, true, o.is_part FROM unnest(holds) o
        -- None has ended: nearly always to be seen at a glance, since ids begin with the time.
        WHERE CASE WHEN NOT EXISTS (SELECT FROM entries e WHERE e.id BETWEEN first_id AND last_id)
          AND o.id BETWEEN first_id AND last_id THEN true
          ELSE (SELECT e.id FROM entries e WHERE e.id = o.id) IS NULL END;
      ${requireAll("holds")}
    END IF;

    IF cardinality(ends) > 0 THEN
      DELETE FROM holds h USING unnest(ends) o WHERE h.id = o.id AND h.account_id = o.account AND h.amount = o.held;
      ${requireAll("ends")}
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
        SELECT o.id, o.kind, o.account, 'revenue', o.charge, o.held, 0, o.at FROM unnest(ends) o
        -- None is dated before the books were closed. Read after the accounts are locked.
        WHERE greatest(latest - minute, 0) >= (SELECT s.closed_before FROM ledger_state s);
      ${requireAll("ends")}
      INSERT INTO generations (id, owner, account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
          input_tokens, output_tokens, credits, ms, first_byte_ms, started_at, parent, session, list_credits,
          upstream_request_id, route, attempts, client_request_id, end_user, tags, error_code)
        SELECT o.id, o.owner, o.account, o.operation, o.dialect, o.provider, o.model, o.streamed, o.status, o.outcome, o.usage,
          o.input_tokens, o.output_tokens, o.charge, o.ms, o.first_byte_ms, o.started_at, o.parent, o.session,
          o.list_credits, o.upstream_request_id, o.route, o.attempts, o.client_request_id, o.end_user, o.tags, o.error_code
        FROM unnest(ends) o WHERE o.owner IS NOT NULL;
    END IF;

    IF cardinality(changes) > 0 THEN
      UPDATE holds h SET lease_until = CASE WHEN o.keeper = 'job' AND h.keeper = 'job'
            THEN greatest(h.lease_until, o.lease) ELSE coalesce(o.lease, h.lease_until) END, observed = coalesce(o.observed, h.observed),
          amount = o.amount, keeper = coalesce(o.keeper, h.keeper)
        FROM unnest(changes) o WHERE h.id = o.id AND h.account_id = o.account AND h.amount = o.held
          AND (o.parks IS NULL OR h.keeper = 'process');
      ${requireAll("changes")}
    END IF;

    IF cardinality(jobs) > 0 THEN
      INSERT INTO jobs (id, kind, owner, payload, run_at, created_at, lease_token, lease_node, lease_until)
        SELECT o.* FROM unnest(jobs) o;
    END IF;

    IF NOT are_rated THEN RETURN '[]'; END IF;
    RETURN (
      SELECT coalesce(json_agg(json_build_object('id', a.id, 'minuteStart', a.minute_start, 'minuteRequests', a.minute_requests,
        'minuteTokens', a.minute_tokens, 'openCalls', a.open_calls)), '[]')
      FROM unnest(links) l JOIN accounts a ON a.id = l.id WHERE l.rated);
  EXCEPTION WHEN unique_violation OR check_violation OR SQLSTATE 'TGNPL' THEN
    RETURN NULL;
  END $$;
`;
