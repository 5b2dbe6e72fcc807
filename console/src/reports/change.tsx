import { compare, type Decimal, decimalOf, numberOf, partsOf, subtract } from "../money/decimal.ts";

interface ChangeProps {
  now: Decimal;
  /** Undefined as long as it is not known. */
  before: Decimal | undefined;
}

/** `+12.5%`, with at most one decimal. The browser's own format takes it ten milliseconds before its first number. */
export function percentText(share: number): string {
  const tenths = Math.round(Math.abs(share) * 1_000);
  if (!Number.isFinite(tenths) || tenths === 0) return "0%";
  const whole = partsOf(decimalOf(tenths / 10), 0);
  return `${share < 0 ? "-" : "+"}${whole.whole}${whole.fraction}%`;
}

/** How much more or less a figure is than in the period before. */
export function Change({ now, before }: ChangeProps) {
  if (before === undefined) return <span className="text-muted">…</span>;
  if (before.units === 0n) return <span className="text-muted">{now.units === 0n ? "—" : "new"}</span>;
  const share = numberOf(subtract(now, before)) / numberOf(before);
  const direction = compare(now, before);
  return (
    <span className="inline-flex items-center gap-1 text-soft">
      <span aria-hidden="true">{direction > 0 ? "↑" : direction < 0 ? "↓" : ""}</span>
      {percentText(share)}
    </span>
  );
}
