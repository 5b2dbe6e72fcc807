import { bothEngines, together } from "../../storage/index.ts";

export const AUDIT = together(
  bothEngines(`
  -- Each act on accounts and settings. Every row has the hash of the one before it in its own; see audit/chain.ts.
  CREATE TABLE audit (
    number      INTEGER PRIMARY KEY, -- from 1, without gaps
    at          INTEGER NOT NULL,
    actor       TEXT NOT NULL,
    act         TEXT NOT NULL,
    target      TEXT NOT NULL,
    address     TEXT,
    request_id  TEXT,
    reason      TEXT,
    before      TEXT, -- JSON, without secrets; null of a new thing
    after       TEXT, -- null of a deleted thing
    hash        TEXT NOT NULL
  ) STRICT;

  -- One row, whose lock orders the acts: the last row of audit, so that a cut tail is found, and the one that audit begins behind.
  CREATE TABLE audit_state (
    number       INTEGER NOT NULL,
    hash         TEXT NOT NULL,
    base_number  INTEGER NOT NULL,
    base_hash    TEXT NOT NULL
  ) STRICT;
  INSERT INTO audit_state (number, hash, base_number, base_hash) VALUES (0, '', 0, '');
  `),
  {
    sqlite: `
  CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit is only appended'); END;
  CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit WHEN OLD.number > (SELECT base_number FROM audit_state)
    BEGIN SELECT RAISE(ABORT, 'audit is only appended'); END;
  `,
    postgres: `
  CREATE TRIGGER audit_is_never_changed BEFORE UPDATE OR TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  CREATE FUNCTION refuse_audit_removal() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF OLD.number > (SELECT base_number FROM audit_state) THEN RAISE EXCEPTION 'audit is only appended'; END IF;
    RETURN OLD;
  END $$;
  CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_audit_removal();
  `,
  },
);
