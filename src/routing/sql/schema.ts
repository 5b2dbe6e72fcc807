import { bothEngines, together } from "../../storage/index.ts";

export const TARGET_STATES = together(
  bothEngines(
    `
  -- Changes of targets and keys that one process reports to the others: the last one of each, for an hour.
  CREATE TABLE target_states (
    id          TEXT PRIMARY KEY, -- a circuit's, or a key's
    kind        TEXT NOT NULL, -- of a circuit: open, works; of a key: refused, repaired
    open_until  INTEGER NOT NULL,
    pause_ms    INTEGER NOT NULL,
    process     TEXT NOT NULL,
    changed_at  INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX target_states_by_age ON target_states (changed_at);
  -- Targets that an operator has disabled.
  CREATE TABLE target_overrides (
    target      TEXT PRIMARY KEY, -- a provider's prefix, or a model id with it
    until       INTEGER,
    reason      TEXT,
    actor       TEXT NOT NULL,
    created_at  INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
    "id target",
  ),
  {
    postgres: `
  CREATE FUNCTION announce_targets() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NOTIFY tollgate_targets;
    RETURN NULL;
  END $$;
  CREATE TRIGGER target_states_are_announced AFTER INSERT OR UPDATE ON target_states
    FOR EACH STATEMENT EXECUTE FUNCTION announce_targets();
  CREATE TRIGGER target_overrides_are_announced AFTER INSERT OR UPDATE OR DELETE ON target_overrides
    FOR EACH STATEMENT EXECUTE FUNCTION announce_targets();
  `,
  },
);
