import type { Database } from "bun:sqlite";
import type { Calendar } from "../../../core/index.ts";
import { fixedTimezone, otherTimezone, requireTimezone } from "../timezone.ts";

interface StateRow {
  timezone: string;
  removed_before: bigint;
}

const STATE = "SELECT timezone, removed_before FROM ledger_state";

const HAS_DAYS = "SELECT 1 FROM entries WHERE kind <> 'grant' LIMIT 1";

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
    handle.run("DELETE FROM daily_sums");
    handle.run("DELETE FROM monthly_sums");
    fillDays(handle, calendar);
    handle.run(`
      INSERT INTO daily_sums (owner, day, account_id, provider, model, operation, tags, requests, failures, input_tokens,
        output_tokens, credits, list_credits)
      SELECT owner, (SELECT d.day FROM days d WHERE d.start <= started_at ORDER BY d.start DESC LIMIT 1) AS its_day,
        debit_account, provider, model, operation, coalesce(tags, ''), count(*), sum(outcome <> 'complete' AND outcome <> 'abandoned'),
        sum(input_tokens), sum(output_tokens), sum(coalesce(credits, amount)), sum(coalesce(list_credits, 0))
      FROM entries WHERE owner IS NOT NULL AND number <= (SELECT number FROM calls_by_owner_mark)
      GROUP BY 1, 2, 3, 4, 5, 6, 7`);
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
