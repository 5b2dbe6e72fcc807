import { bothEngines, together } from "../../../storage/index.ts";

export const TOOL_MAIL = together(
  bothEngines(
    `
  -- Letters of one process to another about requests that servers of tools have interrupted with questions: until they are read.
  CREATE TABLE tool_mail (
    id          TEXT PRIMARY KEY,
    recipient   TEXT NOT NULL, -- the process
    sealed      TEXT NOT NULL, -- encrypted
    written_at  INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tool_mail_by_recipient ON tool_mail (recipient);
  CREATE INDEX tool_mail_by_age ON tool_mail (written_at);
  `,
    "id recipient",
  ),
  {
    postgres: `
  CREATE FUNCTION announce_tool_mail() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NOTIFY tollgate_tool_mail;
    RETURN NULL;
  END $$;
  CREATE TRIGGER tool_mail_is_announced AFTER INSERT ON tool_mail
    FOR EACH STATEMENT EXECUTE FUNCTION announce_tool_mail();
  `,
  },
);
