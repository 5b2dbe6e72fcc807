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
  /**
   * The earlier step whose versions of Tollgate can go on beside this one, and start again: it only adds what they neither read nor
   * have to write. Without it, only versions that know this step can start.
   */
  readonly oldest?: SchemaStep;
}

/** A step for both engines. */
export type StepOfBothEngines = Required<Pick<SchemaStep, "sqlite" | "postgres">>;

/** A step as one engine counts it. */
export interface EngineStep {
  sql: string;
  /** The number of the oldest step whose versions can work on a storage that has taken this one. */
  oldest: number;
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

/** The steps that are for an engine; each is numbered by its position among them, from 1. */
export function stepsFor(engine: "sqlite" | "postgres", steps: readonly SchemaStep[]): EngineStep[] {
  const own = steps.filter((step) => step[engine] !== undefined);
  const numberOf = (oldest: SchemaStep): number => {
    const position = steps.indexOf(oldest);
    if (position === -1) throw new Error("the oldest step that a step names is none of the schema");
    return steps.slice(0, position + 1).filter((step) => step[engine] !== undefined).length;
  };
  return own.map((step, index) => ({
    sql: step[engine] ?? "",
    oldest: step.oldest === undefined ? index + 1 : numberOf(step.oldest),
  }));
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
export function bothEngines(sqlite: string, bytewise = ""): StepOfBothEngines {
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
