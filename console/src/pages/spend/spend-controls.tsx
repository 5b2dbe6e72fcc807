import { type Grouping, groupingOptions, groupingsFor } from "../../reports/dimensions.ts";
import { metrics } from "../../reports/metrics.ts";
import { PeriodField } from "../../reports/period-field.tsx";
import { useTagKeys } from "../../reports/tag-keys.ts";
import { SelectField } from "../../ui/select-field.tsx";
import { type Report, tops } from "./report.ts";

interface SpendControlsProps {
  report: Report;
  change: (words: Record<string, string | undefined>) => void;
  seesAll: boolean;
}

/** What is shown, in words of the address. */
export function SpendControls({ report, change, seesAll }: SpendControlsProps) {
  const { period, interval, metric, group, subgroup, top } = report;
  const tagKeys = useTagKeys([group, ...(subgroup === undefined ? [] : [subgroup])]);
  const options = groupingOptions(groupingsFor(seesAll, tagKeys));
  const { [group]: _, ...others } = options;
  const groupBy = (first: Grouping, second: Grouping | "" | undefined) =>
    change({ group_by: second === undefined || second === "" || second === first ? first : `${first},${second}` });
  return (
    <div className="no-print mb-5 grid grid-cols-2 items-end gap-3 sm:flex sm:flex-wrap">
      <PeriodField period={period} onChange={change} />
      <SelectField
        label="Metric"
        value={metric}
        options={metrics}
        onChange={(each) => change({ metric: each })}
        className="sm:w-44"
      />
      <SelectField
        label="Group by"
        value={group}
        options={options}
        onChange={(each) => groupBy(each, subgroup)}
        className="sm:w-36"
      />
      <SelectField<Grouping | "">
        label="Then by"
        value={subgroup ?? ""}
        options={{ "": "Nothing", ...others }}
        onChange={(each) => groupBy(group, each)}
        className="sm:w-36"
      />
      <SelectField
        label="Bars by"
        value={interval}
        options={{ day: "Day", week: "Week", month: "Month" }}
        onChange={(each) => change({ interval: each })}
        className="sm:w-28"
      />
      <SelectField
        label="Rows"
        value={String(top)}
        options={Object.fromEntries(tops.map((each) => [String(each), `Top ${each}`]))}
        onChange={(each) => change({ top: each })}
        className="sm:w-28"
      />
    </div>
  );
}
