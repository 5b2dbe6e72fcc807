import { bothEngines } from "../../../storage/index.ts";

export const BACKGROUND_RESPONSES = bothEngines(
  `
  -- Responses that run after their request has ended. Their job in jobs has the id of their work.
  CREATE TABLE background_responses (
    id            TEXT NOT NULL,
    owner         TEXT NOT NULL, -- the user
    work_id       TEXT NOT NULL,
    provider      TEXT NOT NULL,
    model         TEXT NOT NULL,
    previous_id   TEXT,
    input         TEXT NOT NULL, -- JSON, like the next one
    response      TEXT NOT NULL,
    is_cancelled  INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL,
    ended_at      INTEGER, -- null while it runs
    kept_until    INTEGER NOT NULL,
    PRIMARY KEY (id, owner)
  ) STRICT; -- with row ids: texts may be too large for the pages of an index
  CREATE INDEX background_responses_by_age ON background_responses (kept_until);
  CREATE TABLE background_events (
    response_id   TEXT NOT NULL,
    owner         TEXT NOT NULL,
    first_number  INTEGER NOT NULL,
    last_number   INTEGER NOT NULL,
    events        TEXT NOT NULL, -- JSON, one event a line
    PRIMARY KEY (response_id, owner, first_number)
  ) STRICT;
  `,
  "id owner previous_id response_id",
);
