import type { Database } from "bun:sqlite";

/** The write-ahead log as a checkpoint leaves it. */
export interface WalState {
  /** Whether another connection was making a checkpoint. */
  busy: boolean;
  /** Frames in the log: one per page of each commit since the log was last restarted. */
  frames: number;
  /** Those of them that have been copied to the database. */
  copied: number;
}

/**
 * Copies frames to the database, as many as possible without waiting for anyone. Throws if the disk refuses. Under
 * continuous commits some frames always remain; only a log without remaining frames is restarted, by the next commit.
 */
export function copyFrames(database: Database): WalState {
  return checkpoint(database, "PASSIVE");
}

/** Copies nothing. SQLite before 3.51 (macOS has its own) does not know this mode and copies, like `copyFrames`. */
export function readWal(database: Database): WalState {
  return checkpoint(database, "NOOP");
}

type Integer = number | bigint;

function checkpoint(database: Database, mode: "PASSIVE" | "NOOP"): WalState {
  const statement = database.query<{ busy: Integer; log: Integer; checkpointed: Integer }, []>(
    `PRAGMA wal_checkpoint(${mode})`,
  );
  const row = statement.get();
  return {
    busy: Number(row?.busy ?? 0) !== 0,
    frames: Math.max(0, Number(row?.log ?? 0)),
    copied: Math.max(0, Number(row?.checkpointed ?? 0)),
  };
}
