import { bothEngines } from "../../storage/index.ts";

export const VIDEOS = bothEngines(
  `
  -- Video jobs, each under the id of the request that created it; its hold and its row in jobs have the same id.
  CREATE TABLE videos (
    id              TEXT PRIMARY KEY,
    video_id        TEXT, -- the upstream's; null until it has answered
    provider        TEXT NOT NULL,
    key_id          TEXT, -- a hash of the API key that created it
    owner           TEXT NOT NULL, -- the user
    account_id      TEXT NOT NULL,
    model           TEXT NOT NULL,
    operation       TEXT NOT NULL,
    source_id       TEXT, -- the video that it was made from
    webhook_url     TEXT,
    retry_key       TEXT,
    fingerprint     TEXT, -- of the retry key's request
    requested       TEXT NOT NULL, -- JSON, like the next two
    state           TEXT NOT NULL,
    answer          TEXT NOT NULL,
    created_answer  TEXT, -- to the creation, byte by byte
    credits         INTEGER, -- nano-credits; null before the end
    created_at      INTEGER NOT NULL,
    polled_at       INTEGER NOT NULL,
    kept_until      INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX videos_by_video_id ON videos (video_id, provider);
  CREATE UNIQUE INDEX videos_by_retry_key ON videos (account_id, retry_key);
  CREATE INDEX videos_by_owner ON videos (owner, provider, created_at);
  CREATE INDEX videos_by_age ON videos (kept_until);
  `,
  "id video_id provider owner account_id retry_key",
);
