import { preloadApi } from "../../api/query-client.ts";
import type { Reach } from "../../api/session.ts";
import type { Search } from "../../app/search-words.ts";
import { type Grouping, filtersOf, isAllowed, isGrouping } from "../../reports/dimensions.ts";
import { isMetric, type Metric } from "../../reports/metrics.ts";
import { organisationsQuery } from "../../reports/organisations.ts";
import { type Interval, lengthInDays, type Period, periodBefore, periodOf } from "../../reports/period.ts";

/** What the page shows, as its address says. */
export interface Report {
  period: Period;
  interval: Interval;
  metric: Metric;
  group: Grouping;
  subgroup: Grouping | undefined;
  /** Rows of the table; the others are added up. */
  top: number;
  filters: Partial<Record<Grouping, string>>;
}

export const tops = [5, 10, 25, 100] as const;

/** The words `from`, `to`, `interval`, `group_by` and the filters are the API's; `metric` and `top` are the page's. */
export function reportOf(words: Search, { seesAll }: Reach): Report {
  const [group, subgroup] = (words["group_by"] ?? "")
    .split(",")
    .filter(isGrouping)
    .filter((each) => isAllowed(each, seesAll));
  const period = periodOf(words);
  const metric = words["metric"];
  const top = tops.find((each) => String(each) === words["top"]);
  return {
    period,
    interval: intervalOf(words["interval"], period),
    metric: isMetric(metric) ? metric : "credits",
    group: group ?? "model",
    subgroup: subgroup === group ? undefined : subgroup,
    top: top ?? 10,
    // A user's own report has no filters.
    filters: seesAll ? filtersOf(words) : {},
  };
}

function intervalOf(word: string | undefined, period: Period): Interval {
  if (word === "day" || word === "week" || word === "month") return word;
  const days = lengthInDays(period);
  return days > 200 ? "month" : days > 62 ? "week" : "day";
}

/** The parameters of the sums by group, of those of the period before, and of those by interval and group. */
export function parametersOf({ period, interval, group, subgroup, filters }: Report) {
  const groups = subgroup === undefined ? group : `${group},${subgroup}`;
  return {
    now: { ...filters, ...period, group_by: groups },
    before: { ...filters, ...periodBefore(period), group_by: groups },
    series: { ...filters, ...period, group_by: `day,${group}`, interval },
  };
}

/** Asks for the sums before the page is drawn. */
export function preload(words: Search, reach: Reach): void {
  for (const parameters of Object.values(parametersOf(reportOf(words, reach)))) preloadApi(reach.usage, parameters);
  if (reach.seesAll) preloadApi(...organisationsQuery);
}
