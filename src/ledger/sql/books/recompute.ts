/** Recomputes the accounts from grouped entries. */
import type { AuditReport, Drift, Opening, Openings } from "../../books.ts";
import { readBudgets } from "../call-budgets.ts";
import type { CountersRow, EntriesRow, HoldsRow, OpeningRow, SpendingRow, StateRow } from "./rows.ts";

/** What one snapshot contains. */
export interface Snapshot {
  state: StateRow;
  counters: readonly CountersRow[];
  openings: readonly OpeningRow[];
  holds: readonly HoldsRow[];
  entries: readonly EntriesRow[];
  spending: readonly SpendingRow[];
}

interface Recomputed {
  credits: bigint;
  debits: bigint;
  pending: bigint;
  openCalls: bigint;
  period: bigint;
}

/**
 * Each account's counters. A debit of an account, its returns from revenue, and its holds also count for each of its
 * parents, and for each budget that they name.
 */
function recompute({ counters, openings, holds, entries, spending }: Omit<Snapshot, "state">): Map<string, Recomputed> {
  const parents = new Map(counters.map(({ id, parent_id: parent }) => [id, parent]));
  const accounts = new Map(
    counters.map(({ id }) => [id, { credits: 0n, debits: 0n, pending: 0n, openCalls: 0n, period: 0n }]),
  );
  const eachAbove = (id: string, change: (account: Recomputed) => void): void => {
    for (let link: string | null | undefined = id; link !== null && link !== undefined; link = parents.get(link)) {
      const account = accounts.get(link);
      if (account !== undefined) change(account);
    }
  };
  const eachBudget = (budgets: string | null, change: (account: Recomputed) => void): void => {
    for (const id of readBudgets(budgets) ?? []) {
      const account = accounts.get(id);
      if (account !== undefined) change(account);
    }
  };
  for (const { debit_account: debit, credit_account: credit, is_grant: isGrant, amount, budgets } of entries) {
    if (isGrant === 1n) {
      // One side is the bank, which is no account here.
      const [granted, taken] = [accounts.get(credit), accounts.get(debit)];
      if (granted !== undefined) granted.credits += amount;
      if (taken !== undefined) taken.credits -= amount;
      continue;
    }
    eachAbove(debit, (account) => (account.debits += amount));
    eachAbove(credit, (account) => (account.debits -= amount));
    eachBudget(budgets, (account) => (account.debits += accounts.has(debit) ? amount : -amount));
  }
  for (const { account_id: id, calls, calls_above: callsAbove, amount, budgets } of holds) {
    eachBudget(budgets, (account) => (account.pending += amount));
    const first = accounts.get(id);
    eachAbove(id, (account) => {
      account.pending += amount;
      account.openCalls += account === first ? calls : callsAbove;
    });
  }
  const spent = new Map<string, bigint>();
  // A budget has its opening as its own spending, and that of the entries that name it.
  for (const { id, amount } of spending) spent.set(id, (spent.get(id) ?? 0n) + amount);
  const opened = new Map(openings.map((opening) => [opening.account_id, opening]));
  for (const { id, period_start: start } of counters) {
    const account = accounts.get(id);
    if (account === undefined) continue;
    // Without a start, the period contains everything.
    account.period = start === 0n ? account.debits : (spent.get(id) ?? 0n);
    const opening = opened.get(id);
    if (opening === undefined) continue;
    account.credits += opening.credits_posted;
    account.debits += opening.debits_posted;
    if (opening.period_start === start) account.period += opening.period_debits;
  }
  return accounts;
}

const count = (entries: readonly EntriesRow[]): number => entries.reduce((sum, row) => sum + Number(row.entries), 0);

const shortfallOf = (entries: readonly EntriesRow[]): bigint => entries.reduce((sum, row) => sum + row.shortfall, 0n);

/** The report of an audit, without the sums of days. */
export function auditReport(snapshot: Snapshot, drifts: readonly Drift[]): AuditReport {
  const { state, counters, entries } = snapshot;
  const accounts = recompute(snapshot);
  return {
    accounts: counters.length,
    entries: count(entries),
    openHolds: snapshot.holds.reduce((sum, { open }) => sum + Number(open), 0),
    shortfall: state.sealed_shortfall + shortfallOf(entries),
    drifts: [...counters.flatMap((row) => driftsOf(row, accounts.get(row.id))), ...drifts],
    ...(state.sealed_before > 0n && { sealedBefore: Number(state.sealed_before) }),
  };
}

function driftsOf(row: CountersRow, recomputed: Recomputed | undefined): Drift[] {
  if (recomputed === undefined) return [];
  const counters = [
    { counter: "credits_posted", recorded: row.credits_posted, recomputed: recomputed.credits },
    { counter: "debits_posted", recorded: row.debits_posted, recomputed: recomputed.debits },
    { counter: "debits_pending", recorded: row.debits_pending, recomputed: recomputed.pending },
    { counter: "open_calls", recorded: row.open_calls, recomputed: recomputed.openCalls },
    { counter: "period_debits", recorded: row.period_debits, recomputed: recomputed.period },
  ] as const;
  return counters.filter((each) => each.recorded !== each.recomputed).map((each) => ({ accountId: row.id, ...each }));
}

/** The opening balances of a snapshot whose entries are those before the date. */
export function openingsOf(snapshot: Snapshot, before: number): Openings {
  const accounts = recompute({ ...snapshot, holds: [] });
  const { state, counters, entries } = snapshot;
  const openings = counters.map(({ id, period_start: periodStart }): Opening => {
    const account = accounts.get(id);
    return {
      accountId: id,
      creditsPosted: account?.credits ?? 0n,
      debitsPosted: account?.debits ?? 0n,
      periodStart: Number(periodStart),
      periodDebits: account?.period ?? 0n,
    };
  });
  return {
    before,
    sealedBefore: Number(state.sealed_before),
    openings,
    entries: Number(state.sealed_entries) + count(entries),
    shortfall: state.sealed_shortfall + shortfallOf(entries),
  };
}
