import type { JsonObject } from "../../core/index.ts";

/** `cost_in_usd_ticks` is the real price; a tick is 1e-10 dollars, so ten are a nano-credit (`docs/wire/xai.md`). */
const TICKS_PER_NANO = 10n;

/** The price that xAI reports in a usage object, in nano-credits, rounded up; 0 beside tokens is not a price. */
export function reportedCost(usage: JsonObject): bigint | undefined {
  const cost = reportedMediaCost(usage);
  return cost === 0n ? undefined : cost;
}

/** The same of an image or a video, whose usage contains nothing else: 0 is the price of one that is free. */
export function reportedMediaCost(usage: JsonObject): bigint | undefined {
  const ticks = usage["cost_in_usd_ticks"];
  if (typeof ticks !== "number" || !Number.isSafeInteger(ticks) || ticks < 0) return undefined;
  return (BigInt(ticks) + TICKS_PER_NANO - 1n) / TICKS_PER_NANO;
}
