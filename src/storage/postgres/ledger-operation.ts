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

/** The fifth step. Values that a running commit has already read stay valid: their new attributes are NULL. */
export const LEDGER_OPERATION_SERIES = `
  ALTER TYPE ledger_operation
    ADD ATTRIBUTE parent text, -- of a hold
    ADD ATTRIBUTE keeper text; -- of a renewal
`;

/** The twentieth step. Nodes of the previous version send a `purpose` in place of the names. */
export const LEDGER_OPERATION_PARKED = `
  ALTER TYPE ledger_operation
    ADD ATTRIBUTE operation text, -- of a hold, with the next four
    ADD ATTRIBUTE provider text,
    ADD ATTRIBUTE model text,
    ADD ATTRIBUTE dialect text,
    ADD ATTRIBUTE streamed boolean,
    ADD ATTRIBUTE job json; -- of a hand-over: columns of a row of jobs

  -- What the record of an expired call needs, in columns of its own instead of a text that had to be taken apart:
  -- "<operation> <provider>/<model>". Nodes of the previous version still write that text, and read it in their listings.
  ALTER TABLE holds
    ALTER COLUMN purpose SET DEFAULT '',
    ADD COLUMN operation text NOT NULL DEFAULT '',
    ADD COLUMN provider text NOT NULL DEFAULT '',
    ADD COLUMN model text NOT NULL DEFAULT '',
    ADD COLUMN dialect text,
    ADD COLUMN streamed boolean NOT NULL DEFAULT false;
  CREATE FUNCTION held_call(purpose text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT regexp_match(purpose, '^(\\S*) ?([^/]*)/?(.*)$')
  $$;
  UPDATE holds SET operation = (held_call(purpose))[1], provider = (held_call(purpose))[2], model = (held_call(purpose))[3];

  -- The retry keys of videos; documented in SQLite's migrations.
  INSERT INTO retry_keys (account_id, key, fingerprint, hold_id, status, headers, body, kept_until)
    SELECT account_id, retry_key, fingerprint, id, 200, '[["content-type","application/json"]]',
      convert_to(created_answer, 'UTF8'), created_at + 86400000
    FROM videos WHERE retry_key IS NOT NULL AND created_answer IS NOT NULL ON CONFLICT DO NOTHING;
  INSERT INTO retry_keys (account_id, key, fingerprint, hold_id, kept_until)
    SELECT v.account_id, v.retry_key, v.fingerprint, v.id, v.created_at + 86400000 FROM videos v JOIN holds h ON h.id = v.id
    WHERE v.retry_key IS NOT NULL AND v.created_answer IS NULL ON CONFLICT DO NOTHING;
  UPDATE holds h SET retry_key = v.retry_key FROM videos v WHERE v.id = h.id AND v.retry_key IS NOT NULL;

  CREATE FUNCTION name_held_call() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    words CONSTANT text[] := held_call(NEW.purpose);
  BEGIN
    NEW.operation := words[1]; NEW.provider := words[2]; NEW.model := words[3];
    RETURN NEW;
  END $$;
  CREATE TRIGGER holds_of_earlier_nodes_are_named BEFORE INSERT ON holds
    FOR EACH ROW WHEN (NEW.purpose <> '') EXECUTE FUNCTION name_held_call();
`;
