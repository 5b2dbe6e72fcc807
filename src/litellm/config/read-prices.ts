/** LiteLLM's own prices of deployments become prices of models. */
import type { PriceKey } from "../../core/index.ts";
import type { Findings } from "../finding.ts";
import { priceFields } from "./fields.ts";
import type { Placed } from "./place-deployments.ts";
import { numberOf } from "./read-config.ts";

type ModelPrices = Partial<Record<PriceKey | "context_window" | "max_output_tokens", number>>;

/** By the id of the model. A model that has different prices in two deployments keeps those of the first. */
export function readPrices(placed: readonly Placed[], findings: Findings): Map<string, ModelPrices> {
  const prices = new Map<string, ModelPrices>();
  for (const { id, deployment } of placed) {
    const { path, params, info } = deployment;
    const own: ModelPrices = { ...pricesIn(info), ...pricesIn(params) };
    const window = numberOf(info["max_input_tokens"]);
    const output = numberOf(info["max_output_tokens"]) ?? numberOf(info["max_tokens"]);
    if (window !== undefined) own.context_window = Math.trunc(window);
    if (output !== undefined) own.max_output_tokens = Math.trunc(output);
    const before = prices.get(id);
    if (before === undefined || Object.keys(before).length === 0) prices.set(id, own);
    else if (Object.keys(own).length > 0 && !Bun.deepEquals(before, own))
      findings.note(path, "by hand", `${id} has other prices or limits here, but a model has one price`);
  }
  for (const [id, own] of prices) if (Object.keys(own).length === 0) prices.delete(id);
  return prices;
}

/** The six digits behind which binary fractions differ are rounded. */
const DIGITS = 12;

function pricesIn(members: Readonly<Record<string, unknown>>): ModelPrices {
  const found: ModelPrices = {};
  for (const [field, { key, factor }] of Object.entries(priceFields)) {
    const value = members[field];
    const price = value === 0 ? 0 : numberOf(value);
    if (price !== undefined) found[key] ??= Number((price * factor).toPrecision(DIGITS));
  }
  return found;
}
