import { lazily } from "../../ui/lazily.ts";
import { useChangeWords } from "../../app/search.ts";
import { addressOf } from "../../api/client.ts";
import { useReach } from "../../api/use-session.ts";
import { plainText } from "../../money/decimal.ts";
import { BarPlot } from "../../plots/plot.tsx";
import { FilterChips } from "../../reports/filter-chips.tsx";
import { intervalText, intervalsOf, periodText } from "../../reports/period.ts";
import { metrics } from "../../reports/metrics.ts";
import { groupingText } from "../../reports/dimensions.ts";
import { csvOf, download } from "../../reports/csv.ts";
import type { Usage } from "../../api/types.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { firstCall } from "../../ui/first-call.ts";
import { Icon } from "../../ui/icon.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Empty, Loaded, Skeleton } from "../../ui/states.tsx";
import { SpendControls } from "./spend-controls.tsx";
import type { Report } from "./report.ts";
import { useReport, useSpend } from "./spend-query.ts";
import { rowsOf, seriesOf, sumsOf } from "./spend-rows.ts";
import { SpendTable } from "./spend-table.tsx";
import { SpendTotals } from "./spend-totals.tsx";

/** What was spent: by group, by interval, and beside the period before. */
export function Page() {
  const report = useReport();
  const change = useChangeWords();
  const { seesAll } = useReach();
  const { now, before, series } = useSpend(report);
  return (
    <>
      <PageHead
        title="Spend"
        note={<span className="print-only">{statementNote(report)}</span>}
        actions={
          <>
            <Button
              disabled={now.data === undefined}
              onClick={() => now.data && saveCsv(report, now.data, before.data)}
            >
              <Icon name="download" />
              CSV
            </Button>
            {seesAll && (
              <a href={focusAddress(report)} download className={buttonClass}>
                <Icon name="download" />
                FOCUS
              </a>
            )}
            <Button onClick={() => print()}>
              <Icon name="print" />
              Print
            </Button>
          </>
        }
      />
      <SpendControls report={report} change={change} seesAll={seesAll} />
      <FilterChips filters={report.filters} remove={(grouping) => change({ [grouping]: undefined })} />
      <Loaded query={now} skeleton={<Skeleton className="h-[36rem]" />}>
        {(usage) =>
          usage.total.requests === 0 ? (
            <Empty title="No calls in this period" curl={firstCall()}>
              A call appears here as soon as it has ended. This one costs a small part of a credit:
            </Empty>
          ) : (
            <Figures report={report} usage={usage} before={before.data} byInterval={series.data} />
          )
        }
      </Loaded>
    </>
  );
}

interface FiguresProps {
  report: Report;
  usage: Usage;
  before: Usage | undefined;
  byInterval: Usage | undefined;
}

function Figures({ report, usage, before, byInterval }: FiguresProps) {
  const { group, subgroup, metric, interval, period, top } = report;
  const shown = { groupings: subgroup === undefined ? [group] : [group, subgroup], metric, top };
  const starts = intervalsOf(period, interval);
  return (
    <div className="space-y-5">
      <SpendTotals now={sumsOf(usage.total)} before={before && sumsOf(before.total)} period={period} />
      <section aria-label="Plot" className="card p-4 print:break-inside-avoid">
        <h2 className="mb-3 text-[0.8125rem] font-medium text-soft">
          {metrics[metric]} by {interval} and {groupingText(group).toLowerCase()}
        </h2>
        {byInterval === undefined ? (
          <Skeleton className="h-64" />
        ) : (
          <BarPlot
            labels={starts.map((start) => intervalText(start, interval))}
            series={seriesOf(usage, byInterval, { grouping: group, metric, starts })}
            format={plainText}
            formatAxis={axisText}
            description={`${metrics[metric]} by ${interval}, ${periodText(period)}. The table below has the figures.`}
          />
        )}
      </section>
      <SpendTable
        report={report}
        rows={rowsOf(usage, before, shown)}
        total={sumsOf(usage.total)}
        totalBefore={before && sumsOf(before.total)[metric]}
      />
    </div>
  );
}

const compact = lazily(() => new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 }));
const axisText = (value: number): string => compact().format(value);

/** The whole period in the columns of FOCUS 1.0, by the filters that an export has. */
function focusAddress({ period, filters: { organisation, user, project, token } }: Report): string {
  const filter = { organisation, user, project, token };
  return addressOf("/admin/v1/exports", { what: "usage", format: "focus", ...period, ...filter });
}

function statementNote({ period }: Report): string {
  return `${location.host}, ${periodText(period)}`;
}

/** All groups with all figures, and the total. */
function saveCsv(report: Report, usage: Usage, before: Usage | undefined): void {
  const { group, subgroup, metric, period } = report;
  const names = subgroup === undefined ? [group] : [group, subgroup];
  const figures = Object.keys(metrics) as (keyof typeof metrics)[];
  const rows = rowsOf(usage, before, { groupings: names, metric, top: usage.data.length });
  const total = sumsOf(usage.total);
  const text = csvOf([
    [...names, ...figures, `${metric}_before`],
    ...rows.map(({ names: shown, sums, before: earlier }) => [
      ...shown,
      ...figures.map((each) => plainText(sums[each])),
      earlier === undefined ? "" : plainText(earlier),
    ]),
    ["total", ...names.slice(1).map(() => ""), ...figures.map((each) => plainText(total[each])), ""],
  ]);
  download(`spend-${period.from}-${period.to}.csv`, text, "text/csv");
}
