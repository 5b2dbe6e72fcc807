import { bothEngines } from "../../../storage/index.ts";

export const RESPONSES = bothEngines(
  `
  -- Responses that may be looked up and continued; input and response are null where the upstream keeps them.
  -- An id is its upstream's word, and no owner can take it from another.
  CREATE TABLE responses (
    id           TEXT NOT NULL,
    owner        TEXT NOT NULL,
    provider     TEXT NOT NULL,
    model        TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    kept_until   INTEGER NOT NULL,
    previous_id  TEXT,
    input        TEXT,
    response     TEXT,
    PRIMARY KEY (id, owner)
  ) STRICT;
  CREATE INDEX responses_by_age ON responses (kept_until);
  `,
  "id owner previous_id",
);

export const KEYS_OF_RESPONSES = bothEngines(`
  -- A hash of the API key that made the response; null in older rows.
  ALTER TABLE responses ADD COLUMN key_id TEXT;
  `);
