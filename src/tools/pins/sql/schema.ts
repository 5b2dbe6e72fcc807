import { bothEngines } from "../../../storage/index.ts";

export const TOOL_PINS = bothEngines(
  `
  -- The definitions of other servers' tools as they were seen first, or approved. Only tools with these are offered.
  CREATE TABLE tool_pins (
    server      TEXT NOT NULL,
    owner       TEXT NOT NULL, -- the user with whose credentials it was seen; empty for the operator's
    tool        TEXT NOT NULL,
    definition  TEXT NOT NULL,
    offered     TEXT, -- the definition that the server has instead
    seen_at     INTEGER NOT NULL,
    PRIMARY KEY (server, owner, tool)
  ) STRICT, WITHOUT ROWID;
  `,
  "server owner tool",
);
