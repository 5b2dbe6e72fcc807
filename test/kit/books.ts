/** Money in whole-system tests: calls that cost one credit each, and books that must balance. */
import { expect } from "bun:test";
import { formatCredits, type Nano } from "../../src/core/index.ts";
import { accountId, openLedgerStore } from "../../src/ledger/index.ts";
import type { Gateway } from "./gateway.ts";
import { until } from "./until.ts";

export const oneCredit = 1_000_000_000n;

/** Configuration under which every call to `openai/` costs exactly one credit, so its hold equals its cost. */
export const oneCreditACall = { pricing: { models: { "openai/*": { requests_kcount: 1000 } } } };

/** A user's grants, spending, and holds. */
export async function userBooks(gateway: Gateway, user: string) {
  const [account] = await openLedgerStore(gateway.storage).chain(accountId("user", user), Date.now());
  return { credits: account?.creditsPosted, spent: account?.debitsPosted, held: account?.debitsPending };
}

/** Waits until a user has no holds, and returns the spending. */
export async function spentBy(gateway: Gateway, user: string): Promise<bigint> {
  return until(`nothing is held for ${user}`, async () => {
    const { spent, held } = await userBooks(gateway, user);
    return held === 0n && spent;
  });
}

/**
 * Fails unless `tollgate ledger audit` finds that every balance follows from its entries, that nothing is held, and that
 * no more than the expected shortfall was left unpaid.
 */
export async function expectCleanAudit(gateway: Gateway, shortfall: Nano = 0n): Promise<void> {
  const { code, stdout } = await gateway.cli("ledger", "audit", "--json");
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    expect.objectContaining({ ok: true, open_holds: 0, shortfall: Number(formatCredits(shortfall)), drifts: [] }),
  ]);
}
