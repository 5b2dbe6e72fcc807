import type { Metric } from "../../reports/metrics.ts";
import { Amount, Count } from "../../money/amount.tsx";
import { type Decimal, numberOf } from "../../money/decimal.ts";
import { Change } from "../../reports/change.tsx";
import { type Period, periodBefore, periodText } from "../../reports/period.ts";

interface SpendTotalsProps {
  now: Record<Metric, Decimal>;
  before: Record<Metric, Decimal> | undefined;
  period: Period;
}

/** The totals of the period, beside those of the period before. */
export function SpendTotals({ now, before, period }: SpendTotalsProps) {
  return (
    <section aria-label="Totals" className="card grid grid-cols-2 divide-line sm:grid-cols-4 sm:divide-x">
      <div className="col-span-2 p-4 sm:col-span-1">
        <h2 className="text-[0.8125rem] text-muted">Credits</h2>
        <p className="mt-1 text-2xl font-semibold tracking-tight">
          <Amount value={now.credits} isLarge />
        </p>
        <p className="mt-1 text-xs text-muted">
          <Change now={now.credits} before={before?.credits} />
          <span title={periodText(periodBefore(period))}> against before</span>
        </p>
      </div>
      <Total name="Calls" now={now.requests} before={before?.requests} />
      <Total name="Failed calls" now={now.failures} before={before?.failures} />
      <Total
        name="Tokens in and out"
        className="max-sm:col-span-2"
        now={{ units: now.input_tokens.units + now.output_tokens.units, scale: 0 }}
        before={before && { units: before.input_tokens.units + before.output_tokens.units, scale: 0 }}
      />
    </section>
  );
}

interface TotalProps {
  name: string;
  now: Decimal;
  before: Decimal | undefined;
  className?: string;
}

function Total({ name, now, before, className = "" }: TotalProps) {
  return (
    <div className={`p-4 max-sm:border-t max-sm:border-line ${className}`}>
      <h2 className="text-[0.8125rem] text-muted">{name}</h2>
      <p className="mt-1 text-2xl font-semibold tracking-tight">
        <Count value={numberOf(now)} />
      </p>
      <p className="mt-1 text-xs text-muted">
        <Change now={now} before={before} />
      </p>
    </div>
  );
}
