import { setTimeout as wait } from "node:timers/promises";
import type { Calendar } from "../../../core/index.ts";
import type { Statements } from "../../../storage/index.ts";
import type { AuditReport, BooksState, Drift, ExportedEntry, HeldNow, LedgerBooks, Openings } from "../../books.ts";
import { ENTRY_KIND, type ExportRow, toExported } from "../books/exported-entry.ts";
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
} from "../books/rows.ts";
import { differingMonths, monthDrifts, type MonthRow, type UnitsOfMonthRow } from "../books/month-drifts.ts";
import { sumDrifts, unitDrifts } from "../books/sum-drifts.ts";
import { type SumColumn, sumColumns } from "../sums/sum-columns.ts";
import { comparisons, postgresMonthOf } from "./daily-sums.ts";

/** Pages of the table of entries, 60 to 70 entries each, that an export reads at once and a transaction removes. */
const EXPORTED_PAGES = 32;
const REMOVED_PAGES = 8;

type Run = <Row>(text: string) => Promise<Row[]>;

/** A sum and the calls that it must contain; null if there is none. */
interface ComparedRow extends SumKeyRow {
  recorded: bigint[] | null;
  recomputed: bigint[] | null;
}

interface ComparedUnitsRow extends SumKeyRow {
  bucket: string;
  recorded: bigint;
  recomputed: bigint;
}

/** The retention of the books on Postgres. */
export class PostgresBooks implements LedgerBooks {
  readonly #statements: Statements;
  readonly #calendar: Calendar;

  constructor(statements: Statements, calendar: Calendar) {
    this.#statements = statements;
    this.#calendar = calendar;
  }

  async state(): Promise<BooksState> {
    const state = only(await this.#statements.run<StateRow>(STATE));
    const { closed_before: closed, sealed_before: sealed, removed_before: removed } = state;
    return { closedBefore: Number(closed), sealedBefore: Number(sealed), removedBefore: Number(removed) };
  }

  async held(): Promise<HeldNow> {
    return heldNowOf(only(await this.#statements.run<HeldNowRow>(HELD_NOW)));
  }

  audit(): Promise<AuditReport> {
    return this.#statements.snapshot(async (run) => {
      const snapshot = await readSnapshot(run, "");
      return auditReport(snapshot, await this.#sumDrifts(run, snapshot.state));
    });
  }

  openingsBefore(before: number): Promise<Openings> {
    return this.#statements.snapshot(async (run) =>
      openingsOf(await readSnapshot(run, `AND created_at < ${before}`), before),
    );
  }

  /** Compares the sums of the days since the seal with the calls that began then, and those of their months with the days. */
  async #sumDrifts(run: Run, { sealed_before: sealedBefore }: StateRow): Promise<Drift[]> {
    const since = Number(sealedBefore);
    const day = since === 0 ? undefined : this.#calendar.dayOf(since - 1) + 1;
    const [days, calls] =
      day === undefined ? ["true", "true"] : [`day >= ${day}`, `started_at >= ${this.#calendar.startOfDay(day)}`];
    const compared = comparisons(days, calls);
    const sums = await run<ComparedRow>(compared.sums);
    const units = await run<ComparedUnitsRow>(compared.units);
    const months = differingMonths(postgresMonthOf, day ?? 0);
    return [
      ...sums.flatMap((row) => sumDrifts(row, { recorded: sumsIn(row.recorded), recomputed: sumsIn(row.recomputed) })),
      ...units.flatMap((row) => unitDrifts(row, row)),
      ...monthDrifts({ sums: await run<MonthRow>(months.sums), units: await run<UnitsOfMonthRow>(months.units) }),
    ];
  }

  async close(before: number): Promise<void> {
    await this.#statements.run("SELECT ledger_close($1)", [before]);
  }

  async seal({ before, sealedBefore, openings, entries, shortfall }: Openings): Promise<boolean> {
    const rows = openings.map((opening) => ({
      account_id: opening.accountId,
      credits_posted: String(opening.creditsPosted),
      debits_posted: String(opening.debitsPosted),
      period_start: opening.periodStart,
      period_debits: String(opening.periodDebits),
    }));
    const parameters = [before, sealedBefore, entries, shortfall, JSON.stringify(rows)];
    const [row] = await this.#statements.run<{ sealed: boolean }>(
      "SELECT ledger_seal($1, $2, $3, $4, $5) AS sealed",
      parameters,
    );
    return row?.sealed === true;
  }

  /** In a snapshot, for which no statement is too long: without statistics Postgres may read the whole table. */
  hasEntries(from: number, before: number): Promise<boolean> {
    return this.#statements.snapshot(async (run) => {
      const [row] = await run<{ found: boolean }>(
        `SELECT EXISTS (SELECT FROM entries WHERE created_at >= ${from} AND created_at < ${before}) AS found`,
      );
      return row?.found === true;
    });
  }

  /** In the order of the table, whose rows never move. */
  async *pages(from: number, before: number): AsyncIterable<readonly ExportedEntry[]> {
    for await (const [first, end] of this.#pageRanges(EXPORTED_PAGES)) {
      const rows = await this.#statements.run<ExportRow>(
        `SELECT e.id, ${ENTRY_KIND}, e.debit_account, e.credit_account, e.amount, e.held, e.shortfall, e.created_at, e.corrects_at,
           e.actor, e.reason, g.list_credits,
           g.owner, g.operation, g.dialect, g.provider, g.model, g.streamed, g.status, g.outcome, g.usage, g.input_tokens,
           g.output_tokens, g.ms, g.first_byte_ms, g.started_at, g.parent, g.session, g.credits,
           g.route, g.upstream_request_id, g.attempts, g.client_request_id, g.end_user, g.tags, g.error_code
         FROM entries e LEFT JOIN generations g ON g.id = e.id
         WHERE e.ctid >= format('(%s,0)', $1::bigint)::tid AND e.ctid < format('(%s,0)', $2::bigint)::tid
           AND e.created_at >= $3 AND e.created_at < $4`,
        [first, end, from, before],
      );
      yield rows.map(toExported);
    }
  }

  async allowRemoval(before: number): Promise<void> {
    await this.#statements.run("UPDATE ledger_state SET removed_before = greatest(removed_before, $1)", [before]);
  }

  /** Between two transactions it waits as long as the first one took, and leaves the disk to the gateways' commits. */
  async *removals(): AsyncIterable<number> {
    for await (const [first, end] of this.#pageRanges(REMOVED_PAGES)) {
      const begun = performance.now();
      const [row] = await this.#statements.run<{ removed: bigint }>("SELECT ledger_remove($1, $2) AS removed", [
        first,
        end,
      ]);
      const removed = Number(row?.removed ?? 0n);
      if (removed === 0) continue;
      yield removed;
      await wait(performance.now() - begun);
    }
  }

  /** Later pages contain later entries only. */
  async *#pageRanges(size: number): AsyncIterable<[first: number, end: number]> {
    const [table] = await this.#statements.run<{ pages: bigint }>(
      "SELECT pg_relation_size('entries') / current_setting('block_size')::bigint AS pages",
    );
    const pages = Number(table?.pages ?? 0n);
    for (let first = 0; first < pages; first += size) yield [first, first + size];
  }
}

async function readSnapshot(run: Run, condition: string): Promise<Snapshot> {
  const state = only(await run<StateRow>(STATE));
  const unsealed = `created_at >= ${state.sealed_before} ${condition}`;
  return {
    state,
    counters: await run<CountersRow>(COUNTERS),
    openings: await run<OpeningRow>(OPENINGS),
    holds: await run<HoldsRow>(holdsOf("counts_above")),
    entries: await run<EntriesRow>(entriesOf(unsealed)),
    spending: await run<SpendingRow>(spendingOf(`e.${unsealed}`, "json_array_elements_text(e.budgets::json)")),
  };
}

function only<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error("ledger_state has no row");
  return row;
}

/** Reads one of the sums that `comparisons` selects as an array. */
function sumsIn(values: bigint[] | null): (column: SumColumn) => bigint {
  const sums = new Map([...(values ?? [])].map(BigInt).map((value, index) => [sumColumns[index], value]));
  return (column) => sums.get(column) ?? 0n;
}
