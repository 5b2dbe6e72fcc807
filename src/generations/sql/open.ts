import { limits } from "../../core/index.ts";
import type { Storage } from "../../storage/index.ts";
import type { GenerationStore } from "../store.ts";
import { PostgresGenerationStore } from "./postgres.ts";
import { SqliteGenerationStore } from "./sqlite.ts";

/** The store of generations for the storage's engine; sums read `pageRows` rows at a time. */
export function openGenerationStore(storage: Storage, pageRows: number = limits.usagePageRows): GenerationStore {
  return storage.engine === "sqlite"
    ? new SqliteGenerationStore(storage, pageRows)
    : new PostgresGenerationStore(storage, pageRows);
}
