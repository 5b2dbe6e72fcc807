import { Amount } from "../../money/amount.tsx";
import { decimalOf, numberOf } from "../../money/decimal.ts";

interface BudgetBarProps {
  spend: number;
  limit: number | null;
  period: string | null;
}

const track =
  "mt-1.5 block h-1 w-full appearance-none overflow-hidden rounded-full bg-line [&::-webkit-progress-bar]:bg-line";
const plenty = "[&::-moz-progress-bar]:bg-accent-fill [&::-webkit-progress-value]:bg-accent-fill";
const nearly = "[&::-moz-progress-bar]:bg-bad [&::-webkit-progress-value]:bg-bad";

/** The spending beside its limit, also as a bar. */
export function BudgetBar({ spend, limit, period }: BudgetBarProps) {
  if (limit === null) return <Amount value={spend} />;
  const share = limit === 0 ? 1 : Math.min(1, numberOf(decimalOf(spend)) / limit);
  return (
    <span className="inline-block min-w-24 sm:min-w-40">
      <span className="flex flex-wrap justify-between gap-x-3">
        <Amount value={spend} />
        <span className="text-muted">
          of <Amount value={limit} /> {period}
        </span>
      </span>
      <progress
        value={share}
        max={1}
        aria-label="Part of the limit that is spent"
        className={`${track} ${share >= 0.9 ? nearly : plenty}`}
      />
    </span>
  );
}
