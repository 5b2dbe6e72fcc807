/** The step that records the route of a call, and its requests to upstreams; see `schema.ts`. Adding a column writes no row. */
export const ATTEMPTS = {
  sqlite: `
  ALTER TABLE entries ADD COLUMN route TEXT; -- that chose the target of the call; null for a call of one model
  ALTER TABLE entries ADD COLUMN upstream_request_id TEXT; -- of the request that was answered
  ALTER TABLE entries ADD COLUMN attempts TEXT; -- JSON: all requests, if there were several or one failed
  DROP VIEW generations;
  CREATE VIEW generations AS
    SELECT number, id, owner, debit_account AS account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
      input_tokens, output_tokens, coalesce(credits, amount) AS credits, ms, first_byte_ms, started_at, parent, list_credits, session,
      route, upstream_request_id, attempts
    FROM entries WHERE owner IS NOT NULL;
  `,
  postgres: `
  ALTER TABLE generations
    ADD COLUMN route text COLLATE "C",
    ADD COLUMN upstream_request_id text COLLATE "C",
    ADD COLUMN attempts text;
  `,
};
