/**
 * What every `LedgerStore` must do, whichever engine keeps it. Called once for each engine with a function that opens a
 * fresh, empty store:
 *
 *   describeLedgerStore("sqlite", openSqliteLedger);
 */
import { describe, test } from "bun:test";
import { describeAccounts } from "./ledger-store/accounts.ts";
import { describeBooks } from "./ledger-store/books.ts";
import { endingCases } from "./ledger-store/endings.ts";
import { holdCases } from "./ledger-store/holds.ts";
import { describeInterleavings } from "./ledger-store/interleavings.ts";
import { describePeriods } from "./ledger-store/periods.ts";
import { type LedgerCase, type OpenLedgerStore, play } from "./ledger-store/world.ts";

export type { OpenedLedgerStore, OpenLedgerStore } from "./ledger-store/world.ts";

interface Options {
  /** Random interleavings that are tried. */
  runs?: number;
}

export function describeLedgerStore(name: string, open: OpenLedgerStore, { runs = 150 }: Options = {}): void {
  describe(`the ledger on ${name}`, () => {
    describe("accounts", () => describeAccounts(open));
    describe("holds and grants", () => describeCases(open, holdCases));
    describe("ends of a hold", () => describeCases(open, endingCases));
    describe("budget periods", () => describePeriods(open));
    describe("books", () => describeBooks(open));
    describe("interleavings", () => describeInterleavings(open, runs));
  });
}

/** Each row twice: every step in a commit of its own, and all steps in one. */
function describeCases(open: OpenLedgerStore, cases: readonly LedgerCase[]): void {
  test.each(cases.map((row) => [row.title, row] as const))("%s", async (_title, row) => {
    await play(open, row, "each");
    await play(open, row, "one");
  });
}
