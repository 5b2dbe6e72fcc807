/**
 * `ledger_write`: the fourth step of `ledger_commit`. Writes the results of one part's operations to every table except
 * `accounts`. The arrays are indexed by the operation's position; for an operation that did not end a hold, the arrays
 * of ends contain NULL. `dates` are those of the new entries, `corrected` those of the expiries that late ends correct.
 */
export const LEDGER_WRITE = `
  CREATE OR REPLACE FUNCTION ledger_write(
    ops ledger_operation[], outcomes text[],
    payers text[], charges bigint[], befores bigint[], shortfalls bigint[], keys text[],
    dates bigint[], corrected bigint[]
  )
  RETURNS void
  LANGUAGE plpgsql
  AS $$
  DECLARE
    done CONSTANT text[] := ARRAY(
      SELECT DISTINCT CASE WHEN o.before IS NULL THEN o.outcome ELSE 'late' END
      FROM unnest(outcomes, befores, ops) AS o (outcome, before));
  BEGIN
    IF 'held' = ANY (done) THEN
      INSERT INTO holds (id, account_id, amount, purpose, operation, provider, model, dialect, streamed, lease_until, created_at,
          tokens, retry_key, parent, session, counts_above, budgets, is_part)
        SELECT o.id, o.account, o.amount, coalesce(o.purpose, ''), coalesce(o.operation, ''), coalesce(o.provider, ''),
          coalesce(o.model, ''), o.dialect, coalesce(o.streamed, false), o.lease_until, o.at, o.tokens, o.retry_key, o.parent,
          o.session, coalesce(o.counts_above, false), o.budgets, o.is_part
        FROM unnest(outcomes, ops) AS o (outcome) WHERE o.outcome = 'held';
      INSERT INTO retry_keys (account_id, key, fingerprint, hold_id, kept_until)
        SELECT o.account, o.retry_key, o.fingerprint, o.id, o.kept_until
        FROM unnest(outcomes, ops) AS o (outcome) WHERE o.outcome = 'held' AND o.retry_key IS NOT NULL
        ON CONFLICT (account_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, hold_id = excluded.hold_id,
          status = NULL, headers = NULL, body = NULL, kept_until = excluded.kept_until;
    END IF;

    IF 'raised' = ANY (done) THEN
      UPDATE holds h SET amount = o.amount FROM unnest(outcomes, ops) AS o (outcome)
        WHERE o.outcome = 'raised' AND h.id = o.id;
    END IF;

    IF 'moved' = ANY (done) THEN
      UPDATE holds h SET amount = o.amount, provider = o.provider, model = o.model, budgets = o.budgets FROM unnest(outcomes, ops) AS o (outcome)
        WHERE o.outcome = 'moved' AND h.id = o.id;
    END IF;

    IF 'renewed' = ANY (done) THEN
      -- A hand-over that comes late never shortens the lease that the job has been given since.
      UPDATE holds h SET lease_until = CASE WHEN o.keeper = 'job' AND h.keeper = 'job'
            THEN greatest(h.lease_until, o.lease_until) ELSE o.lease_until END, observed = coalesce(o.amount, h.observed),
          keeper = coalesce(o.keeper, h.keeper)
        FROM unnest(outcomes, ops) AS o (outcome) WHERE o.outcome = 'renewed' AND h.id = o.id;
    END IF;

    IF 'parked' = ANY (done) THEN
      INSERT INTO jobs (id, kind, owner, payload, run_at, created_at, lease_token, lease_node, lease_until)
        SELECT j.id, j.kind, j.owner, j.payload, j.run_at, j.created_at, j.lease_token, j.lease_node, j.lease_until
        FROM unnest(outcomes, ops) AS o (outcome) CROSS JOIN json_populate_record(NULL::jobs, o.job) j
        WHERE o.outcome = 'parked';
      UPDATE holds h SET lease_until = o.lease_until, keeper = 'job'
        FROM unnest(outcomes, ops) AS o (outcome) WHERE o.outcome = 'parked' AND h.id = o.id;
    END IF;

    IF 'kept' = ANY (done) THEN
      UPDATE retry_keys k SET status = coalesce(k.status, o.status), headers = coalesce(k.headers, o.headers),
          body = coalesce(k.body, decode(o.body, 'base64')), kept_until = o.kept_until
        FROM unnest(outcomes, ops) AS o (outcome)
        WHERE o.outcome = 'kept' AND k.account_id = o.account AND k.key = o.retry_key AND k.hold_id = o.id;
    END IF;

    IF 'granted' = ANY (done) THEN
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at, actor, reason)
        SELECT o.id, 'grant', CASE WHEN o.amount < 0 THEN o.account ELSE 'bank' END,
          CASE WHEN o.amount < 0 THEN 'bank' ELSE o.account END, abs(o.amount), 0, 0, o.date, o.actor, o.reason
        FROM unnest(outcomes, dates, ops) AS o (outcome, date) WHERE o.outcome = 'granted';
    END IF;

    IF 'refunded' = ANY (done) THEN
      -- An entry for each of the charge's two: what a late end returned is given back already.
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at, corrects_at, actor, reason,
          budgets)
        SELECT e.id || ':refund', 'settle', 'revenue', o.payer,
          CASE WHEN e.id = o.id THEN e.amount - coalesce(l.amount, 0) ELSE e.amount END, 0, 0, o.date, e.created_at, o.actor, o.reason,
          e.budgets
        FROM unnest(outcomes, payers, dates, ops) AS o (outcome, payer, date)
        JOIN entries e ON e.id IN (o.id, o.id || ':late') AND e.debit_account <> 'revenue'
        LEFT JOIN entries l ON l.id = o.id || ':late' AND l.debit_account = 'revenue'
        WHERE o.outcome = 'refunded';
      UPDATE generations g SET credits = 0 FROM unnest(outcomes, ops) AS o (outcome) WHERE o.outcome = 'refunded' AND g.id = o.id;
    END IF;

    IF done && '{settled, released, expired}' THEN
      IF 'expired' = ANY (done) THEN
        INSERT INTO generations (id, owner, account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
            input_tokens, output_tokens, credits, ms, started_at, parent, session)
          SELECT h.id, coalesce(ledger_owner(h.account_id), ''), h.account_id, h.operation, h.dialect, h.provider, h.model,
            h.streamed, 0, 'expired', '{}', 0, 0, o.charge, o.at - h.created_at, h.created_at, h.parent, h.session
          FROM unnest(outcomes, charges, ops) AS o (outcome, charge) JOIN holds h ON h.id = o.id
          WHERE o.outcome = 'expired';
      END IF;
      WITH gone AS (
        DELETE FROM holds h USING unnest(charges, befores, shortfalls, dates, ops) AS o (charge, before, shortfall, date)
          WHERE o.charge IS NOT NULL AND o.before IS NULL AND h.id = o.id
          RETURNING h.id, o.kind, h.account_id, o.charge, h.amount, o.shortfall, o.date, h.budgets
      )
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at, budgets)
        SELECT g.id, g.kind, g.account_id, 'revenue', g.charge, g.amount, g.shortfall, g.date, g.budgets FROM gone g;
      IF array_remove(keys, NULL) <> '{}' THEN
        UPDATE retry_keys k SET status = o.status, headers = o.headers, body = decode(o.body, 'base64'), kept_until = o.kept_until
          FROM unnest(payers, keys, ops) AS o (payer, held_key)
          WHERE o.status IS NOT NULL AND k.status IS NULL AND k.account_id = o.payer AND k.key = o.held_key AND k.hold_id = o.id;
        DELETE FROM retry_keys k USING unnest(payers, keys, ops) AS o (payer, held_key)
          WHERE o.status IS NULL AND k.status IS NULL AND k.account_id = o.payer AND k.key = o.held_key AND k.hold_id = o.id;
      END IF;
    END IF;

    IF 'late' = ANY (done) THEN
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at, corrects_at,
          corrects_shortfall, budgets)
        SELECT o.id || ':late', 'settle', CASE WHEN o.charge < 0 THEN 'revenue' ELSE o.payer END,
          CASE WHEN o.charge < 0 THEN o.payer ELSE 'revenue' END, abs(o.charge), 0, o.shortfall, o.date, o.corrected,
          (SELECT e.shortfall FROM entries e WHERE e.id = o.id), (SELECT e.budgets FROM entries e WHERE e.id = o.id)
        FROM unnest(payers, charges, befores, shortfalls, dates, corrected, ops)
          AS o (payer, charge, before, shortfall, date, corrected)
        WHERE o.before IS NOT NULL;
      UPDATE generations g SET credits = o.before + o.charge FROM unnest(charges, befores, ops) AS o (charge, before)
        WHERE o.before IS NOT NULL AND o.record IS NULL AND g.id = o.id;
      DELETE FROM generations g USING unnest(befores, ops) AS o (before)
        WHERE o.before IS NOT NULL AND o.record IS NOT NULL AND g.id = o.id;
    END IF;

    IF done && '{settled, released, late}' THEN
      INSERT INTO generations (id, owner, account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
          input_tokens, output_tokens, credits, ms, first_byte_ms, started_at, parent, session, list_credits,
          upstream_request_id, route, attempts, client_request_id, end_user, tags, error_code)
        SELECT o.id, r.owner, o.payer, r.operation, r.dialect, r.provider, r.model, r.streamed, r.status, r.outcome, r.usage,
          r.input_tokens, r.output_tokens, o.charge + coalesce(o.before, 0), r.ms, r.first_byte_ms, r.started_at, r.parent,
          r.session, r.list_credits, r.upstream_request_id, r.route, r.attempts,
          r.client_request_id, r.end_user, r.tags, r.error_code
        FROM unnest(payers, charges, befores, ops) AS o (payer, charge, before)
        CROSS JOIN json_populate_record(NULL::generations, o.record) r
        WHERE o.charge IS NOT NULL AND o.record IS NOT NULL;
    END IF;
  END $$;
`;

/** `ledger_owner`: the id of the user whose calls an account's are. The name of the user's account may be another by now. */
export const LEDGER_OWNER = `
  CREATE OR REPLACE FUNCTION ledger_owner(account text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce(
      (SELECT t.user_name FROM tokens t WHERE t.account_id = a.id LIMIT 1),
      (SELECT u.name FROM unnest(a.chain) WITH ORDINALITY l (id, level)
        JOIN accounts u ON u.id = l.id AND u.kind = 'user' ORDER BY l.level LIMIT 1),
      a.name)
    FROM accounts a WHERE a.id = account COLLATE "C"
  $$;
`;
