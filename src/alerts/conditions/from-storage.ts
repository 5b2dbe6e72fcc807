/** The rules whose facts are in the storage, where every process sees the same. */
import type { AlertRule } from "../../config/index.ts";
import type { Clock } from "../../core/index.ts";
import type { JobStore } from "../../jobs/index.ts";
import type { SpendingReader, SpentBalance } from "../../ledger/index.ts";
import { differenceOf, type NodeStore } from "../../nodes/index.ts";
import type { CatalogLayers } from "../../pricing/index.ts";
import { modelOfCircuit, readSharedKeyId, type TargetStore } from "../../routing/index.ts";
import type { Crossing } from "../alert.ts";
import type { Condition } from "./conditions.ts";

/** Percent of a budget. */
const BUDGET_PERCENT = [50, 80, 100];

const BALANCE_DAYS_MIN = 3;
/** Days are slow, and the sums of all accounts are read for them. */
const BALANCE_LOOK_MS = 5 * 60_000;

/** A circuit that was open so lately has not worked since. */
const CIRCUIT_MS = 60_000;

/** How late a hold is ended, and a job begun, at the latest, while all is well. */
const HOLD_LATE_MS = 60_000;
const JOB_LATE_MS = 10 * 60_000;

interface StorageSources {
  spending: SpendingReader;
  targets: TargetStore;
  /** Whether the configuration has the key. A refusal of one that was replaced stays in the storage. */
  hasKey: (prefix: string, keyId: string) => boolean;
  jobs: JobStore;
  nodes: NodeStore;
  /** Those in force. */
  catalogs: () => CatalogLayers;
  clock: Clock;
}

type StorageRule = Extract<
  AlertRule,
  "budget" | "balance" | "circuit" | "key_refused" | "stale_prices" | "overdue" | "nodes_differ"
>;

export function storageConditions(sources: StorageSources): Record<StorageRule, Condition> {
  const { spending, targets, hasKey, nodes, catalogs, clock } = sources;
  let balancesAt = -Infinity;
  return {
    async budget() {
      const spent = await spending.spentBudgets(clock());
      return spent.flatMap(({ accountId: account, period, percent: value }) =>
        BUDGET_PERCENT.filter((threshold) => value >= threshold).map((threshold): Crossing => ({
          rule: "budget",
          account,
          period,
          threshold,
          value,
        })),
      );
    },
    async balance() {
      const at = clock();
      if (Math.abs(at - balancesAt) < BALANCE_LOOK_MS) return undefined;
      balancesAt = at;
      return (await spending.spentBalances(at)).flatMap(lowBalance);
    },
    async circuit() {
      const states = await targets.statesSince(0);
      const since = clock() - CIRCUIT_MS;
      const open = states.filter(({ kind, openUntil }) => kind === "open" && openUntil > since);
      // One model may have a circuit at each of several addresses.
      const models = new Set(open.map(({ id }) => modelOfCircuit(id)));
      return [...models].map((account) => ({ rule: "circuit", account, value: "open" }));
    },
    async key_refused() {
      const refused = (await targets.statesSince(0)).filter(({ kind }) => kind === "refused");
      const keys = refused.map(({ id }) => readSharedKeyId(id)).filter(({ prefix, keyId }) => hasKey(prefix, keyId));
      return [...new Set(keys.map(({ prefix, keyId }) => `${prefix}/${keyId}`))].map((account) => ({
        rule: "key_refused",
        account,
        value: "refused",
      }));
    },
    async stale_prices() {
      const age = catalogs().age(clock());
      if (age?.isOld !== true) return [];
      return [{ rule: "stale_prices", account: age.layer, value: age.days }];
    },
    overdue: () => overdue(sources),
    async nodes_differ() {
      const difference = await differenceOf(nodes, clock());
      return difference === undefined ? [] : [{ rule: "nodes_differ", value: difference.parts.join(", ") }];
    },
  };
}

/** An account that is empty can't be used, so that it has no pace any more: its alert stays, and none begins. */
function lowBalance({ accountId: account, available, lastDay }: SpentBalance): Crossing[] {
  if (lastDay === 0n) return [{ rule: "balance", account, threshold: BALANCE_DAYS_MIN, value: 0, keepsOpen: true }];
  const days = available <= 0n ? 0 : Number((available * 10n) / lastDay) / 10;
  return days < BALANCE_DAYS_MIN ? [{ rule: "balance", account, threshold: BALANCE_DAYS_MIN, value: days }] : [];
}

async function overdue({ spending, jobs, clock }: StorageSources): Promise<Crossing[]> {
  const at = clock();
  const counts = {
    holds: await spending.holdsLeftBefore(at - HOLD_LATE_MS),
    jobs: (await jobs.dueBefore(at - JOB_LATE_MS, at)).count,
  };
  return Object.entries(counts).flatMap(([account, value]) =>
    value > 0 ? [{ rule: "overdue" as const, account, value }] : [],
  );
}
