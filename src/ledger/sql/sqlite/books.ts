import type { Database } from "bun:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import type { Calendar } from "../../../core/index.ts";
import { retried } from "../../../storage/index.ts";
import type { AuditReport, BooksState, Drift, ExportedEntry, HeldNow, LedgerBooks, Openings } from "../../books.ts";
import { auditReport, openingsOf, type Snapshot } from "../books/recompute.ts";
import {
  COUNTERS,
  type CountersRow,
  entriesOf,
  type EntriesRow,
  HELD_NOW,
  heldNowOf,
  type HeldNowRow,
  holdsOf,
  type HoldsRow,
  type OpeningRow,
  OPENINGS,
  spendingOf,
  type SpendingRow,
  STATE,
  type StateRow,
  type SumKeyRow,
  type SumRow,
  type UnitsRow,
} from "../books/rows.ts";
import { differingMonths, monthDrifts, type MonthRow, type UnitsOfMonthRow } from "../books/month-drifts.ts";
import { SUM_DRIFTS_MAX, sumDrifts, SUMS_LEFT, unitDrifts } from "../books/sum-drifts.ts";
import { CALL_COLUMNS, ENTRY_KIND, type ExportRow, toExported } from "../books/exported-entry.ts";
import { sqliteMonthOf, summedCalls, summedUnits, UTC_DAY, ZONE_DAY } from "../sums/sqlite-sums.ts";
import { sumColumns, sumKey } from "../sums/sum-columns.ts";
import type { CallsByOwner } from "./calls-by-owner.ts";
import { RemovalBatch } from "./removal-batch.ts";

/** Entries that are grouped at once: SQLite sorts them for that, and a small sort stays in memory. */
const GROUPED_ENTRIES = 50_000;

/** The entries among which old ones are looked for. */
const FIRST_ENTRIES = 10_000;

/** Entries of one page of an export. */
const PAGE_ENTRIES = 2_000;

/** Entries of one transaction of a removal: a few milliseconds, for which the gateway's commits wait. */
const REMOVED_ENTRIES = 250;

interface SqliteStateRow extends StateRow {
  sealed_to: bigint;
}

interface SqliteBooksOptions {
  database: Database;
  calendar: Calendar;
  callsByOwner: CallsByOwner;
  /** Called after this connection has closed the books up to a date. */
  onClosed: () => void;
}

/** The retention of the books on SQLite. */
export class SqliteBooks implements LedgerBooks {
  readonly #database: Database;
  readonly #calendar: Calendar;
  readonly #callsByOwner: CallsByOwner;
  readonly #onClosed: () => void;

  constructor({ database, calendar, callsByOwner, onClosed }: SqliteBooksOptions) {
    this.#database = database;
    this.#calendar = calendar;
    this.#callsByOwner = callsByOwner;
    this.#onClosed = onClosed;
  }

  async state(): Promise<BooksState> {
    const { closed_before: closed, sealed_before: sealed, removed_before: removed } = this.#state();
    return { closedBefore: Number(closed), sealedBefore: Number(sealed), removedBefore: Number(removed) };
  }

  #state(): SqliteStateRow {
    const state = this.#database.query<SqliteStateRow, []>(STATE.replace("FROM", ", sealed_to FROM")).get();
    if (state === null) throw new Error("ledger_state has no row");
    return state;
  }

  async held(): Promise<HeldNow> {
    const row = this.#database.query<HeldNowRow, []>(HELD_NOW).get();
    if (row === null) throw new Error("a sum has no row");
    return heldNowOf(row);
  }

  async audit(): Promise<AuditReport> {
    const audit = this.#database.transaction(() => {
      const snapshot = this.#snapshot("");
      return auditReport(snapshot, this.#sumDrifts(snapshot.state));
    });
    return audit.deferred();
  }

  async openingsBefore(before: number): Promise<Openings> {
    const read = this.#database.transaction(() => openingsOf(this.#snapshot(`AND created_at < ${before}`), before));
    return read.deferred();
  }

  /** Reads everything since the seal that meets the condition. */
  #snapshot(condition: string): Snapshot & { state: SqliteStateRow } {
    const state = this.#state();
    const counters = this.#database.query<CountersRow, []>(COUNTERS).all();
    const unsealed = `created_at >= ${state.sealed_before} ${condition}`;
    const starts = counters.map((row) => row.period_start).filter((start) => start > 0n);
    const spendingSince = starts.reduce((least, start) => (start < least ? start : least), starts[0] ?? 0n);
    return {
      state,
      counters,
      openings: this.#database.query<OpeningRow, []>(OPENINGS).all(),
      holds: this.#database.query<HoldsRow, []>(holdsOf("true")).all(),
      entries: this.#grouped<EntriesRow>(state, entriesOf(`number > ?1 AND number <= ?2 AND ${unsealed}`)),
      spending:
        starts.length === 0
          ? []
          : mergeSpending(
              this.#grouped<SpendingRow>(
                state,
                spendingOf(
                  `e.number > ?1 AND e.number <= ?2 AND e.created_at >= ${spendingSince} AND e.${unsealed}`,
                  "json_each(e.budgets)",
                ),
              ),
            ),
    };
  }

  /** Groups the entries since the seal, some at a time; a group may come several times. */
  #grouped<Row>({ sealed_to: sealedTo }: SqliteStateRow, statement: string): Row[] {
    const groups: Row[] = [];
    const query = this.#database.prepare<Row, [bigint, bigint]>(statement);
    const last = this.#lastNumber();
    for (let from = sealedTo; from < last; from += BigInt(GROUPED_ENTRIES)) {
      groups.push(...query.all(from, from + BigInt(GROUPED_ENTRIES)));
    }
    query.finalize();
    return groups;
  }

  #lastNumber(): bigint {
    return (
      this.#database.query<{ last: bigint | null }, []>("SELECT max(number) AS last FROM entries").get()?.last ?? 0n
    );
  }

  /** Compares the sums of the days since the seal with the calls that began then, up to the mark of the sums, and those of their months with the days. */
  #sumDrifts(state: SqliteStateRow): Drift[] {
    const since = Number(state.sealed_before);
    const fromDay = since === 0 ? Number.MIN_SAFE_INTEGER : this.#calendar.dayOf(since - 1) + 1;
    const from = since === 0 ? Number.MIN_SAFE_INTEGER : this.#calendar.startOfDay(fromDay);
    const day = this.#calendar.zone === "UTC" ? UTC_DAY : ZONE_DAY;
    const counted = `number > ?1 AND number <= ?2 AND started_at >= ${from} AND number <= (SELECT number FROM calls_by_owner_mark)`;
    const sums = new Map<string, SumRow>();
    for (const row of this.#grouped<SumRow>(state, summedCalls(day, counted))) addSum(sums, row);
    const units = new Map<string, UnitsRow>();
    for (const row of this.#grouped<UnitsRow>(state, summedUnits(day, counted))) addUnits(units, row);
    const drifts: Drift[] = [];
    for (const row of this.#sumsSince(fromDay)) {
      const calls = sums.get(keyOf(row));
      drifts.push(
        ...sumDrifts(row, { recorded: (column) => row[column], recomputed: (column) => calls?.[column] ?? 0n }),
      );
      sums.delete(keyOf(row));
      if (drifts.length >= SUM_DRIFTS_MAX) return drifts;
    }
    for (const row of sums.values())
      drifts.push(...sumDrifts(row, { recorded: () => 0n, recomputed: (column) => row[column] }));
    const recorded = this.#database.query<UnitsRow, [number]>("SELECT * FROM daily_units WHERE day >= ?");
    for (const row of recorded.iterate(fromDay)) {
      drifts.push(...unitDrifts(row, { recorded: row.units, recomputed: units.get(unitKeyOf(row))?.units ?? 0n }));
      units.delete(unitKeyOf(row));
    }
    for (const row of units.values()) drifts.push(...unitDrifts(row, { recorded: 0n, recomputed: row.units }));
    const months = differingMonths(sqliteMonthOf, Math.max(fromDay, 0));
    drifts.push(
      ...monthDrifts({ sums: this.#read<MonthRow>(months.sums), units: this.#read<UnitsOfMonthRow>(months.units) }),
    );
    return drifts.slice(0, SUM_DRIFTS_MAX);
  }

  /** The sums of days, without what was removed. */
  #sumsSince(fromDay: number): IterableIterator<SumRow> {
    const columns = sumColumns.map((name, index) => `${SUMS_LEFT[index]} AS ${name}`);
    const statement = `SELECT day, ${sumKey.join(", ")}, ${columns.join(", ")} FROM daily_sums WHERE day >= ?`;
    return this.#database.query<SumRow, [number]>(statement).iterate(fromDay);
  }

  #read<Row>(statement: string): Row[] {
    const query = this.#database.prepare<Row, []>(statement);
    const rows = query.all();
    query.finalize();
    return rows;
  }

  async close(before: number): Promise<void> {
    await retried(() =>
      this.#database.query("UPDATE ledger_state SET closed_before = max(closed_before, ?)").run(before),
    );
    this.#onClosed();
  }

  async seal({ before, sealedBefore, openings, entries, shortfall }: Openings): Promise<boolean> {
    const sealedTo = this.#lastSealed(before);
    const write = this.#database.transaction((): boolean => {
      const { changes } = this.#database
        .query(
          "UPDATE ledger_state SET sealed_before = ?, sealed_to = ?, sealed_entries = ?, sealed_shortfall = ? WHERE sealed_before = ?",
        )
        .run(before, sealedTo, entries, shortfall, sealedBefore);
      if (changes === 0) return false;
      this.#database.run("DELETE FROM opening_balances");
      const insert = this.#database.query("INSERT INTO opening_balances VALUES (?, ?, ?, ?, ?)");
      for (const { accountId, creditsPosted, debitsPosted, periodStart, periodDebits } of openings) {
        insert.run(accountId, creditsPosted, debitsPosted, periodStart, periodDebits);
      }
      return true;
    });
    return retried(() => write.immediate());
  }

  /** The number up to which all entries are sealed, and all of their calls began before the date. */
  #lastSealed(before: number): bigint {
    const first = this.#database
      .query<{ first: bigint | null }, [number]>(
        "SELECT min(number) AS first FROM entries WHERE created_at >= ?1 OR started_at >= ?1",
      )
      .get(before)?.first;
    return (first ?? this.#lastNumber() + 1n) - 1n;
  }

  /** Entries are numbered by the time of their commit, so that the first ones are the oldest, apart from seconds. */
  async hasEntries(from: number, before: number): Promise<boolean> {
    const found = this.#database
      .query<{ found: bigint }, [number, number, number]>(
        `SELECT EXISTS (SELECT 1 FROM (SELECT created_at FROM entries ORDER BY number LIMIT ?)
           WHERE created_at >= ? AND created_at < ?) AS found`,
      )
      .get(FIRST_ENTRIES, from, before);
    return found?.found === 1n;
  }

  /** Each page is read on its own: a long snapshot would keep the write-ahead log from being emptied. */
  async *pages(from: number, before: number): AsyncIterable<readonly ExportedEntry[]> {
    const page = this.#database.prepare<ExportRow, [bigint, number]>(
      `SELECT number, ${ENTRY_KIND}, id, debit_account, credit_account, amount, held, shortfall, created_at, corrects_at, actor, reason,
         ${CALL_COLUMNS}
       FROM entries e WHERE number > ? ORDER BY number LIMIT ?`,
    );
    for (let after = 0n, rows: ExportRow[] = []; ; after = rows.at(-1)?.number ?? after) {
      rows = page.all(after, PAGE_ENTRIES);
      if (rows.length === 0) break;
      yield rows.filter((row) => row.created_at >= from && row.created_at < before).map(toExported);
    }
    page.finalize();
  }

  async allowRemoval(before: number): Promise<void> {
    await retried(() =>
      this.#database.query("UPDATE ledger_state SET removed_before = max(removed_before, ?)").run(before),
    );
  }

  /** Between two transactions it waits as long as the first one took, so that the gateways' commits are not starved. */
  async *removals(): AsyncIterable<number> {
    const { removed_before: before } = this.#state();
    // What was not counted yet could not be told any more.
    const fill = this.#database.transaction(() => this.#callsByOwner.fillAll(this.#lastNumber()));
    await retried(() => fill.immediate());
    const batch = new RemovalBatch(this.#database, this.#calendar, Number(before));
    const last = this.#lastNumber();
    for (let after = 0n; after < last;) {
      const begun = performance.now();
      const from = after;
      const { removed, next } = await retried(() => batch.remove(from, REMOVED_ENTRIES));
      after = next;
      if (removed === 0) continue;
      yield removed;
      await wait(performance.now() - begun);
    }
  }
}

function mergeSpending(rows: readonly SpendingRow[]): SpendingRow[] {
  const sums = new Map<string, bigint>();
  for (const { id, amount } of rows) sums.set(id, (sums.get(id) ?? 0n) + amount);
  return [...sums].map(([id, amount]) => ({ id, amount }));
}

const keyOf = ({ owner, day, account_id: account, provider, model, operation, tags }: SumKeyRow): string =>
  JSON.stringify([owner, Number(day), account, provider, model, operation, tags]);

const unitKeyOf = (row: UnitsRow): string => `${keyOf(row)} ${row.bucket}`;

function addSum(sums: Map<string, SumRow>, row: SumRow): void {
  const sum = sums.get(keyOf(row));
  if (sum === undefined) sums.set(keyOf(row), row);
  else for (const column of sumColumns) sum[column] += row[column];
}

function addUnits(sums: Map<string, UnitsRow>, row: UnitsRow): void {
  const sum = sums.get(unitKeyOf(row));
  if (sum === undefined) sums.set(unitKeyOf(row), row);
  else sum.units += row.units;
}
