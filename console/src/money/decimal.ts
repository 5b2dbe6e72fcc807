/**
 * Exact decimals. The API writes amounts as JSON numbers of at most nine decimals; their shortest text is their value, and all
 * arithmetic here is of integers.
 */

/** `units` times ten to the power of `-scale`. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

export const ZERO: Decimal = { units: 0n, scale: 0 };

const shape = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/;

/** Of a number of the API, or of its text. Throws if it is none. */
export function decimalOf(value: number | string): Decimal {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = shape.exec(String(value)) ?? [];
  if (whole === "") throw new TypeError(`${value} is no decimal`);
  const digits = BigInt(`${sign}${whole}${fraction}`);
  const scale = fraction.length - Number(exponent);
  return scale >= 0 ? { units: digits, scale } : { units: digits * 10n ** BigInt(-scale), scale: 0 };
}

function unitsAt({ units, scale }: Decimal, wanted: number): bigint {
  return units * 10n ** BigInt(wanted - scale);
}

export function add(one: Decimal, other: Decimal): Decimal {
  const scale = Math.max(one.scale, other.scale);
  return { units: unitsAt(one, scale) + unitsAt(other, scale), scale };
}

export function subtract(one: Decimal, other: Decimal): Decimal {
  return add(one, { units: -other.units, scale: other.scale });
}

export function sum(values: Iterable<Decimal>): Decimal {
  let total = ZERO;
  for (const value of values) total = add(total, value);
  return total;
}

/** Negative if the first is smaller, 0 if they are equal. */
export function compare(one: Decimal, other: Decimal): number {
  const { units } = subtract(one, other);
  return units < 0n ? -1 : units > 0n ? 1 : 0;
}

/** A price per `per` units, for `count` of them: exact, or rounded at the 15th decimal. */
export function priceOf(price: Decimal, count: number, per: number): Decimal {
  const scale = 15;
  const exact = price.units * BigInt(Math.round(count)) * 10n ** BigInt(Math.max(0, scale - price.scale));
  const divisor = BigInt(per) * 10n ** BigInt(Math.max(0, price.scale - scale));
  return trimmed({ units: (exact + divisor / 2n) / divisor, scale });
}

/** Rounded up to so many decimals, as the gateway rounds a charge. */
export function roundUp(value: Decimal, decimals: number): Decimal {
  if (value.scale <= decimals) return value;
  const divisor = 10n ** BigInt(value.scale - decimals);
  const whole = value.units / divisor;
  return { units: whole * divisor < value.units ? whole + 1n : whole, scale: decimals };
}

function trimmed({ units, scale }: Decimal): Decimal {
  let [rest, left] = [units, scale];
  while (left > 0 && rest % 10n === 0n) [rest, left] = [rest / 10n, left - 1];
  return { units: rest, scale: left };
}

/** The parts of a decimal's text: `-1,234` and `.05`, with at least so many decimals and without zeros behind them. */
export function partsOf(value: Decimal, decimalsMin = 2): { whole: string; fraction: string } {
  const { units, scale } = trimmed(value);
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale).replace(/\B(?=(\d{3})+$)/g, ",");
  const fraction = digits.slice(digits.length - scale).padEnd(decimalsMin, "0");
  return { whole: `${units < 0n ? "−" : ""}${whole}`, fraction: fraction === "" ? "" : `.${fraction}` };
}

/** As machines read it: `-1234.05`, without a group sign or needless zeros. */
export function plainText(value: Decimal): string {
  const { whole, fraction } = partsOf(value, 0);
  return `${whole.replaceAll(",", "").replace("−", "-")}${fraction}`;
}

/** The most decimals that one of these has, without zeros at its end. */
export function decimalsOf(values: Iterable<Decimal>): number {
  return Math.max(2, ...[...values].map((value) => trimmed(value).scale));
}

/** The share of a whole, between 0 and 1, for drawing. */
export function ratio(part: Decimal, whole: Decimal): number {
  return whole.units === 0n ? 0 : numberOf(part) / numberOf(whole);
}

/** For drawing only. */
export function numberOf(value: Decimal): number {
  return Number(plainText(value));
}
