import type { Bar } from "../report/bar.ts";
import { count, markdownTable, milliseconds } from "../report/format.ts";
import type { LedgerFigures } from "./measure.ts";

export function ledgerTable(figures: readonly LedgerFigures[]): string {
  const head = ["The ledger alone", "callers", "hold + settle pairs a second", "hold p50, ms", "hold p99, ms"];
  const rows = figures.map(({ store, callers, pairsPerSecond, holdP50, holdP99, problem }) =>
    problem === null
      ? [store, count(callers), count(pairsPerSecond), milliseconds(holdP50), milliseconds(holdP99)]
      : [store, count(callers), `invalid: ${problem}`, "–", "–"],
  );
  return `${markdownTable(head, rows)}\n`;
}

/** The ledger's bars on two cores, with the database on the same machine. */
export function ledgerBars(figures: readonly LedgerFigures[]): Bar[] {
  return figures.flatMap((each) => {
    if (each.callers !== 64) return [];
    if (each.store === "SQLite") return [pairsBar(each, 20_000)];
    if (each.store === "Postgres") return [pairsBar(each, 5_000), holdBar(each, 2)];
    return [];
  });
}

function pairsBar({ store, callers, pairsPerSecond, problem }: LedgerFigures, least: number): Bar {
  const promise = `ledger on ${store}: at least ${count(least)} pairs a second at ${callers} callers`;
  return { promise, measured: problem ?? count(pairsPerSecond), kept: problem === null && pairsPerSecond >= least };
}

function holdBar({ store, callers, holdP50, problem }: LedgerFigures, most: number): Bar {
  const promise = `ledger on ${store}: hold p50 below ${most} ms at ${callers} callers`;
  return { promise, measured: problem ?? `${milliseconds(holdP50)} ms`, kept: problem === null && holdP50 < most };
}
