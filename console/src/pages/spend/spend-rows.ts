import type { Sums, Usage, UsageGroup } from "../../api/types.ts";
import { compare, type Decimal, sum, ZERO } from "../../money/decimal.ts";
import { type Grouping, groupText, groupValue } from "../../reports/dimensions.ts";
import { type Metric, valueOf } from "../../reports/metrics.ts";
import type { Series } from "../../plots/stacked-bars.tsx";

/** A row of the table: a group, or those behind the shown ones together. */
export interface SpendRow {
  key: string;
  /** The values of the group and its subgroup, by which calls are found; undefined of the row of all others. */
  values: (string | null)[] | undefined;
  names: string[];
  color: number | "other";
  sums: Record<Metric, Decimal>;
  /** The metric in the period before; undefined as long as it is not known. */
  before: Decimal | undefined;
}

/** Colours of a plot; further groups share one. */
const COLORS = 8;

const metricNames: readonly Metric[] = [
  "credits",
  "list_credits",
  "requests",
  "failures",
  "input_tokens",
  "output_tokens",
];

export function sumsOf(sums: Sums): Record<Metric, Decimal> {
  return Object.fromEntries(metricNames.map((metric) => [metric, valueOf(sums, metric)])) as Record<Metric, Decimal>;
}

function added(all: readonly Record<Metric, Decimal>[]): Record<Metric, Decimal> {
  return Object.fromEntries(metricNames.map((metric) => [metric, sum(all.map((sums) => sums[metric]))])) as Record<
    Metric,
    Decimal
  >;
}

const keyOf = (group: UsageGroup, groupings: readonly Grouping[]): string =>
  JSON.stringify(groupings.map((grouping) => groupValue(group, grouping)));

interface Shown {
  groupings: readonly Grouping[];
  metric: Metric;
  top: number;
}

/** The groups with the most of the metric, and one row of all others. Their sums are the API's total. */
export function rowsOf(now: Usage, before: Usage | undefined, { groupings, metric, top }: Shown): SpendRow[] {
  const earlier = new Map(before?.data.map((group) => [keyOf(group, groupings), valueOf(group, metric)]));
  const order = ranked(now, groupings, metric);
  const colors = colorsOf(now, groupings[0] ?? "model", metric);
  const shown = order.slice(0, top).map((group): SpendRow => {
    const values = groupings.map((grouping) => groupValue(group, grouping));
    const key = keyOf(group, groupings);
    return {
      key,
      values,
      names: groupings.map((grouping, index) => groupText(values[index] ?? null, grouping)),
      color: colors.get(values[0] ?? null) ?? "other",
      sums: sumsOf(group),
      before: before === undefined ? undefined : (earlier.get(key) ?? ZERO),
    };
  });
  const rest = order.slice(top);
  if (rest.length === 0) return shown;
  const known = new Set(shown.map(({ key }) => key));
  const earlierRest = [...earlier].filter(([key]) => !known.has(key)).map(([, value]) => value);
  const other: SpendRow = {
    key: "other",
    values: undefined,
    names: [`${rest.length} others`, ...groupings.slice(1).map(() => "")],
    color: "other",
    sums: added(rest.map(sumsOf)),
    before: before === undefined ? undefined : sum(earlierRest),
  };
  return [...shown, other];
}

function ranked(usage: Usage, groupings: readonly Grouping[], metric: Metric): UsageGroup[] {
  return usage.data.toSorted(
    (one, other) =>
      compare(valueOf(other, metric), valueOf(one, metric)) ||
      keyOf(one, groupings).localeCompare(keyOf(other, groupings)),
  );
}

/** The first groups by the metric have colours of their own. */
function colorsOf(usage: Usage, grouping: Grouping, metric: Metric): Map<string | null, number> {
  const totals = new Map<string | null, Decimal>();
  for (const group of usage.data) {
    const value = groupValue(group, grouping);
    totals.set(value, sum([totals.get(value) ?? ZERO, valueOf(group, metric)]));
  }
  const order = [...totals].toSorted(([, one], [, other]) => compare(other, one));
  return new Map(order.slice(0, COLORS).map(([value], index) => [value, index + 1]));
}

interface Drawn {
  grouping: Grouping;
  metric: Metric;
  starts: readonly string[];
}

/** The parts of the bars: the groups that have colours, in the order of the table, and the others together. */
export function seriesOf(now: Usage, byInterval: Usage, { grouping, metric, starts }: Drawn): Series[] {
  const colors = colorsOf(now, grouping, metric);
  const values = new Map<string | null | undefined, Decimal[]>();
  for (const group of byInterval.data) {
    const value = groupValue(group, grouping);
    const key = colors.has(value) ? value : undefined;
    const bar = starts.indexOf(group.day ?? "");
    const bars = values.get(key) ?? starts.map(() => ZERO);
    if (bar >= 0) bars[bar] = sum([bars[bar] ?? ZERO, valueOf(group, metric)]);
    values.set(key, bars);
  }
  const named = [...colors].map(([value, color]) => ({
    name: groupText(value, grouping),
    color,
    values: values.get(value) ?? starts.map(() => ZERO),
  }));
  const others = values.get(undefined);
  return others === undefined ? named : [...named, { name: "Others", color: "other", values: others }];
}
