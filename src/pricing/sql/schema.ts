import { bothEngines } from "../../storage/index.ts";

export const PRICE_CATALOG = bothEngines(`
  -- The last good catalog of the operator's prices: one row, since a new location replaces the old one.
  CREATE TABLE price_catalog (
    slot      INTEGER PRIMARY KEY CHECK (slot = 1),
    location  TEXT NOT NULL,
    content   TEXT NOT NULL,
    read_at   INTEGER NOT NULL
  ) STRICT;
  `);
