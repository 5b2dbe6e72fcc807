import type { Prices } from "../table-row.ts";
import type { ProviderCorrections } from "./correction.ts";

const models = "https://developers.openai.com/api/docs/models";
const pricing = "https://developers.openai.com/api/docs/pricing";

/** OpenAI's page of GPT-Image-2.6 Sunburst; resellers of both 2.5 models list the same prices for them. */
const gptImage2Prices: Prices = {
  input_mtok: 5,
  cache_read_mtok: 1.25,
  input_image_mtok: 8,
  cache_image_read_mtok: 2,
  output_mtok: 30,
};

/** The guide "Image generation": at most 6,240 tokens (high quality, 1024 by 1536), and 100 for each of three previews. */
const IMAGE_TOKENS_MAX = 6_540;

const searchSource = `${pricing} ("Web search": 10 per 1,000 calls for the tool web_search, with all models)`;

export const openai: ProviderCorrections = {
  tools: {
    // A container of 1 GB costs 0.03, a larger one in proportion.
    prices: { web_searches_kcount: 10, storage_searches_kcount: 2.5, container_gb: 0.03 },
    source: `${pricing} ("Built-in tools")`,
  },
  toolsByModel: [
    {
      models: /^(?:gpt-3\.?5|gpt-4|chatgpt-4o|gpt-audio|gpt-5-chat)/,
      prices: { preview_searches_kcount: 25 },
      source: `${pricing} ("Web search preview": 25 per 1,000 calls with models that do not reason, else 10)`,
    },
  ],
  longWrites: { factor: 2, source: `${pricing} (1.25 of the input's price for 30 minutes, 2.5 for 12 hours)` },
  corrections: [
    {
      names: ["gpt-4o-audio-preview", "gpt-4o-audio-preview-2024-12-17", "gpt-4o-audio-preview-2025-06-03"],
      source: `${models}/gpt-4o-audio-preview`,
      change: { input_audio_mtok: 40, output_audio_mtok: 80 },
    },
    {
      names: ["gpt-4o-audio-preview-2024-10-01"],
      source: "OpenAI's announcement of the model in October 2024",
      prices: { input_mtok: 2.5, output_mtok: 10, input_audio_mtok: 100, output_audio_mtok: 200 },
      contextWindow: 128_000,
      maxOutputTokens: 16_384,
    },
    {
      names: ["gpt-4o-mini-audio-preview", "gpt-4o-mini-audio-preview-2024-12-17"],
      source: `${models}/gpt-4o-mini-audio-preview`,
      change: { input_audio_mtok: 10, output_audio_mtok: 20 },
    },
    {
      names: ["gpt-4.1", "gpt-4.1-2025-04-14", "gpt-4.1-mini", "gpt-4.1-mini-2025-04-14"],
      source: searchSource,
      change: { web_searches_kcount: 10 },
    },
    { names: ["gpt-4o-mini", "gpt-4o-mini-2024-07-18"], source: searchSource, change: { web_searches_kcount: 10 } },
    {
      names: ["gpt-4o-search-preview", "gpt-4o-search-preview-2025-03-11"],
      source: `${pricing} ("Web search preview", models without reasoning: 25 per 1,000 calls)`,
      change: { web_searches_kcount: 25 },
    },
    {
      names: ["gpt-4o-mini-tts", "gpt-4o-mini-tts-2025-03-20", "gpt-4o-mini-tts-2025-12-15"],
      source: `${models}/gpt-4o-mini-tts (all output is audio)`,
      change: { output_mtok: 12, output_audio_mtok: 12 },
    },
    {
      names: ["gpt-4", "gpt-4-0314", "gpt-4-0613"],
      source: `${models}/gpt-4 (8,192 output tokens)`,
      maxOutputTokens: 8_192,
    },
    {
      names: ["gpt-image-2.6-sunburst"],
      source: `${models}/gpt-image-2.6-sunburst`,
      kind: "image",
      prices: gptImage2Prices,
    },
    {
      names: ["dall-e-3"],
      source: "OpenAI's last price list with DALL·E, which its API no longer offers",
      kind: "image",
      prices: {
        image: {
          "1024x1024/standard": 0.04,
          "1024x1792/standard": 0.08,
          "1792x1024/standard": 0.08,
          "1024x1024/hd": 0.08,
          "1024x1792/hd": 0.12,
          "1792x1024/hd": 0.12,
        },
      },
    },
    {
      names: ["dall-e-2"],
      source: "OpenAI's last price list with DALL·E, which its API no longer offers (an image has no quality)",
      kind: "image",
      prices: { image: { "256x256": 0.016, "512x512": 0.018, "1024x1024": 0.02 } },
    },
    { names: ["sora-2"], source: `${pricing} (720p only)`, change: { output_video_seconds: { "720p": 0.1 } } },
    {
      names: ["sora-2-pro"],
      source: `${pricing} (the higher price is that of the larger size)`,
      change: { output_video_seconds: { "720p": 0.3, "1024p": 0.5 } },
    },
    {
      names: ["omni-moderation-latest", "omni-moderation-2024-09-26", "text-moderation-latest", "text-moderation-007"],
      source: "https://developers.openai.com/api/docs/guides/moderation (free)",
      kind: "moderation",
      prices: { input_mtok: 0, output_mtok: 0 },
    },
  ],
  families: [
    {
      family: "gpt-image-1*",
      maxOutputTokens: IMAGE_TOKENS_MAX,
      kind: "image",
      source: 'the guide "Image generation"',
    },
    { family: "chatgpt-image*", kind: "image", source: models },
    { family: "gpt-image-*", kind: "image", source: models },
    { family: "gpt-5*-chat*", maxOutputTokens: 16_384, source: models },
    { family: "gpt-5*", maxOutputTokens: 128_000, source: models },
    { family: "gpt-4.1*", maxOutputTokens: 32_768, source: models },
    { family: "gpt-4o*-transcribe*", maxOutputTokens: 2_000, kind: "transcription", source: models },
    { family: "gpt-4o-*realtime*", kind: "realtime", maxOutputTokens: 4_096, source: models },
    { family: "gpt-realtime*", kind: "realtime", source: models },
    { family: "gpt-4o*", maxOutputTokens: 16_384, source: models },
    { family: "gpt-4-turbo*", maxOutputTokens: 4_096, source: models },
    { family: "gpt-4*", maxOutputTokens: 8_192, source: models },
    { family: "gpt-3.5*", maxOutputTokens: 4_096, source: models },
    { family: "o1*", maxOutputTokens: 100_000, source: models },
    { family: "o3*", maxOutputTokens: 100_000, source: models },
    { family: "o4*", maxOutputTokens: 100_000, source: models },
    { family: "text-embedding*", kind: "embeddings", source: models },
    { family: "whisper*", kind: "transcription", source: models },
  ],
};
