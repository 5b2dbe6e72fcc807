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

/** Models that do not write: they are not, or not all, priced by tokens. */
const otherModels =
  /embed|image|nano-banana|dall-e|tts|whisper|transcribe|voxtral|video|sora|realtime|moderation|instruct/;

test.each(listings)(
  "%s lists 4 to 8 models that write, all with a known price",
  async (name, providerId, path, headers) => {
    const data = listOf(await get(simulators.providers[name] + path, headers), "data");
    const ids = data.map((model) => String(member(model, "id")).replace(/^models\//, ""));
    const writing = ids.filter((id) => !otherModels.test(id));
    expect(writing.length).toBeGreaterThanOrEqual(4);
    expect(writing.length).toBeLessThanOrEqual(8);
    for (const id of writing) {
      const price = calcPrice({ input_tokens: 1_000, output_tokens: 1_000 }, id, { providerId });
      expect(price?.total_price, id).toBeGreaterThan(0);
    }
  },
);

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

const furtherModels = [
  ["openai", "/models", ["text-embedding-3-small", "gpt-image-1", "gpt-4o-mini-tts", "whisper-1", "gpt-4o-transcribe"]],
  ["google", "/v1beta/openai/models", ["models/gemini-embedding-001", "models/gemini-nano-banana-2.1"]],
  ["xai", "/models", ["grok-imagine-image"]],
  ["mistral", "/models", ["mistral-embed", "codestral-embed", "voxtral-mini-latest", "voxtral-mini-tts-latest"]],
  ["openai-compatible", "/models", ["local-embed", "local-speech", "groq-whisper-large-v3"]],
] as const;

test.each(furtherModels)("%s lists models for embeddings, images and audio", async (name, path, wanted) => {
  const data = listOf(await get(simulators.providers[name] + path), "data");
  const ids = data.map((model) => member(model, "id"));
  for (const id of wanted) expect(ids).toContain(id);
});

test("xai lists its image models with the price of an image", async () => {
  const models = listOf(await get(`${simulators.providers.xai}/image-generation-models`), "models");
  expect(models.map((model) => [member(model, "id"), member(model, "image_price")])).toEqual([
    ["grok-imagine-image", 2],
    ["grok-imagine-image-pro", 7],
  ]);
});
