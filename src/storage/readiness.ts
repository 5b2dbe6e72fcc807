import { bothEngines } from "./schema.ts";

/** One row, written to see whether the storage takes writes: a full disk and a read-only replica answer to everything else. */
export const READINESS = bothEngines(`
  CREATE TABLE readiness (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    checked_at  INTEGER NOT NULL
  ) STRICT;
  `);

/** Writes the row, at a time of the database's own clock. */
export const CHECK_WRITE = {
  sqlite: `INSERT INTO readiness (id, checked_at) VALUES (1, unixepoch() * 1000)
    ON CONFLICT (id) DO UPDATE SET checked_at = excluded.checked_at`,
  postgres: `INSERT INTO readiness (id, checked_at) VALUES (1, extract(epoch FROM clock_timestamp())::bigint * 1000)
    ON CONFLICT (id) DO UPDATE SET checked_at = excluded.checked_at`,
};
