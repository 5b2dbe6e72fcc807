export { type JournalEntry, JournalFile } from "./journal-file.ts";
export {
  type PostgresStorage,
  type SqlitePlace,
  type SqliteStorage,
  type Storage,
  StorageError,
  type StorageLog,
} from "./database.ts";
export { openDatabase, planMigration, prepareDatabase, withoutPassword } from "./open.ts";
export { READINESS } from "./readiness.ts";
export {
  bothEngines,
  NO_CHANGE,
  type Preparation,
  type Schema,
  type SchemaStep,
  type StepOfBothEngines,
  stepsFor,
  together,
} from "./schema.ts";
export type { SchemaPlan } from "./schema-state.ts";
export { planSqlite, schemaVersion } from "./sqlite/migrate.ts";
export { prepareFile } from "./sqlite/prepare-file.ts";
export { type OpenFile, readOnlyStorage } from "./sqlite/read-only.ts";
export type { Parameter, Statements } from "./postgres/statements.ts";
export { isDataFault } from "./data-fault.ts";
export { retried } from "./sqlite/retry-locked.ts";
export { joinStatements, LOCK, LOCK_OR_SKIP, perEngine, sql, type Statement, textsIn } from "./sql/statement.ts";
export { readerOf, runnerOf, type SqliteRunner, type SqlRunner, type Transaction } from "./sql/runner.ts";
export { firstOf, inOneCommit, type Steps } from "./sql/steps.ts";
export { column, type SqlRow, tableOf } from "./sql/table.ts";
export { type EncryptionKey, encryptionKey } from "./secrets/encryption-key.ts";
export { secretBox, type SecretBox } from "./secrets/secret-box.ts";
export { SecretError } from "./secrets/secret-error.ts";
