import { inWebFile } from "../../sql/web-file.ts";

export const STORED_BYTES = inWebFile(
  `
  -- Bytes that are kept for a user for a while: cached pages of the web, and screenshots at an address.
  CREATE TABLE stored_bytes (
    kind        TEXT NOT NULL,
    id          TEXT NOT NULL,
    owner       TEXT NOT NULL, -- the user
    media_type  TEXT NOT NULL,
    content     BLOB NOT NULL,
    bytes       INTEGER NOT NULL, -- the length of the content
    stored_at   INTEGER NOT NULL,
    kept_until  INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT; -- with row ids: the content is too large for the pages of an index
  CREATE INDEX stored_bytes_by_owner ON stored_bytes (kind, owner, stored_at, id, bytes);
  CREATE INDEX stored_bytes_by_age ON stored_bytes (kept_until);
  `,
  "kind id owner",
);
