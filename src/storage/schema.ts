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

const postgresTypes: Readonly<Record<string, string>> = {
  TEXT: "text",
  INTEGER: "bigint",
  REAL: "double precision",
  BLOB: "bytea",
};

/**
 * A step that is written for SQLite, from which the one for Postgres follows: strict tables, their columns and indexes. An INTEGER
 * that is 0 or 1 is a boolean there. The columns that `bytewise` names compare by their bytes, so that every node sorts them, and
 * locks their rows, in the same order.
 */
export function bothEngines(sqlite: string, bytewise = ""): Required<SchemaStep> {
  const names = bytewise.split(" ");
  const postgres = sqlite
    .replaceAll(/\) STRICT(?:, WITHOUT ROWID)?;/g, ");")
    .replaceAll(/\bINTEGER( NOT NULL)? CHECK \(\w+ IN \(0, 1\)\)/g, "boolean$1")
    .replaceAll(/\b(?:TEXT|INTEGER|REAL|BLOB)\b/g, (type) => postgresTypes[type] ?? type)
    .replaceAll(/\b(\w+) +text\b/g, (column, name: string) =>
      names.includes(name) ? `${column} COLLATE "C"` : column,
    );
  return { sqlite, postgres };
}

/** Several parts that were released as one step. */
export function together(...parts: readonly SchemaStep[]): SchemaStep {
  return {
    sqlite: parts.map((part) => part.sqlite ?? "").join(""),
    postgres: parts.map((part) => part.postgres ?? "").join(""),
  };
}
