/**
 * Money. Inside the gateway an amount is a `Nano`: an integer number of 1e-9 credits, never a float. One credit is one
 * US dollar of list price times the operator's markup. Outside (config, CLI, JSON) amounts are decimal numbers.
 */
export type Nano = bigint;

/**
 * The price of one unit (a token, a second, an image) in femto-credits (1e-15 credits). Six digits finer than `Nano`,
 * because the cheapest tokens cost a few nano-credits and their prices have decimals.
 */
export type Femto = bigint;

export const NANO_PER_CREDIT = 1_000_000_000n;
const FEMTO_PER_NANO = 1_000_000n;
const ALMOST_A_NANO = FEMTO_PER_NANO - 1n;
/** The markup that changes nothing, in millionths. */
export const NO_MARKUP = 1_000_000n;
const FRACTION_DIGITS = 9;

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/**
 * Reads a decimal amount of credits (`"12.5"`, `12.5`) as nano-credits. Digits below 1e-9 are refused, not rounded.
 * Throws a `RangeError` unless the amount is a plain finite decimal.
 */
export function parseCredits(amount: number | string): Nano {
  const match = DECIMAL.exec(typeof amount === "number" ? plainDecimal(amount) : amount.trim());
  const [, sign, whole, fraction = ""] = match ?? [];
  if (whole === undefined) throw new RangeError(`not an amount of credits: ${amount}`);
  if (fraction.length > FRACTION_DIGITS && /[1-9]/.test(fraction.slice(FRACTION_DIGITS))) {
    throw new RangeError(`credits have at most ${FRACTION_DIGITS} decimals: ${amount}`);
  }
  const nano =
    BigInt(whole) * NANO_PER_CREDIT + BigInt(fraction.slice(0, FRACTION_DIGITS).padEnd(FRACTION_DIGITS, "0"));
  return sign === "-" ? -nano : nano;
}

/** The last amount that was written: the cost of a call is in its answer and in its log line, one after the other. */
let written: { nano: Nano; text: string } = { nano: 0n, text: "0" };

/** Writes nano-credits as the shortest exact decimal: `1500000000n` → `"1.5"`. */
export function formatCredits(nano: Nano): string {
  if (nano !== written.nano) written = { nano, text: decimalOf(nano) };
  return written.text;
}

function decimalOf(nano: Nano): string {
  const absolute = nano < 0n ? -nano : nano;
  const digits = absolute.toString().padStart(FRACTION_DIGITS + 1, "0");
  const point = digits.length - FRACTION_DIGITS;
  let end = digits.length;
  while (end > point && digits[end - 1] === "0") end -= 1;
  const decimal = end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`;
  return nano < 0n ? `-${decimal}` : decimal;
}

/** Nano-credits as a JSON number. Exact up to 8 million credits (2^23), rounded to 53 bits above. */
export function creditsNumber(nano: Nano): number {
  return Number(formatCredits(nano));
}

/** Reads a price in credits per `per` units as femto-credits per unit, rounded half up at 1e-15. */
export function parseRate(price: number, per: number): Femto {
  if (!Number.isFinite(price) || price < 0) throw new RangeError(`not a price: ${price}`);
  const scaled = parseScaled(plainDecimal(price), 15);
  const divisor = BigInt(per);
  return (scaled + divisor / 2n) / divisor;
}

/** The cost of `units` at `rate`, still in femto-credits, so that a sum of several buckets is rounded only once. */
export function costOf(units: number, rate: Femto): Femto {
  return BigInt(units) * rate;
}

/** Rounds a sum of femto-credits up to nano-credits: a fraction of a nano-credit is charged as a whole one. */
export function roundUpToNano(femto: Femto): Nano {
  return (femto + ALMOST_A_NANO) / FEMTO_PER_NANO;
}

/** Applies the operator's markup, given in millionths, rounding up. */
export function applyMarkup(nano: Nano, markupMillionths: bigint): Nano {
  if (markupMillionths === NO_MARKUP) return nano;
  return (nano * markupMillionths + NO_MARKUP - 1n) / NO_MARKUP;
}

/** Rounds a sum of femto-credits with the operator's markup up to nano-credits, once. */
export function toNanoWithMarkup(femto: Femto, markupMillionths: bigint): Nano {
  return markupMillionths === NO_MARKUP ? roundUpToNano(femto) : roundMarkedUp(femto * markupMillionths);
}

/** Rounds a sum of femto-credits, each multiplied by its own markup in millionths, up to nano-credits. */
export function roundMarkedUp(sum: bigint): Nano {
  const divisor = FEMTO_PER_NANO * NO_MARKUP;
  return (sum + divisor - 1n) / divisor;
}

/** `1.25` → `1250000n`. */
export function parseMarkup(markup: number): bigint {
  return parseScaled(plainDecimal(markup), 6);
}

function parseScaled(decimal: string, digits: number): bigint {
  const [whole = "0", fraction = ""] = decimal.split(".");
  return BigInt(whole + fraction.slice(0, digits).padEnd(digits, "0"));
}

/** `String(1e-7)` is `"1e-7"`, but amounts are parsed from plain digits. */
function plainDecimal(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`not a number of credits: ${value}`);
  const text = String(value);
  return text.includes("e") ? value.toFixed(18).replace(/\.?0+$/, "") : text;
}
