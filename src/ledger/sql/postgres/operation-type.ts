/**
 * `ledger_operation`: an operation as `ledger_commit` reads it from JSON. A missing member becomes NULL and an unknown
 * one is ignored, so the function also serves nodes of an earlier version.
 */
export const LEDGER_OPERATION = `
  CREATE TYPE ledger_operation AS (
    kind          text,
    id            text COLLATE "C",
    account       text COLLATE "C",
    amount        bigint,
    at            bigint,
    lease_until   bigint,
    purpose       text,
    tokens        bigint,
    -- Of a hold with limits:
    is_rated      boolean,
    requests_max  bigint,
    tokens_max    bigint,
    calls_max     bigint,
    -- Of a hold with a retry key, and of the settlement that keeps an answer for it:
    retry_key     text COLLATE "C",
    key_place     int, -- of the first hold in its part that comes with the key
    fingerprint   text,
    kept_until    bigint,
    status        bigint,
    headers       text,
    body          text, -- base64
    -- Of an end with a record: columns of a generation
    record        json
  );
`;
