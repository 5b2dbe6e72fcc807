/**
 * The zone of the days. The functions that need it contain it, so that the nodes of all versions count by the same one
 * from the moment of a change, and no commit has to look it up.
 */
import type { SQL, TransactionSQL } from "bun";
import { type Calendar, dayName } from "../../../core/index.ts";
import { StorageError } from "../../../storage/index.ts";
import { fixedTimezone, otherTimezone, requireTimezone } from "../timezone.ts";
import { RECOUNT } from "./daily-sums.ts";

interface State {
  timezone: string;
  removed_before: bigint;
}

/** The days before and after today whose starts must be the same for Postgres and for this process. */
const COMPARED_DAYS = 400;

/**
 * The zone of the database's days. A database without calls takes the wanted zone. Throws a `StorageError` if it has
 * calls, and another zone than the wanted one, or if Postgres knows other rules for the zone.
 */
export async function agreeOnPostgres(pool: SQL, wanted: string | undefined): Promise<string> {
  const stored = (await stateOf(pool)).timezone;
  const zone = wanted ?? stored;
  if (zone !== stored) {
    await change(pool, requireTimezone(zone), async (transaction, { timezone }) => {
      const [call] = await transaction.unsafe<object[]>("SELECT 1 FROM entries WHERE kind <> 'grant' LIMIT 1");
      if (call !== undefined && timezone !== zone) throw otherTimezone(timezone, zone);
    });
  }
  if (zone !== "UTC") await compareDays(pool, requireTimezone(zone));
  return zone;
}

/** Changes the zone and counts every call again by its days, in one transaction. Running nodes wait for it. */
export async function recountPostgres(pool: SQL, zone: string): Promise<void> {
  await change(pool, requireTimezone(zone), async (_, { timezone, removed_before: removedBefore }) => {
    if (removedBefore > 0n) throw fixedTimezone(timezone);
  });
  if (zone !== "UTC") await compareDays(pool, requireTimezone(zone));
}

async function change(
  pool: SQL,
  { zone }: Calendar,
  check: (transaction: TransactionSQL, state: State) => Promise<void>,
): Promise<void> {
  await pool.begin(async (transaction) => {
    await transaction.unsafe("SET LOCAL statement_timeout = 0");
    // In the order of a commit, which begins with the accounts.
    await transaction.unsafe("LOCK TABLE accounts, holds, entries, generations IN ACCESS EXCLUSIVE MODE");
    await check(transaction, await stateOf(transaction));
    for (const statement of [...functionsFor(zone), ...RECOUNT]) await transaction.unsafe(statement);
    await transaction.unsafe("UPDATE ledger_state SET timezone = $1", [zone]);
  });
}

async function stateOf(sql: SQL | TransactionSQL): Promise<State> {
  const [state] = await sql.unsafe<State[]>("SELECT timezone, removed_before FROM ledger_state");
  if (state === undefined) throw new Error("ledger_state has no row");
  return state;
}

function define(head: string, type: string, body: string): string {
  return `CREATE OR REPLACE FUNCTION ${head} RETURNS ${type} LANGUAGE sql IMMUTABLE AS $$ ${body} $$`;
}

/**
 * The functions of `LEDGER_PERIODS`, and `ledger_day`, for a zone. A day begins at its midnight: the first one if
 * the clocks repeat it, the moment at which they skip it otherwise.
 */
function functionsFor(zone: string): string[] {
  const local = (at: string): string => `(to_timestamp(${at}) AT TIME ZONE '${zone}')`;
  return [
    define(
      "ledger_day(at bigint)",
      "bigint",
      `SELECT (${local("floor(at / 1000.0)")}::date - date '1970-01-01')::bigint`,
    ),
    define(
      "ledger_day_start(day date)",
      "bigint",
      `SELECT 1000 * CASE WHEN ${local("s.second - 3600")}::date >= day THEN s.second - 3600 ELSE s.second END
       FROM (SELECT extract(epoch FROM day::timestamp AT TIME ZONE '${zone}')::bigint) AS s (second)`,
    ),
    define(
      "ledger_period_start(period text, at bigint)",
      "bigint",
      `SELECT CASE period
         WHEN 'daily' THEN ledger_day_start(${local("at / 1000")}::date)
         WHEN 'monthly' THEN ledger_day_start(date_trunc('month', ${local("at / 1000")})::date)
         ELSE 0 END`,
    ),
    define(
      "ledger_period_end(period text, began bigint)",
      "bigint",
      `SELECT CASE period
         WHEN 'daily' THEN ledger_day_start(${local("began / 1000")}::date + 1)
         WHEN 'monthly' THEN ledger_day_start((date_trunc('month', ${local("began / 1000")}) + interval '1 month')::date)
         ELSE 9223372036854775807 END`,
    ),
  ];
}

/** Both have their own tables of the zones; sums and readers must agree about every day. */
async function compareDays(pool: SQL, calendar: Calendar): Promise<void> {
  const [now] = await pool.unsafe<{ ms: bigint }[]>("SELECT (extract(epoch FROM now()) * 1000)::bigint AS ms");
  const today = calendar.dayOf(Number(now?.ms));
  const days = Array.from({ length: 2 * COMPARED_DAYS }, (_, index) => today - COMPARED_DAYS + index);
  const starts = days.map((day) => calendar.startOfDay(day));
  const [other] = await pool.unsafe<{ day: bigint }[]>(
    `SELECT d.day FROM json_array_elements_text($1::text::json) WITH ORDINALITY AS s (start, place)
       CROSS JOIN LATERAL (SELECT $2::bigint + place - 1 AS day, s.start::bigint AS start) d
     WHERE ledger_day(d.start) <> d.day OR ledger_day(d.start - 1) >= d.day
       OR ledger_period_start('daily', d.start) <> d.start OR ledger_period_end('daily', d.start - 1) <> d.start
     ORDER BY d.day LIMIT 1`,
    [JSON.stringify(starts), today - COMPARED_DAYS],
  );
  if (other === undefined) return;
  throw new StorageError(
    `storage: Postgres and this process have different rules for ${calendar.zone} on ${dayName(Number(other.day))}; update the older time zone data, or use another zone`,
  );
}
