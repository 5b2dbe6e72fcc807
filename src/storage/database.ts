import type { Database as SqliteHandle } from "bun:sqlite";
import type { Statements } from "./postgres/statements.ts";

interface SharedStorage {
  /** Calls back after another process has changed what this one may keep in memory. Returns the way to stop. */
  onForeignCommit(callback: () => void): () => void;
  close(): void | Promise<void>;
}

/**
 * A place where state is kept. The features' stores (`<feature>/sql/`) are written against one of the two engines; what
 * they offer upwards is the same, and one conformance suite holds both to it.
 */
export interface SqliteStorage extends SharedStorage {
  engine: "sqlite";
  handle: SqliteHandle;
}

export interface PostgresStorage extends SharedStorage {
  engine: "postgres";
  statements: Statements;
  /** The ledger's commits, over a connection of their own: none waits for a look-up, or fails with one that is late. */
  commits: Statements;
}

export type Storage = SqliteStorage | PostgresStorage;

/** A storage that can't be used; one line for the person who starts the server. */
export class StorageError extends Error {
  override name = "StorageError";
}
