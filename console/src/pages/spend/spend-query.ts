import { useApi } from "../../api/queries.ts";
import { useReach } from "../../api/session.ts";
import type { Usage } from "../../api/types.ts";
import { useWords } from "../../app/search.ts";
import { type Grouping, isAllowed, isGrouping } from "../../reports/dimensions.ts";
import { filtersOf } from "../../reports/filter-chips.tsx";
import { isMetric, type Metric } from "../../reports/metrics.ts";
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
export function useReport(): Report {
  const words = useWords();
  const { seesAll } = useReach();
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

/** The sums by group, those of the period before, and those by interval and group. */
export function useSpend(report: Report) {
  const { usage } = useReach();
  const { period, interval, group, subgroup, filters } = report;
  const groups = subgroup === undefined ? group : `${group},${subgroup}`;
  return {
    now: useApi<Usage>(usage, { ...filters, ...period, group_by: groups }),
    before: useApi<Usage>(usage, { ...filters, ...periodBefore(period), group_by: groups }),
    series: useApi<Usage>(usage, { ...filters, ...period, group_by: `day,${group}`, interval }),
  };
}
