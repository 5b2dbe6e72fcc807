/** The calls that the nodes of `refunding-node.ts` refund: every second one has expired, and may still get a late end. */
import type { LedgerOperation, LedgerStore } from "../../src/ledger/index.ts";

export const CALLS = 60;
export const ACCOUNT = "user:u";
export const TOKEN = "token:t";
const COST = 10n;

export const callId = (index: number): string => `call-${String(index).padStart(2, "0")}`;

/** Creates the accounts and the calls. */
export async function makeCalls(store: LedgerStore): Promise<void> {
  const at = Date.now() - 60_000;
  const common = { maxBudget: undefined, period: "daily" } as const;
  await store.putAccount({ id: ACCOUNT, kind: "user", name: "u", parentId: undefined, prepaid: true, ...common }, at);
  await store.putAccount({ id: TOKEN, kind: "token", name: "t", parentId: ACCOUNT, prepaid: false, ...common }, at);
  const amount = BigInt(CALLS) * COST;
  await store.commit([{ kind: "grant", id: "first", accountId: ACCOUNT, amount, at, actor: "test", reason: "a race" }]);
  const call = { operation: "chat", provider: "up", model: "m", dialect: undefined, streamed: false } as const;
  const made = Array.from({ length: CALLS }, (_, index): LedgerOperation[] => {
    const id = callId(index);
    const hold = { kind: "hold", id, accountId: TOKEN, amount: COST, ...call, at, leaseUntil: at } as const;
    const end: LedgerOperation =
      index % 2 === 0
        ? { kind: "settle", id, amount: COST, at }
        : { kind: "renew", id, leaseUntil: at, observed: COST };
    return [hold, end];
  });
  await store.commit([...made.flat(), { kind: "sweep", at: at + 1 }]);
}
