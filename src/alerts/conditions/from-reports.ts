/** The rules whose facts the processes report. */
import type { AlertRule } from "../../config/index.ts";
import type { Crossing } from "../alert.ts";
import type { ProcessReport } from "../store.ts";
import type { Condition } from "./conditions.ts";

/** A provider's share of failed calls, in percent, and the calls that it takes to judge one. */
const ERROR_RATE_MAX = 20;
const CALLS_MIN = 20;

type ReportRule = Extract<AlertRule, "error_rate" | "unpriced" | "shortfall" | "journal">;

/** `reports` are those of all processes that are there. */
export function reportConditions(
  reports: () => Promise<ReadonlyMap<string, ProcessReport>>,
): Record<ReportRule, Condition> {
  return {
    error_rate: async () => failing([...(await reports()).values()]),
    unpriced: async () => {
      const sums = summed([...(await reports()).values()].map(({ unpriced }) => unpriced));
      return [...sums].map(([account, value]) => ({ rule: "unpriced", account, value }));
    },
    shortfall: async () => {
      const value = [...(await reports()).values()].reduce((sum, { shortfall }) => sum + shortfall, 0);
      return value > 0 ? [{ rule: "shortfall", value }] : [];
    },
    journal: async () =>
      [...(await reports())].flatMap(([account, { journal }]) =>
        journal > 0 ? [{ rule: "journal" as const, account, value: journal }] : [],
      ),
  };
}

function failing(reports: readonly ProcessReport[]): Crossing[] {
  const all = summed(reports.map(({ calls }) => mapped(calls, ([count]) => count)));
  const failed = summed(reports.map(({ calls }) => mapped(calls, ([, count]) => count)));
  return [...all].flatMap(([account, count]) => {
    const share = Math.round(((failed.get(account) ?? 0) * 100) / count);
    return count < CALLS_MIN || share < ERROR_RATE_MAX
      ? []
      : [{ rule: "error_rate" as const, account, threshold: ERROR_RATE_MAX, value: share }];
  });
}

function mapped<Value>(of: Readonly<Record<string, Value>>, count: (value: Value) => number): Record<string, number> {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, count(value)]));
}

function summed(counts: readonly Readonly<Record<string, number>>[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const each of counts)
    for (const [name, count] of Object.entries(each)) sums.set(name, (sums.get(name) ?? 0) + count);
  return sums;
}
