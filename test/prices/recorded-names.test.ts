/** The names of models in recorded answers have a price, or are known not to have one. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PriceBook } from "../../src/pricing/index.ts";
import { root } from "../kit/index.ts";

const index = join(root, "test/recordings/index.jsonl");

/** The upstreams of the recordings, and their ids in the catalog. */
const providers: Readonly<Record<string, string>> = {
  openai: "openai",
  anthropic: "anthropic",
  google: "google",
  xai: "x-ai",
  deepseek: "deepseek",
  mistral: "mistral",
  groq: "groq",
  moonshot: "moonshotai",
  perplexity: "perplexity",
  byteplus: "byteplus",
};

/** Names that no provider offers: mistakes that were recorded on purpose, and a name of another gateway. */
const unpriced: readonly string[] = [
  "google/gemini-2.0-flash-exp",
  "google/gemini-3.6-flahs",
  "groq/llama-3.3-70b-versatlie",
  "groq/non-existent",
  "openai/gpt-5.2-proo",
  "openai/openai/gpt-5.6-sol",
  "openai/openllmetry-testing",
];

const recorded = existsSync(index)
  ? readFileSync(index, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { upstream: string; model: string | null })
  : [];

describe.skipIf(recorded.length === 0)("recorded names (skipped without test/recordings/index.jsonl)", () => {
  const book = new PriceBook({ operatorPrices: {}, unpriced: "refuse", clock: () => Date.UTC(2026, 10, 24, 12) });
  const names = recorded.flatMap(({ upstream, model }) => {
    const provider = providers[upstream];
    return provider === undefined || model === null ? [] : [{ provider, model, id: `${upstream}/${model}` }];
  });

  test("are those of many models", () => {
    expect(new Set(names.map(({ id }) => id)).size).toBeGreaterThan(30);
  });

  test("have a price, or are in the list of those without one", () => {
    const missing = names
      .filter(({ provider, model, id }) => book.lookup({ id, model, priceProvider: provider }) === undefined)
      .map(({ id }) => id);
    expect([...new Set(missing)].toSorted()).toEqual(unpriced.toSorted());
  });
});
