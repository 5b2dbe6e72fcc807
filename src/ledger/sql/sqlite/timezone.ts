import type { Database } from "bun:sqlite";
import type { Calendar } from "../../../core/index.ts";
import { countingCalls, ZONE_DAY } from "../sums/sqlite-sums.ts";
import { fixedTimezone, otherTimezone, requireTimezone } from "../timezone.ts";

interface StateRow {
  timezone: string;
  removed_before: bigint;
}

const STATE = "SELECT timezone, removed_before FROM ledger_state";

const HAS_DAYS = "SELECT 1 FROM entries WHERE kind <> 'grant' LIMIT 1";

const COUNTED = "number <= (SELECT number FROM calls_by_owner_mark)";

/**
 * The zone of the file's days. A file without calls takes the wanted zone. Throws a `StorageError` if it has calls, and
 * another zone than the wanted one.
 */
export function agreeOnSqlite(handle: Database, wanted: string | undefined): string {
  const stored = stateOf(handle).timezone;
  if (wanted === undefined || wanted === stored) return stored;
  requireTimezone(wanted);
  const agree = handle.transaction(() => {
    const current = stateOf(handle).timezone;
    if (current === wanted) return;
    if (handle.query(HAS_DAYS).get() !== null) throw otherTimezone(current, wanted);
    handle.query("UPDATE ledger_state SET timezone = ?").run(wanted);
  });
  agree.immediate();
  return wanted;
}

/** Changes the zone and counts every call again by its days, in one transaction. */
export function recountSqlite(handle: Database, zone: string): void {
  const calendar = requireTimezone(zone);
  const recount = handle.transaction(() => {
    const { timezone, removed_before: removedBefore } = stateOf(handle);
    if (removedBefore > 0n) throw fixedTimezone(timezone);
    for (const table of ["daily_sums", "monthly_sums", "daily_units", "monthly_units"])
      handle.run(`DELETE FROM ${table}`);
    fillDays(handle, calendar);
    for (const statement of countingCalls(ZONE_DAY, COUNTED)) handle.run(statement);
    handle.query("UPDATE ledger_state SET timezone = ?").run(zone);
  });
  recount.immediate();
}

function stateOf(handle: Database): StateRow {
  const state = handle.query<StateRow, []>(STATE).get();
  if (state === null) throw new Error("ledger_state has no row");
  return state;
}

/** The starts of all days with calls. */
function fillDays(handle: Database, calendar: Calendar): void {
  handle.run("DELETE FROM days");
  const range = handle
    .query<{ first: bigint | null; last: bigint | null }, []>(
      "SELECT min(started_at) AS first, max(started_at) AS last FROM entries",
    )
    .get();
  const insert = handle.query("INSERT OR REPLACE INTO days VALUES (?, ?)");
  const last = calendar.dayOf(Number(range?.last ?? 0n));
  for (let day = calendar.dayOf(Number(range?.first ?? 0n)); day <= last; day += 1)
    insert.run(calendar.startOfDay(day), day);
}
