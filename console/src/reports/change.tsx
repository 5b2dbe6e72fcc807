import { lazily } from "../ui/lazily.ts";
import { compare, type Decimal, numberOf, subtract } from "../money/decimal.ts";

interface ChangeProps {
  now: Decimal;
  /** Undefined as long as it is not known. */
  before: Decimal | undefined;
}

const percent = lazily(
  () =>
    new Intl.NumberFormat("en-US", {
      style: "percent",
      maximumFractionDigits: 1,
      signDisplay: "exceptZero",
    }),
);

/** How much more or less a figure is than in the period before. */
export function Change({ now, before }: ChangeProps) {
  if (before === undefined) return <span className="text-muted">…</span>;
  if (before.units === 0n) return <span className="text-muted">{now.units === 0n ? "—" : "new"}</span>;
  const share = numberOf(subtract(now, before)) / numberOf(before);
  const direction = compare(now, before);
  return (
    <span className="inline-flex items-center gap-1 text-soft">
      <span aria-hidden="true">{direction > 0 ? "↑" : direction < 0 ? "↓" : ""}</span>
      {percent().format(share)}
    </span>
  );
}
