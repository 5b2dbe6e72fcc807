import { bothEngines, together } from "../../storage/index.ts";

/** The tags of calls: their keys by organisation, the values that a token gives its calls, and the values that a key has had. */
export const TAGS = together(
  bothEngines(`
  ALTER TABLE account_holders ADD COLUMN tags TEXT; -- of an organisation: keys, separated by commas
  ALTER TABLE tokens ADD COLUMN metadata TEXT; -- JSON: values by keys
  `),
  bothEngines(
    `
  CREATE TABLE tag_values (
    organisation_id  TEXT NOT NULL,
    key              TEXT NOT NULL,
    value            TEXT NOT NULL,
    place            INTEGER NOT NULL, -- from 1 to the most values that a key may have
    PRIMARY KEY (organisation_id, key, value)
  ) STRICT, WITHOUT ROWID;
  -- Of two values that are added at the same time to the last place, one has none.
  CREATE UNIQUE INDEX tag_values_by_place ON tag_values (organisation_id, key, place);
  `,
    "organisation_id key value",
  ),
);
