export const RESPONSES = {
  sqlite: `
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
  postgres: `
  CREATE TABLE responses (
    id           text COLLATE "C" NOT NULL,
    owner        text COLLATE "C" NOT NULL,
    provider     text NOT NULL,
    model        text NOT NULL,
    created_at   bigint NOT NULL,
    kept_until   bigint NOT NULL,
    previous_id  text COLLATE "C",
    input        text,
    response     text,
    PRIMARY KEY (id, owner)
  );
  CREATE INDEX responses_by_age ON responses (kept_until);
  `,
};

export const KEYS_OF_RESPONSES = {
  sqlite: `
  -- A hash of the API key that made the response; null in older rows.
  ALTER TABLE responses ADD COLUMN key_id TEXT;
  `,
  postgres: `
  ALTER TABLE responses ADD COLUMN key_id text;
  `,
};
