import { SQL } from "bun";
import { SQLiteError } from "bun:sqlite";

/** SQLSTATE classes of Postgres: data exceptions, violated constraints, and limits such as that of an entry of an index. */
const FAULT_CLASSES = /^(?:2[23]|54)/;

/**
 * Whether a statement failed because of its data and would fail again, rather than because of the storage's state: then
 * other operations of its transaction are not at fault.
 */
export function isDataFault(reason: unknown): boolean {
  if (reason instanceof SQLiteError) return /^SQLITE_(?:CONSTRAINT|MISMATCH|RANGE|TOOBIG)/.test(reason.code ?? "");
  if (reason instanceof SQL.PostgresError) return FAULT_CLASSES.test(String(reason.errno));
  // A value that cannot be bound to a statement.
  return reason instanceof RangeError || reason instanceof TypeError;
}
