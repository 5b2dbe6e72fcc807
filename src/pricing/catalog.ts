import { matchesGlob } from "../core/index.ts";

/** What genai-prices leaves out of a model: how much it may write in one call. Tokens, by the providers' model pages. */
interface CatalogRow {
  /** The provider's id in genai-prices. */
  provider: string;
  /** The model's name, without prefix. */
  model: string;
  maxOutputTokens: number;
}

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
  { provider: "anthropic", model: "claude-3*haiku*", maxOutputTokens: 8_192 },
  { provider: "anthropic", model: "claude-opus-4-1*", maxOutputTokens: 32_000 },
  { provider: "anthropic", model: "claude-haiku-4*", maxOutputTokens: 64_000 },
  { provider: "anthropic", model: "claude-*", maxOutputTokens: 128_000 },
  { provider: "google", model: "gemini-2.0*", maxOutputTokens: 8_192 },
  { provider: "google", model: "gemini-*", maxOutputTokens: 65_536 },
  { provider: "deepseek", model: "deepseek-chat", maxOutputTokens: 8_192 },
];

/** The model's cap on output tokens, where the catalog knows it. */
export function catalogMaxOutput(provider: string, model: string): number | undefined {
  return rows.find((row) => row.provider === provider && matchesGlob(row.model, model))?.maxOutputTokens;
}
