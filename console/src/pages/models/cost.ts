import type { Prices } from "../../api/types.ts";
import { add, type Decimal, decimalOf, priceOf } from "../../money/decimal.ts";

const MILLION = 1_000_000;

/** The credits of a call with so many tokens; undefined if the model has no price by tokens. */
export function costOf(prices: Prices | null, input: number, output: number): Decimal | undefined {
  const { input_mtok: forInput, output_mtok: forOutput } = prices ?? {};
  if (typeof forInput !== "number") return undefined;
  const ofInput = priceOf(decimalOf(forInput), input, MILLION);
  if (typeof forOutput !== "number") return ofInput;
  return add(ofInput, priceOf(decimalOf(forOutput), output, MILLION));
}
