/**
 * The contract of every `LedgerStore`, on any engine. Called once per engine with a function that opens a fresh, empty
 * store:
 *   describeLedgerStore("sqlite", openSqliteLedger);
 */
import { describe } from "bun:test";
import { describeAccounts } from "./ledger-store/accounts.ts";
import { describeBooks } from "./ledger-store/books.ts";
import { endingCases } from "./ledger-store/endings.ts";
import { holdCases } from "./ledger-store/holds.ts";
import { describeRefunds } from "./ledger-store/refunds.ts";
import { describeInterleavings } from "./ledger-store/interleavings.ts";
import { describeParking } from "./ledger-store/parking.ts";
import { describeMoves } from "./ledger-store/moves.ts";
import { describePeriods } from "./ledger-store/periods.ts";
import { describeLevels } from "./ledger-store/levels.ts";
import { describeRates } from "./ledger-store/rates.ts";
import { describeRecords } from "./ledger-store/records.ts";
import { describeRetries } from "./ledger-store/retries.ts";
import { describeTopUps } from "./ledger-store/top-ups.ts";
import { type OpenLedgerStore, testCases } from "./ledger-store/world.ts";

export type { OpenedLedgerStore, OpenLedgerStore } from "./ledger-store/world.ts";

/** Random interleavings that are tried. */
const INTERLEAVINGS = Number(process.env["INTERLEAVINGS"] ?? 100);

export function describeLedgerStore(name: string, open: OpenLedgerStore): void {
  describe(`the ledger on ${name}`, () => {
    describe("accounts", () => describeAccounts(open));
    describe("holds and grants", () => testCases(open, holdCases));
    describe("ends of a hold", () => testCases(open, endingCases));
    describe("top-ups", () => describeTopUps(open));
    describe("moves", () => describeMoves(open));
    describe("rates", () => describeRates(open));
    describe("levels", () => describeLevels(open));
    describe("retry keys", () => describeRetries(open));
    describe("parking", () => describeParking(open));
    describe("call records", () => describeRecords(open));
    describe("budget periods", () => describePeriods(open));
    describe("takings and refunds", () => describeRefunds(open));
    describe("books", () => describeBooks(open));
    describe("interleavings", () => describeInterleavings(open, INTERLEAVINGS));
  });
}
