import type { Sums } from "../api/types.ts";
import { type Decimal, decimalOf } from "../money/decimal.ts";

export type Metric = Exclude<keyof Sums, "first_token_ms">;

/** What can be summed, in the order in which it is offered. */
export const metrics: Readonly<Record<Metric, string>> = {
  credits: "Credits",
  list_credits: "Credits at list price",
  requests: "Calls",
  failures: "Failed calls",
  input_tokens: "Input tokens",
  output_tokens: "Output tokens",
};

export const isMetric = (text: string | undefined): text is Metric =>
  text !== undefined && Object.hasOwn(metrics, text);

/** Whether a metric is an amount of credits. */
export const isMoney = (metric: Metric): boolean => metric === "credits" || metric === "list_credits";

export function valueOf(sums: Sums, metric: Metric): Decimal {
  return decimalOf(sums[metric]);
}
