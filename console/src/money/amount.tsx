import { type Decimal, decimalOf, partsOf, plainText } from "./decimal.ts";

interface AmountProps {
  value: number | Decimal;
  /** The decimals behind the second are drawn softer, for figures in large type. */
  isLarge?: boolean;
  /** The decimals of a column, so that its points are below each other: zeros are added. */
  decimals?: number;
  className?: string;
}

/** An amount of credits, exact, which machines read in `value`. */
export function Amount({ value, isLarge = false, decimals = 2, className = "" }: AmountProps) {
  const decimal = typeof value === "number" ? decimalOf(value) : value;
  const { whole, fraction } = partsOf(decimal);
  const zeros = "0".repeat(Math.max(0, decimals - (fraction.length - 1)));
  return (
    <data value={plainText(decimal)} className={className}>
      {whole}
      {fraction.slice(0, 3)}
      {isLarge ? <span className="text-[0.6em] font-normal text-muted">{fraction.slice(3)}</span> : fraction.slice(3)}
      {zeros !== "" && <span className="text-muted">{zeros}</span>}
    </data>
  );
}

/** A whole number, with its digits in groups. */
export function Count({ value }: { value: number }) {
  return <data value={value}>{partsOf(decimalOf(value), 0).whole}</data>;
}

/** A duration in milliseconds, with the precision that matters. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(2)} s`;
  return `${Math.floor(milliseconds / 60_000)} min ${Math.round((milliseconds % 60_000) / 1_000)} s`;
}
