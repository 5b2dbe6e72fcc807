/** Calls at given moments, and the usage report that they give. */
import type { Calendar } from "../../src/core/index.ts";
import type { UsageOutcome } from "../../src/generations/index.ts";
import type { CallRecord, LedgerOperation } from "../../src/ledger/index.ts";

export const DAY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;
export const at = (text: string): number => Date.parse(text);
export const dayOf = (text: string): number => at(text) / DAY_MS;

export const owners = ["alice", "bob"] as const;
const models = ["small", "large"] as const;

export interface Call {
  id: string;
  owner: string;
  model: string;
  startedAt: number;
  credits: bigint;
}

export const account = (kind: "token" | "user", name: string, parentId?: string) =>
  ({
    id: `${kind}:${name}`,
    kind,
    name,
    parentId,
    prepaid: kind === "user",
    maxBudget: undefined,
    period: undefined,
  }) as const;

const recordOf = ({ owner, model, startedAt }: Call): CallRecord => ({
  owner,
  operation: "chat",
  dialect: "chat",
  provider: "openai",
  model,
  streamed: false,
  status: 200,
  outcome: "complete",
  usage: { input: 1, cacheRead: 1, inputAudio: 1, output: 1, reasoning: 1, outputImage: 0, requests: 1 },
  milliseconds: 1.5,
  millisecondsToFirstByte: startedAt % 700,
  startedAt,
});

export const holdOf = ({ id, owner, startedAt }: Call, leaseUntil = startedAt + HOUR_MS): LedgerOperation => ({
  kind: "hold",
  id,
  accountId: `token:${owner}`,
  amount: 1_000n,
  operation: "chat",
  provider: "openai",
  model: "small",
  dialect: undefined,
  streamed: false,
  at: startedAt,
  leaseUntil,
});

export const settleOf = (call: Call, end = call.startedAt + 1): LedgerOperation => ({
  kind: "settle",
  id: call.id,
  amount: call.credits,
  at: end,
  record: recordOf(call),
});

let calls = 0;

export function callAt(startedAt: number, more: Partial<Call> = {}): Call {
  calls += 1;
  const owner = owners[calls % 2] ?? "alice";
  const model = models[Math.floor(calls / 2) % 2] ?? "small";
  return { id: `req_${String(calls).padStart(8, "0")}`, owner, model, startedAt, credits: BigInt(calls % 97), ...more };
}

/** The report that the calls themselves give. */
export function reportOf(all: readonly Call[], range: { owner: string; from: number; to: number }, calendar: Calendar) {
  const own = all.filter(
    (call) => call.owner === range.owner && call.startedAt >= range.from && call.startedAt < range.to,
  );
  const days = new Map<number, bigint>();
  for (const call of own) {
    const day = calendar.dayOf(call.startedAt);
    days.set(day, (days.get(day) ?? 0n) + call.credits);
  }
  const byDay = [...days].toSorted(([a], [b]) => a - b);
  return {
    days: byDay.map(([day, credits]) => [new Date(day * DAY_MS).toISOString().slice(0, 10), credits] as const),
    requests: BigInt(own.length),
    credits: own.reduce((sum, call) => sum + call.credits, 0n),
  };
}

export function readOf(outcome: UsageOutcome) {
  if (typeof outcome === "string" || "removedBefore" in outcome) return outcome;
  const { groups, total } = outcome;
  return {
    days: groups.map(({ name, credits }) => [name, credits] as const),
    requests: total.requests,
    credits: total.credits,
  };
}
