/** The facts of each rule. */
import type { AlertRule, AlertsConfig } from "../config/index.ts";
import type { Crossing } from "./alert.ts";

const MINUTE_MS = 60_000;

/** A fact about a rule: its default of `after`, and the meaning of an alert, for people. */
interface RuleFacts {
  afterMs: number;
  describe: (crossing: Crossing) => string;
}

const at = ({ account }: Crossing): string => account ?? "the gateway";

const facts: Readonly<Record<AlertRule, RuleFacts>> = {
  budget: { afterMs: 0, describe: (c) => `${at(c)} has spent ${c.value} % of its budget (${c.threshold} %)` },
  balance: { afterMs: 0, describe: (c) => `the balance of ${at(c)} lasts ${c.value} days at the last day's pace` },
  circuit: { afterMs: MINUTE_MS, describe: (c) => `${at(c)} fails and is left out` },
  key_refused: { afterMs: 0, describe: (c) => `the provider refuses the key ${at(c)}` },
  error_rate: { afterMs: 0, describe: (c) => `${c.value} % of the calls to ${at(c)} fail (${c.threshold} %)` },
  unpriced: { afterMs: 0, describe: (c) => `${at(c)} is asked for and has no price (${c.value} calls in an hour)` },
  stale_prices: { afterMs: 0, describe: (c) => `the prices of ${at(c)} are ${c.value} days old` },
  overdue: { afterMs: MINUTE_MS, describe: (c) => `${c.value} ${at(c)} are overdue` },
  journal: { afterMs: MINUTE_MS, describe: (c) => `${c.value} charges wait in the journal of ${at(c)}` },
  shortfall: { afterMs: 0, describe: (c) => `${c.value} credits were owed beyond a balance within an hour` },
  nodes_differ: { afterMs: MINUTE_MS, describe: (c) => `nodes have different ${c.value}` },
  audit_drift: { afterMs: 0, describe: (c) => `the books of ${at(c)} do not add up (${c.value})` },
};

/** How long the condition must last until the alert opens, and be gone until it closes. */
export function afterMsOf(rule: AlertRule, { rules }: AlertsConfig): number {
  return rules[rule]?.after ?? facts[rule].afterMs;
}

/** One line for people. */
export function describeAlert(crossing: Crossing): string {
  return facts[crossing.rule].describe(crossing);
}
