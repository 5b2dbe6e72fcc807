export { type SqliteStorage, type Storage, StorageError } from "./database.ts";
export { openStorage } from "./open.ts";
