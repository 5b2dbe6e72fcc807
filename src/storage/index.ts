export { type PostgresStorage, type SqliteStorage, type Storage, StorageError } from "./database.ts";
export { openStorage } from "./open.ts";
export type { Statements } from "./postgres/statements.ts";
