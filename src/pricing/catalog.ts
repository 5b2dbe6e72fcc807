import { matchesGlob } from "../core/index.ts";
import type { PriceTable, PriceTableValue } from "./model-price.ts";

/** What genai-prices leaves out of a model: how much it may write in one call, and prices of providers it lacks. */
interface CatalogRow {
  /** The provider's id in genai-prices, or one of our own where it has none. */
  provider: string;
  /** The model's name, without prefix. */
  model: string;
  /** Tokens, by the providers' model pages. */
  maxOutputTokens: number;
  /** US dollars, by the provider's price page. */
  prices?: PriceTable;
  contextWindow?: number;
}

/** BytePlus's prices double or so for prompts over 128K tokens (ModelArk's page "Pricing"). */
function byteplusPrices(input: [number, number], cacheRead: number, output: [number, number]): PriceTable {
  return { input_mtok: overLong(...input), cache_read_mtok: cacheRead, output_mtok: overLong(...output) };
}

function overLong(base: number, long: number): PriceTableValue {
  return { base, tiers: [{ start: 128_000, price: long }] };
}

const byteplus = { provider: "byteplus", contextWindow: 256_000 };

/** The first matching row wins, so that special names stand before their family. */
const rows: readonly CatalogRow[] = [
  { provider: "openai", model: "gpt-5*-chat*", maxOutputTokens: 16_384 },
  { provider: "openai", model: "gpt-5*", maxOutputTokens: 128_000 },
  { provider: "openai", model: "gpt-4.1*", maxOutputTokens: 32_768 },
  { provider: "openai", model: "gpt-4o*", maxOutputTokens: 16_384 },
  { provider: "openai", model: "gpt-4-turbo*", maxOutputTokens: 4_096 },
  { provider: "openai", model: "gpt-4*", maxOutputTokens: 8_192 },
  { provider: "openai", model: "gpt-3.5*", maxOutputTokens: 4_096 },
  { provider: "openai", model: "o1*", maxOutputTokens: 100_000 },
  { provider: "openai", model: "o3*", maxOutputTokens: 100_000 },
  { provider: "openai", model: "o4*", maxOutputTokens: 100_000 },
  { provider: "anthropic", model: "claude-3-5*", maxOutputTokens: 8_192 },
  { provider: "anthropic", model: "claude-3-7*", maxOutputTokens: 64_000 },
  { provider: "anthropic", model: "claude-3*", maxOutputTokens: 4_096 },
  { provider: "anthropic", model: "claude-opus-4-0*", maxOutputTokens: 32_000 },
  { provider: "anthropic", model: "claude-opus-4-1*", maxOutputTokens: 32_000 },
  { provider: "anthropic", model: "claude-opus-4-2*", maxOutputTokens: 32_000 },
  { provider: "anthropic", model: "claude-opus-4-5*", maxOutputTokens: 64_000 },
  { provider: "anthropic", model: "claude-sonnet-4*", maxOutputTokens: 64_000 },
  { provider: "anthropic", model: "claude-haiku-4*", maxOutputTokens: 64_000 },
  { provider: "anthropic", model: "claude-*", maxOutputTokens: 128_000 },
  { provider: "google", model: "gemini-2.0*", maxOutputTokens: 8_192 },
  { provider: "google", model: "gemini-*", maxOutputTokens: 65_536 },
  { provider: "deepseek", model: "deepseek-chat", maxOutputTokens: 8_192 },
  {
    ...byteplus,
    model: "seed-1-8*",
    maxOutputTokens: 64_000,
    prices: byteplusPrices([0.25, 0.5], 0.05, [2, 4]),
  },
  {
    ...byteplus,
    model: "seed-1-6-flash*",
    maxOutputTokens: 32_000,
    prices: byteplusPrices([0.075, 0.1], 0.015, [0.3, 0.8]),
  },
  {
    ...byteplus,
    model: "seed-1-6*",
    maxOutputTokens: 32_000,
    prices: byteplusPrices([0.25, 0.5], 0.05, [2, 4]),
  },
];

/** What the catalog knows of a model. */
export function catalogRow(provider: string, model: string): CatalogRow | undefined {
  return rows.find((row) => row.provider === provider && matchesGlob(row.model, model));
}
