import type { Database as SqliteHandle } from "bun:sqlite";

/**
 * A place where state is kept. The features' stores (`<feature>/sql/`) are written against one of the two engines; what
 * they offer upwards is the same, and one conformance suite holds both to it.
 */
export interface SqliteStorage {
  engine: "sqlite";
  handle: SqliteHandle;
  /** Calls back after another process has committed to the same file. Returns the way to stop. */
  onForeignCommit(callback: () => void): () => void;
  close(): void;
}

export type Storage = SqliteStorage;

/** A storage that can't be used; one line for the person who starts the server. */
export class StorageError extends Error {
  override name = "StorageError";
}
