import { Calendar } from "../../core/index.ts";
import { StorageError } from "../../storage/index.ts";

/** The error for a configuration whose days are not those of the storage. */
export function otherTimezone(stored: string, wanted: string): StorageError {
  return new StorageError(
    `storage: its days are those of ${stored}, and server.timezone is ${wanted}; set server.timezone to ${stored}, or ` +
      `stop all gateways and run "tollgate ledger timezone ${wanted}", which counts every call again`,
  );
}

/** The error for a change of the zone after entries were removed: their days can't be counted again. */
export function fixedTimezone(stored: string): StorageError {
  return new StorageError(
    `storage: entries were removed from its books, so their days can't be counted again: they remain those of ${stored}`,
  );
}

/** Throws a `StorageError` if there is no such zone. */
export function requireTimezone(zone: string): Calendar {
  try {
    return new Calendar(zone);
  } catch (cause) {
    throw new StorageError(`storage: there is no time zone "${zone}"; write a name like Europe/Berlin`, { cause });
  }
}
