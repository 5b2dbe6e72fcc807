export { type JournalEntry, JournalFile } from "./journal-file.ts";
export { type PostgresStorage, type SqliteStorage, type Storage, StorageError, type WebDatabase } from "./database.ts";
export { openWebDatabase } from "./sqlite/web-database.ts";
export { changeTimezone, openStorage, withoutPassword } from "./open.ts";
export type { Parameter, Statements } from "./postgres/statements.ts";
export { plainCommit, plainRows } from "./postgres/ledger-commit-plain.ts";
export { isDataFault } from "./data-fault.ts";
export { retried, retryLocked } from "./sqlite/retry-locked.ts";
