import { bothEngines, together } from "../../../storage/index.ts";

export const TOOL_SESSIONS = together(
  bothEngines(
    `
  -- Sessions of MCP clients that have set a level of log messages, or subscribed to resources. All others are nowhere.
  CREATE TABLE tool_sessions (
    id          TEXT PRIMARY KEY,
    owner       TEXT NOT NULL, -- the token that began it
    state       TEXT NOT NULL, -- JSON
    changed_at  INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tool_sessions_by_owner ON tool_sessions (owner, changed_at);
  CREATE INDEX tool_sessions_by_age ON tool_sessions (changed_at);
  `,
    "id owner",
  ),
  {
    postgres: `
  CREATE FUNCTION announce_tool_session() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('tollgate_tool_sessions', COALESCE(NEW.id, OLD.id));
    RETURN NULL;
  END $$;
  CREATE TRIGGER tool_sessions_are_announced AFTER INSERT OR UPDATE OR DELETE ON tool_sessions
    FOR EACH ROW EXECUTE FUNCTION announce_tool_session();
  `,
  },
);
