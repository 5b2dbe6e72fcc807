/** Money in whole-system tests: calls that cost one credit each, and books that must balance. */
import { expect } from "bun:test";
import type { Nano } from "../../src/core/index.ts";
import { accountId, type AuditReport, openLedgerStore } from "../../src/ledger/index.ts";
import { openStorage } from "./storage.ts";
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

/** The findings of `tollgate ledger audit`, over a connection of its own. The command itself would take a quarter of a second. */
export async function auditOf({ storageUrl }: Pick<Gateway, "storageUrl">): Promise<AuditReport> {
  const storage = await openStorage(storageUrl);
  try {
    return await openLedgerStore(storage).audit();
  } finally {
    await storage.close();
  }
}

/**
 * Fails unless every balance follows from its entries, nothing is held, and no more than the expected shortfall was left
 * unpaid.
 */
export async function expectCleanAudit(gateway: Pick<Gateway, "storageUrl">, shortfall: Nano = 0n): Promise<void> {
  expect(await auditOf(gateway)).toMatchObject({ openHolds: 0, shortfall, drifts: [] });
}
