import { SQL } from "bun";
import { SQLiteError } from "bun:sqlite";

/** SQLSTATE classes of Postgres: data exceptions and violated constraints. */
const FAULT_CLASSES = /^2[23]/;

/**
 * Whether a statement failed for what it was given, and would fail again, rather than for the storage's state: then
 * whatever shared a transaction with it is not at fault.
 */
export function isDataFault(reason: unknown): boolean {
  if (reason instanceof SQLiteError) return /^SQLITE_(?:CONSTRAINT|MISMATCH|RANGE|TOOBIG)/.test(reason.code ?? "");
  if (reason instanceof SQL.PostgresError) return FAULT_CLASSES.test(String(reason.errno));
  // A value that can't be bound to a statement.
  return reason instanceof RangeError || reason instanceof TypeError;
}
