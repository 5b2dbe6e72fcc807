import type { Database as SqliteHandle } from "bun:sqlite";
import type { Statements } from "./postgres/statements.ts";
import type { SqliteReader } from "./sqlite/reader.ts";

/** Rows whose changes are announced. On SQLite any commit may have changed them. */
export type CachedRows = "tokens" | "targets" | "toolMail" | "toolSessions";

interface SharedStorage {
  /** The IANA name of the time zone of its days: those that usage is summed by, and that budgets restart on. */
  readonly timezone: string;
  /**
   * Calls back after another process has changed rows that this one may have cached: tokens by default. `row` is the
   * one that was changed; without it, any may have been. Returns a function that stops the watch.
   */
  onForeignCommit(callback: (row?: string) => void, rows?: CachedRows): () => void;
  /** Writes one row. Rejects with `storage_unavailable` if the storage does not answer, or takes no writes. */
  check(): Promise<void>;
  close(): void | Promise<void>;
}

/** Where a SQLite database is, as its URL tells. */
export interface SqlitePlace {
  /** `:memory:` for a database without a file. */
  path: string;
  /** SQLite's setting, `normal` or `full`. */
  synchronous: string;
}

/**
 * An open storage. The features' stores (`<feature>/sql/`) are written with the tag `sql`, or for one engine; their interfaces are
 * the same, and one conformance suite tests both.
 */
export interface SqliteStorage extends SharedStorage {
  engine: "sqlite";
  handle: SqliteHandle;
  /** The absolute path of its file; undefined for a database in memory. */
  file: string | undefined;
  place: SqlitePlace;
  /** Another thread, for what reads many rows; undefined for a database in memory, which has no other connection. */
  reader: SqliteReader | undefined;
  /** Throws a `StorageError` if a newer version has changed the schema so that this one cannot go on. */
  requireUsable(): void;
  /** Calls back when the storage is closed, and waits for it. */
  onClose(callback: () => Promise<void>): void;
}

export interface PostgresStorage extends SharedStorage {
  engine: "postgres";
  statements: Statements;
  /**
   * For the ledger's commits, over a separate connection: a commit never waits for a look-up, nor fails with a late
   * one.
   */
  commits: Statements;
}

export type Storage = SqliteStorage | PostgresStorage;

/** The part of the log that a storage writes to. */
export interface StorageLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** A storage that cannot be used; the message is one line for the operator. */
export class StorageError extends Error {
  override name = "StorageError";
}
