/** Failed calls, word by word as in the statements that read them by these indexes. */
const FAILED = "outcome <> 'complete' AND outcome <> 'abandoned'";

/**
 * The step since which a record keeps the names that its caller has given the call, and a failed call is found by each of its ids; see
 * `schema.ts`. Calls that succeed have no entry in these indexes.
 */
export const CALL_NAMES = {
  sqlite: `
  ALTER TABLE entries ADD COLUMN client_request_id TEXT; -- the caller's own id of the request
  ALTER TABLE entries ADD COLUMN end_user TEXT; -- the caller's own user
  ALTER TABLE entries ADD COLUMN tags TEXT; -- JSON: the values of the organisation's tags by their keys
  CREATE INDEX failed_calls ON entries (id) WHERE ${FAILED};
  CREATE INDEX failed_calls_by_upstream ON entries (upstream_request_id) WHERE upstream_request_id IS NOT NULL AND ${FAILED};
  CREATE INDEX failed_calls_by_client ON entries (client_request_id) WHERE client_request_id IS NOT NULL AND ${FAILED};
  DROP VIEW generations;
  CREATE VIEW generations AS
    SELECT number, id, owner, debit_account AS account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
      input_tokens, output_tokens, coalesce(credits, amount) AS credits, ms, first_byte_ms, started_at, parent, list_credits, session,
      route, upstream_request_id, attempts, client_request_id, end_user, tags
    FROM entries WHERE owner IS NOT NULL;
  `,
  postgres: `
  ALTER TABLE generations
    ADD COLUMN client_request_id text COLLATE "C",
    ADD COLUMN end_user text COLLATE "C",
    ADD COLUMN tags text;
  CREATE INDEX failed_calls ON generations (id) WHERE ${FAILED};
  CREATE INDEX failed_calls_by_upstream ON generations (upstream_request_id)
    WHERE upstream_request_id IS NOT NULL AND ${FAILED};
  CREATE INDEX failed_calls_by_client ON generations (client_request_id) WHERE client_request_id IS NOT NULL AND ${FAILED};
  `,
};
