import { bothEngines } from "../../storage/index.ts";

export const BATCHES = bothEngines(
  `
  -- Files of batches that the gateway keeps: the lines of a batch, and its results.
  CREATE TABLE batch_files (
    id          TEXT PRIMARY KEY,
    owner       TEXT NOT NULL, -- the user
    purpose     TEXT NOT NULL,
    filename    TEXT NOT NULL,
    bytes       INTEGER NOT NULL, -- of all parts
    parts       INTEGER NOT NULL,
    is_listed   INTEGER NOT NULL CHECK (is_listed IN (0, 1)), -- 0: not whole yet, or none of its owner's files
    created_at  INTEGER NOT NULL,
    kept_until  INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX batch_files_by_owner ON batch_files (owner, created_at, id);
  CREATE INDEX batch_files_by_age ON batch_files (kept_until);
  CREATE TABLE batch_file_parts (
    file_id   TEXT NOT NULL,
    number    INTEGER NOT NULL, -- from 0
    -- Before the content: SQLite reads a column behind it only through all its pages.
    lines     TEXT, -- of results, the positions of their lines in the batch: JSON
    content   BLOB NOT NULL,
    PRIMARY KEY (file_id, number)
  ) STRICT; -- with row ids: the content is too large for the pages of an index
  -- Batches. Their job in jobs has the same id.
  CREATE TABLE batches (
    id              TEXT PRIMARY KEY,
    owner           TEXT NOT NULL, -- the user
    token_id        TEXT NOT NULL,
    kind         TEXT NOT NULL,
    endpoint        TEXT NOT NULL,
    input_file_id   TEXT NOT NULL,
    output_file_id  TEXT NOT NULL,
    error_file_id   TEXT NOT NULL,
    headers         TEXT NOT NULL, -- JSON, like the next three
    metadata        TEXT,
    errors          TEXT,
    usage           TEXT NOT NULL,
    completion_window TEXT NOT NULL,
    webhook_url     TEXT,
    model           TEXT,
    status          TEXT NOT NULL,
    run_token       TEXT NOT NULL, -- the run that may write results
    total           INTEGER NOT NULL,
    succeeded       INTEGER NOT NULL,
    failed          INTEGER NOT NULL,
    cancelled       INTEGER NOT NULL,
    expired         INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    started_at      INTEGER,
    cancelling_at   INTEGER,
    finalizing_at   INTEGER,
    ended_at        INTEGER, -- null while it runs
    expires_at      INTEGER NOT NULL,
    kept_until      INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX batches_by_owner ON batches (owner, kind, created_at, id);
  CREATE INDEX batches_by_input ON batches (input_file_id) WHERE ended_at IS NULL;
  CREATE INDEX batches_by_age ON batches (kept_until);
  `,
  "id owner file_id",
);

/** The parts of batches that providers run themselves. */
export const BATCH_SLICES = bothEngines(
  `
  -- The prefix of the provider to whose batches the lines go; and before which position all of them have gone there, or cannot.
  ALTER TABLE batches ADD COLUMN native_provider TEXT;
  ALTER TABLE batches ADD COLUMN native_next INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE batch_slices (
    id           TEXT PRIMARY KEY, -- its marker at the provider
    batch_id     TEXT NOT NULL,
    state        TEXT NOT NULL,
    provider     TEXT NOT NULL, -- its prefix
    model        TEXT NOT NULL, -- the provider's name of it
    path         TEXT NOT NULL, -- of the operation
    key_id       TEXT, -- the key that knows the provider's batch
    upstream_id  TEXT, -- of the provider's batch
    is_cancelled INTEGER NOT NULL CHECK (is_cancelled IN (0, 1)),
    asks         INTEGER NOT NULL, -- look-ups so far
    ask_at       INTEGER NOT NULL -- the next look-up
  ) STRICT;
  CREATE INDEX batch_slices_by_batch ON batch_slices (batch_id);
  CREATE TABLE batch_slice_lines (
    batch_id  TEXT NOT NULL,
    position  INTEGER NOT NULL, -- of the line
    slice_id  TEXT NOT NULL,
    work      TEXT NOT NULL, -- its parked work: JSON
    PRIMARY KEY (batch_id, position)
  ) STRICT;
  `,
  "id batch_id slice_id",
);
