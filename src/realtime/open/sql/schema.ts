import { bothEngines } from "../../../storage/index.ts";

export const REALTIME_SESSIONS = bothEngines(
  `
  -- Open realtime sessions of all processes: each process notes every few seconds that it is there.
  CREATE TABLE realtime_sessions (
    id            TEXT PRIMARY KEY,
    type          TEXT NOT NULL,
    model         TEXT NOT NULL,
    owner         TEXT NOT NULL,
    account_id    TEXT NOT NULL,
    token_id      TEXT NOT NULL,
    end_user      TEXT,
    node          TEXT NOT NULL,
    process       TEXT NOT NULL,
    opened_at     INTEGER NOT NULL,
    seen_at       INTEGER NOT NULL,
    end_asked_at  INTEGER -- when an operator has asked for its end
  ) STRICT;
  CREATE INDEX realtime_sessions_by_process ON realtime_sessions (process);
  CREATE INDEX realtime_sessions_to_end ON realtime_sessions (process) WHERE end_asked_at IS NOT NULL;
  `,
  "id owner process",
);
