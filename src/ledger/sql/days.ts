import type { Preparation } from "../../storage/index.ts";
import { agreeOnPostgres, recountPostgres } from "./postgres/timezone.ts";
import { agreeOnSqlite, recountSqlite } from "./sqlite/timezone.ts";

/** Prepares the days of a storage, and returns their zone. */
export function agreeOnTimezone(wanted: string | undefined): Preparation<string> {
  return {
    sqlite: (handle) => agreeOnSqlite(handle, wanted),
    postgres: (connection) => agreeOnPostgres(connection, wanted),
  };
}

/** Changes the zone of the days. Throws a `StorageError` if that is not possible. */
export function recountDays(zone: string): Preparation<void> {
  return {
    sqlite: (handle) => recountSqlite(handle, zone),
    postgres: (connection) => recountPostgres(connection, zone),
  };
}
