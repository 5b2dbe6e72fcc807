import { lazily } from "../../ui/lazily.ts";
import type { ReactNode } from "react";
import { useApi } from "../../api/queries.ts";
import { useReach } from "../../api/use-session.ts";
import type { FirstTokens, Usage, UsageGroup } from "../../api/types.ts";
import { Amount, Count, durationText } from "../../money/amount.tsx";
import { compare, decimalOf, decimalsOf, plainText } from "../../money/decimal.ts";
import { BarPlot } from "../../plots/plot.tsx";
import { Change } from "../../reports/change.tsx";
import { valueOf } from "../../reports/metrics.ts";
import { intervalsOf, intervalText, namedPeriods, periodBefore, periodText, today } from "../../reports/period.ts";
import { firstCall } from "../../ui/first-call.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Empty, Loaded, Skeleton } from "../../ui/states.tsx";
import { Attention } from "./attention.tsx";
import { Balances } from "./balances.tsx";
import { Link } from "@tanstack/react-router";

/** Balance and pace, the last thirty days, and everything that needs somebody. */
export function Page() {
  const { usage } = useReach();
  const period = namedPeriods["30 days"](today());
  const now = useApi<Usage>(usage, { ...period, group_by: "day", include: "first_token_ms" });
  const before = useApi<Usage>(usage, { ...periodBefore(period), group_by: "day" });
  return (
    <>
      <PageHead title="Overview" />
      <div className="grid gap-5 xl:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="min-w-0">
          <Loaded query={now} skeleton={<Skeleton className="h-[28rem]" />}>
            {(data) =>
              data.total.requests === 0 ? (
                <Empty title="No calls yet" curl={firstCall()}>
                  This one is on this page as soon as it has ended:
                </Empty>
              ) : (
                <LastDays now={data} before={before.data} />
              )
            }
          </Loaded>
        </div>
        <div className="space-y-5">
          <Balances />
          <Attention />
        </div>
      </div>
    </>
  );
}

const compact = lazily(() => new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 }));

function LastDays({ now, before }: { now: Usage; before: Usage | undefined }) {
  const period = namedPeriods["30 days"](today());
  const starts = intervalsOf(period, "day");
  const byDay = new Map(now.data.map((group) => [group.day, valueOf(group, "credits")]));
  const values = starts.map((start) => byDay.get(start) ?? decimalOf(0));
  return (
    <div className="space-y-5">
      <Figures now={now} before={before} />
      <section aria-label="Spending by day" className="card p-4">
        <h2 className="mb-3 flex justify-between text-[0.8125rem] font-medium text-soft">
          Credits by day
          <Link to="/spend" className="font-normal text-accent underline underline-offset-4">
            By model, user …
          </Link>
        </h2>
        <BarPlot
          labels={starts.map((start) => intervalText(start, "day"))}
          series={[{ name: "Credits", color: 1, values }]}
          format={plainText}
          formatAxis={(value) => compact().format(value)}
          description={`Credits by day, ${periodText(period)}. The page Spend has a table of them.`}
        />
      </section>
      <DearestModels />
    </div>
  );
}

function Figures({ now: { total }, before }: { now: Usage; before: Usage | undefined }) {
  const then = before?.total;
  const failed = total.requests === 0 ? 0 : total.failures / total.requests;
  return (
    <section aria-label="The last 30 days" className="card grid grid-cols-2 divide-line sm:grid-cols-4 sm:divide-x">
      <Figure
        name="Credits, 30 days"
        note={<Change now={valueOf(total, "credits")} before={then && valueOf(then, "credits")} />}
      >
        <Amount value={total.credits} isLarge />
      </Figure>
      <Figure
        name="Calls"
        note={<Change now={valueOf(total, "requests")} before={then && valueOf(then, "requests")} />}
      >
        <Count value={total.requests} />
      </Figure>
      <Figure name="Failed" note={`${total.failures} calls`}>
        {(failed * 100).toFixed(1)} %
      </Figure>
      {total.first_token_ms && <FirstToken {...total.first_token_ms} />}
    </section>
  );
}

function Figure({ name, note, children }: { name: string; note: ReactNode; children: ReactNode }) {
  return (
    <div className="p-4 max-sm:nth-[n+3]:border-t max-sm:nth-[n+3]:border-line">
      <h2 className="text-[0.8125rem] text-muted">{name}</h2>
      <p className="figures mt-1 text-2xl font-semibold tracking-tight">{children}</p>
      <p className="mt-1 text-xs text-muted">{note}</p>
    </div>
  );
}

/** The least bounds, in milliseconds, within which so many calls had their first token. */
function FirstToken({ p50, p95, count }: FirstTokens) {
  return (
    <Figure name="First token, p50" note={count === 0 ? "No answers yet" : `p95 ${boundText(p95)}, ${count} answers`}>
      {count === 0 ? "—" : boundText(p50)}
    </Figure>
  );
}

const boundText = (bound: number | null): string => (bound === null ? "over 30 s" : `≤ ${durationText(bound)}`);

const MODELS = 5;

function DearestModels() {
  const { usage } = useReach();
  const period = namedPeriods["30 days"](today());
  const query = useApi<Usage>(usage, { ...period, group_by: "model" });
  return (
    <section aria-label="Models" className="card overflow-x-auto">
      <Loaded query={query} skeleton={<Skeleton className="h-48" />}>
        {({ data }) => {
          const models = data
            .toSorted((one, other) => compare(valueOf(other, "credits"), valueOf(one, "credits")))
            .slice(0, MODELS);
          return <ModelTable models={models} />;
        }}
      </Loaded>
    </section>
  );
}

function ModelTable({ models }: { models: readonly UsageGroup[] }) {
  const decimals = decimalsOf(models.map((group) => valueOf(group, "credits")));
  return (
    <table className="ledger">
      <caption className="sr-only">The models with the highest spending of the last 30 days</caption>
      <thead>
        <tr>
          <th scope="col">Model</th>
          <th scope="col" className="figure">
            Calls
          </th>
          <th scope="col" className="figure max-sm:hidden">
            Failed
          </th>
          <th scope="col" className="figure">
            Credits
          </th>
        </tr>
      </thead>
      <tbody>
        {models.map(({ model = "", requests, failures, credits }) => (
          <tr key={model}>
            <th scope="row" className="max-w-32 truncate sm:max-w-none">
              <Link
                to="/requests"
                search={{ model }}
                className="underline decoration-transparent underline-offset-4 hover:decoration-current"
              >
                {model}
              </Link>
            </th>
            <td className="figure">
              <Count value={requests} />
            </td>
            <td className="figure max-sm:hidden">
              <Count value={failures} />
            </td>
            <td className="figure">
              <Amount value={credits} decimals={decimals} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
