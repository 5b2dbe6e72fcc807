import { bothEngines } from "../../storage/index.ts";

/** Nodes of earlier versions have none: nobody takes over from them. */
export const NODE_PORTS = bothEngines("ALTER TABLE nodes ADD COLUMN port INTEGER;");

export const NODES = bothEngines(
  `
  -- Serving processes: each notes every few seconds that it is there.
  CREATE TABLE nodes (
    name         TEXT PRIMARY KEY,
    host         TEXT NOT NULL,
    pid          INTEGER NOT NULL,
    version      TEXT NOT NULL,
    started_at   INTEGER NOT NULL,
    seen_at      INTEGER NOT NULL,
    fingerprint  TEXT NOT NULL, -- JSON: hashes of the parts of its configuration, without secrets
    asked        TEXT, -- JSON: a reload that it has not done yet
    outcome      TEXT  -- JSON: the outcome of the last one
  ) STRICT;
  `,
  "name",
);
