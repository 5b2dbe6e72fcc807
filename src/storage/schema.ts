import type { Database } from "bun:sqlite";
import type { SQL } from "bun";
import type { SqlitePlace } from "./database.ts";

/**
 * One step of the schema: SQL for the engines that it changes. A released step is never changed. Amounts are nano-credits, times
 * milliseconds since the epoch.
 */
export interface SchemaStep {
  readonly sqlite?: string;
  readonly postgres?: string;
}

export interface Schema {
  /** In the order of their release: each engine counts those that are for it. */
  steps: readonly SchemaStep[];
  /** Called before a file is migrated. */
  beforeSqlite: (handle: Database, place: SqlitePlace) => void;
}

/** What is done with a migrated database, by engine. */
export interface Preparation<Result> {
  sqlite: (handle: Database) => Result;
  postgres: (connection: SQL) => Promise<Result>;
}

/** Changes nothing, for a step that is none on an engine and yet counts. */
export const NO_CHANGE = "SELECT 1";

/** Several parts that were released as one step. */
export function together(...parts: readonly SchemaStep[]): SchemaStep {
  return {
    sqlite: parts.map((part) => part.sqlite ?? "").join(""),
    postgres: parts.map((part) => part.postgres ?? "").join(""),
  };
}
