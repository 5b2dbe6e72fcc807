import { bothEngines } from "../../../storage/index.ts";

export const CONVERSATIONS = bothEngines(
  `
  -- Conversations that calls of Responses add to.
  CREATE TABLE conversations (
    id          TEXT NOT NULL,
    owner       TEXT NOT NULL, -- the user
    metadata    TEXT NOT NULL, -- JSON, like items
    created_at  INTEGER NOT NULL,
    kept_until  INTEGER NOT NULL,
    PRIMARY KEY (id, owner)
  ) STRICT;
  CREATE INDEX conversations_by_age ON conversations (kept_until);
  CREATE INDEX conversations_by_owner ON conversations (owner);
  -- Items that were added together: of one turn, or of one request.
  CREATE TABLE conversation_items (
    conversation_id  TEXT NOT NULL,
    owner            TEXT NOT NULL,
    number           INTEGER NOT NULL, -- their place
    provider         TEXT, -- that stores the thoughts among them
    items            TEXT NOT NULL,
    PRIMARY KEY (conversation_id, owner, number)
  ) STRICT; -- with row ids: items may be too large for the pages of an index
  `,
  "id owner conversation_id",
);
