import { bothEngines, together } from "../../storage/index.ts";

export const JOBS = together(
  bothEngines(
    `
  -- Work that outlives the process that asked for it. A finished job leaves the table.
  CREATE TABLE jobs (
    id           TEXT PRIMARY KEY,
    kind         TEXT NOT NULL,
    owner        TEXT NOT NULL, -- the user
    payload      TEXT NOT NULL, -- a JSON object
    run_at       INTEGER NOT NULL,
    attempts     INTEGER NOT NULL DEFAULT 0, -- leases since the last run that succeeded
    lease_token  TEXT, -- null while the job waits; each write by its runner names it
    lease_node   TEXT,
    lease_until  INTEGER,
    created_at   INTEGER NOT NULL
  ) STRICT; -- with row ids: payloads may be too large for the pages of an index
  CREATE INDEX jobs_by_moment ON jobs (kind, run_at);
  `,
    "id kind",
  ),
  {
    postgres: `
  ALTER TABLE jobs SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0);
  `,
  },
);
