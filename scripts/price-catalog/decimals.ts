/** Digits that a table's figures can be trusted for: some of them are results of divisions. */
const DIGITS = 10;

/** A price of one unit as the price of 10^`power` units, exactly: `scaled(1.25e-7, 6)` is 0.125. */
export function scaled(price: number, power: number): number {
  const [digits = "0", exponent = "0"] = price.toPrecision(DIGITS).split("e");
  return Number(`${digits}e${Number(exponent) + power}`);
}

/** A price per second as one per hour. Tables round these, so three digits are left: 0.000030833 is 0.111 an hour. */
export function perHour(price: number): number {
  return Number((price * 3_600).toPrecision(3));
}
