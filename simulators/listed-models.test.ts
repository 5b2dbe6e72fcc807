import { afterAll, beforeAll, expect, test } from "bun:test";

import { calcPrice } from "@pydantic/genai-prices";

import { type Simulators, startSimulators } from "./index.ts";
import { get, listOf, member } from "./testing/client.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const listings = [
  ["openai", "openai", "/models", {}],
  ["google", "google", "/v1beta/openai/models", {}],
  ["xai", "x-ai", "/models", {}],
  ["deepseek", "deepseek", "/models", {}],
  ["anthropic", "anthropic", "/v1/models", { "anthropic-version": "2023-06-01" }],
  ["mistral", "mistral", "/models", {}],
] as const;

test.each(listings)("%s lists 4 to 8 models, all with a known price", async (name, providerId, path, headers) => {
  const data = listOf(await get(simulators.providers[name] + path, headers), "data");
  expect(data.length).toBeGreaterThanOrEqual(4);
  expect(data.length).toBeLessThanOrEqual(8);
  for (const model of data) {
    const id = String(member(model, "id")).replace(/^models\//, "");
    const price = calcPrice({ input_tokens: 1_000, output_tokens: 1_000 }, id, { providerId });
    expect(price?.total_price, id).toBeGreaterThan(0);
  }
});

test("xai's listed prices and costs are those of the price table", async () => {
  const models = listOf(await get(`${simulators.providers.xai}/language-models`), "models");
  expect(models.length).toBeGreaterThan(0);
  for (const model of models) {
    const id = String(member(model, "id"));
    // Ticks a token are 1e-10 US dollar; the table is asked for 10,000 tokens, which stay below every tier.
    const input = calcPrice({ input_tokens: 10_000 }, id, { providerId: "x-ai" })?.total_price;
    const output = calcPrice({ output_tokens: 10_000 }, id, { providerId: "x-ai" })?.total_price;
    expect(Number(member(model, "prompt_text_token_price")) / 1e6, id).toBeCloseTo(Number(input), 9);
    expect(Number(member(model, "completion_text_token_price")) / 1e6, id).toBeCloseTo(Number(output), 9);
  }
});
