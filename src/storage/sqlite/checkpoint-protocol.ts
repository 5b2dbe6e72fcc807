/** Bytes are those of the write-ahead log. */
export interface CheckpointPlan {
  /** The size of the log's file from which on the worker runs. Commands and idle servers never get there. */
  startBytes: number;
  /** The length of log that accumulates before the worker copies it. */
  passBytes: number;
  /** The length from which on the log is to be restarted. */
  restartBytes: number;
  /** The interval at which the file's size is read while no worker runs. */
  watchMs: number;
  /** The interval at which the worker reads the log's length. */
  checkMs: number;
  /** The delay after a failure; doubled until a check succeeds, up to half a minute. */
  retryMs: number;
  /** The delay before a worker that has ended by itself is replaced. */
  replaceMs: number;
}

/** Passed to the worker at its start. */
export interface CheckpointSettings {
  /** The database's file. */
  path: string;
  /** An open descriptor of it, of this process. */
  descriptor: number;
  plan: CheckpointPlan;
}

/** Messages from the worker. */
export type CheckpointNews =
  /** Only few frames remain: the connection that commits should copy them, so that its next commit restarts the log. */
  | { kind: "finish" }
  | { kind: "failed"; reason: string }
  /** The first success, and the first one after a failure. */
  | { kind: "succeeded" };

/** The message to the worker on which it closes the file and ends. */
export const STOP = "stop";
