import type { ProviderCorrections } from "./correction.ts";
import { anthropic } from "./anthropic.ts";
import { byteplus } from "./byteplus.ts";
import { google } from "./google.ts";
import { mistral } from "./mistral.ts";
import { openai } from "./openai.ts";
import { deepseek, groq, none, openrouter, perplexity } from "./others.ts";
import { xai } from "./xai.ts";

export type { Correction, ProviderCorrections } from "./correction.ts";

/** All providers of the catalog, by their ids in genai-prices; BytePlus has none there. */
export const corrections: Readonly<Record<string, ProviderCorrections>> = {
  anthropic,
  byteplus,
  deepseek,
  google,
  groq,
  mistral,
  moonshotai: none,
  openai,
  openrouter,
  perplexity,
  "x-ai": xai,
};
