import { bothEngines } from "../../../storage/index.ts";

export const KEPT_THOUGHTS = bothEngines(
  `
  -- Thoughts that a model demands back and that its clients may lose. The id is a hash of the user and the call's id; what opens
  -- the thought is the call's id itself, which is not stored here.
  CREATE TABLE kept_thoughts (
    id          TEXT PRIMARY KEY,
    sealed      BLOB NOT NULL,
    kept_until  INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX kept_thoughts_by_age ON kept_thoughts (kept_until);
  `,
  "id",
);
