/** The order of a render, shared by the feature and its test. */
import type { WorkOrder } from "../../src/charges/index.ts";
import { PriceBook } from "../../src/pricing/index.ts";

export const renderId = "req_render_1";
export const parentId = "series_1";
export const accountId = "user:u";
/** 100,000 tokens may come out by the order; in the end 300,000 do. */
export const heldAtFirst = 100_000_000n;
export const cost = 300_000_000n;

export function renderOrder(): WorkOrder {
  const prices = new PriceBook({
    operatorPrices: { "up/*": { input_mtok: 1, output_mtok: 1 } },
    unpriced: "refuse",
    clock: () => 0,
  });
  const price = prices.lookup({ id: "up/m", model: "m", priceProvider: undefined });
  if (price === undefined) throw new Error("no price");
  return {
    id: renderId,
    parent: parentId,
    principal: { user: "u", tokenId: "t", accountId, rates: undefined },
    operation: "image_generation",
    dialect: undefined,
    source: { provider: "up", model: "m", modelId: "up/m" },
    price,
    bound: { inputTokens: 0, outputTokens: 100_000, choices: 1, isGrowing: true },
    streamed: false,
    at: Date.now(),
  };
}
