/**
 * A node that takes and gives at random, until it is killed: `bun refunding-node.ts <storage> <node>`. It refunds calls that
 * other nodes refund too and whose late ends come meanwhile, grants credits and takes them back, and spends. Prints a line for
 * each refund that the ledger has acknowledged.
 */
import { Ledger, openLedgerStore } from "../../src/ledger/index.ts";
import { openStorage } from "../kit/storage.ts";
import { ACCOUNT, callId, CALLS, TOKEN } from "./refunded-calls.ts";

const [url = "", node = ""] = process.argv.slice(2);
const ledger = new Ledger({ store: openLedgerStore(await openStorage(url)) });
const posting = { actor: `test:${node}`, reason: "a race" };
const below = (count: number): number => Math.floor(Math.random() * count);
let last = 0;

async function refund(): Promise<void> {
  const id = callId(below(CALLS));
  const { outcome } = await ledger.submit({ kind: "refund", id, at: Date.now(), ...posting });
  if (outcome === "refunded") console.log(id);
}

const grant = (amount: bigint) => {
  last += 1;
  const id = `grant-${process.pid}-${last}`;
  return ledger.submit({ kind: "grant", id, accountId: ACCOUNT, amount, at: Date.now(), ...posting });
};

const endLate = () =>
  ledger.submit({ kind: "settle", id: callId(below(CALLS)), amount: BigInt(below(20)), at: Date.now() });

async function spend(): Promise<void> {
  last += 1;
  const id = `spent-${process.pid}-${last}`;
  const at = Date.now();
  const call = { operation: "chat", provider: "up", model: "m", dialect: undefined, streamed: false } as const;
  const hold = { kind: "hold", id, accountId: TOKEN, amount: 10n, ...call, at, leaseUntil: at + 60_000 } as const;
  const { outcome } = await ledger.submit(hold);
  if (outcome === "held") await ledger.submit({ kind: "settle", id, amount: 7n, at });
}

const actions: (() => Promise<unknown>)[] = [refund, refund, () => grant(5n), () => grant(-20n), endLate, spend, spend];

async function act(): Promise<void> {
  await actions[below(actions.length)]?.();
}

for (;;) await Promise.all(Array.from({ length: 8 }, act));
