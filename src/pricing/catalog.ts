import { matchesGlob } from "../core/index.ts";
import type { PriceTable, TieredPrice } from "./price-table.ts";

/** Facts about a model that genai-prices lacks: how much it may write in one call, and the prices of some models. */
interface CatalogRow {
  /** The provider's id in genai-prices, or an id of ours if it has none. */
  provider: string;
  /** The model's name, without prefix. */
  model: string;
  /** Tokens in one answer (of an image model: for one image), according to the providers' model pages. */
  maxOutputTokens?: number;
  /** US dollars, according to the provider's price page. */
  prices?: PriceTable;
  contextWindow?: number;
}

/** BytePlus's prices roughly double for prompts over 128K tokens (ModelArk's page "Pricing"). */
function byteplusPrices(input: [number, number], cacheRead: number, output: [number, number]): PriceTable {
  return { input_mtok: overLong(...input), cache_read_mtok: cacheRead, output_mtok: overLong(...output) };
}

function overLong(base: number, long: number): TieredPrice {
  return { base, tiers: [{ start: 128_000, price: long }] };
}

const byteplus = { provider: "byteplus", contextWindow: 256_000 };

/** From OpenAI's page of GPT-Image-2.6 Sunburst; resellers of both 2.5 models list the same prices for them. */
const gptImage2Prices: PriceTable = {
  input_mtok: 5,
  cache_read_mtok: 1.25,
  input_image_mtok: 8,
  cache_image_read_mtok: 2,
  output_mtok: 30,
};

/** DALL·E, which OpenAI's API no longer offers, from OpenAI's last list (a dall-e-2 image has no quality). */
const dallE3Prices: PriceTable = {
  image: {
    "1024x1024/standard": 0.04,
    "1024x1792/standard": 0.08,
    "1792x1024/standard": 0.08,
    "1024x1024/hd": 0.08,
    "1024x1792/hd": 0.12,
    "1792x1024/hd": 0.12,
  },
};
const dallE2Prices: PriceTable = { image: { "256x256": 0.016, "512x512": 0.018, "1024x1024": 0.02 } };

/**
 * Images, speech and transcription. An image of a GPT Image model before the second generation has at most 6,240 tokens
 * (the guide "Image generation": high quality, 1024 by 1536), and each of up to three partial images 100 more. Google's
 * image models write at most 32,768 tokens, according to their model pages; a 4K image alone has 2,520.
 */
const mediaRows: readonly CatalogRow[] = [
  { provider: "openai", model: "gpt-image-1", maxOutputTokens: 6_540 },
  { provider: "openai", model: "gpt-image-1-mini", maxOutputTokens: 6_540 },
  { provider: "openai", model: "gpt-image-1.5*", maxOutputTokens: 6_540 },
  { provider: "openai", model: "gpt-image-2.5-flare*", prices: gptImage2Prices },
  { provider: "openai", model: "gpt-image-2.5-sunburst*", prices: gptImage2Prices },
  { provider: "openai", model: "gpt-image-2.6-sunburst*", prices: gptImage2Prices },
  { provider: "openai", model: "dall-e-3", prices: dallE3Prices },
  { provider: "openai", model: "dall-e-2", prices: dallE2Prices },
  // OpenAI's pages of TTS-1 and TTS-1 HD.
  { provider: "openai", model: "tts-1-hd*", prices: { input_mchars: 30 } },
  { provider: "openai", model: "tts-1*", prices: { input_mchars: 15 } },
  // OpenAI's page of GPT-4o mini TTS. Its snapshots cost the same.
  { provider: "openai", model: "gpt-4o-mini-tts-*", prices: { input_mtok: 0.6, output_audio_mtok: 12 } },
  { provider: "openai", model: "gpt-4o*-transcribe*", maxOutputTokens: 2_000 },
  { provider: "google", model: "gemini-*-image*", maxOutputTokens: 32_768 },
  // Google's prices as listed by LiteLLM when Nano Banana 2.1 was released.
  {
    provider: "google",
    model: "gemini-nano-banana-2.1*",
    prices: { input_mtok: 1.5, output_mtok: 7.5, output_image_mtok: 30 },
  },
  // docs.x.ai, "Pricing" and "Voice Overview" (speech was 4.2 in spring 2026). An answer with images reports its real
  // price. The input images of an edit are billed as well, so they must be part of the hold.
  { provider: "x-ai", model: "grok-imagine-image", prices: { image: 0.02, input_image: 0.002 } },
  { provider: "x-ai", model: "grok-imagine-image-quality", prices: { image: 0.05 } },
  { provider: "x-ai", model: "grok-tts*", prices: { input_mchars: 15 } },
  { provider: "x-ai", model: "grok-voice-tts*", prices: { input_mchars: 15 } },
  { provider: "x-ai", model: "grok-stt*", prices: { input_audio_hours: 0.1 } },
  // Mistral's page of Voxtral Mini Transcribe (0.002 per minute); the others as listed by OpenRouter and Vercel's
  // gateway.
  { provider: "mistral", model: "voxtral-mini-transcribe-25*", prices: { input_audio_hours: 0.12 } },
  { provider: "mistral", model: "voxtral-small-transcribe-3*", prices: { input_audio_hours: 0.24 } },
  { provider: "mistral", model: "voxtral-mini-tts*", prices: { input_mchars: 16 } },
  { provider: "mistral", model: "codestral-embed*", prices: { input_mtok: 0.15 } },
  // BytePlus's page "Large model billing" for 4.0 and 4.5; 5.0 as listed by resellers. Per image, whatever its size.
  { provider: "byteplus", model: "seedream-4-0*", prices: { image: 0.03 } },
  { provider: "byteplus", model: "seedream-4-5*", prices: { image: 0.04 } },
  { provider: "byteplus", model: "seedream-5-0-260128", prices: { image: 0.035 } },
  { provider: "byteplus", model: "seedream-5-0-lite*", prices: { image: 0.035 } },
];

/** The first matching row wins, so special names precede their family. */
const rows: readonly CatalogRow[] = [
  ...mediaRows,
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

/** The catalog's row for a model, if it has one. */
export function catalogRow(provider: string, model: string): CatalogRow | undefined {
  return rows.find((row) => row.provider === provider && matchesGlob(row.model, model));
}
