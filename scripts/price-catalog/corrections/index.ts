import type { ProviderCorrections } from "./correction.ts";
import { anthropic } from "./anthropic.ts";
import { byteplus } from "./byteplus.ts";
import { google } from "./google.ts";
import { mistral } from "./mistral.ts";
import { openai } from "./openai.ts";
import { cohere, deepseek, groq, none, openrouter, perplexity } from "./others.ts";
import { xai } from "./xai.ts";

export type { Correction, ProviderCorrections } from "./correction.ts";

/** All providers of the catalog, by their ids in genai-prices; BytePlus has none there. */
export const corrections: Readonly<Record<string, ProviderCorrections>> = {
  anthropic,
  byteplus,
  cohere,
  deepseek,
  google,
  groq,
  jina: none,
  mistral,
  moonshotai: none,
  openai,
  openrouter,
  perplexity,
  voyage: none,
  "x-ai": xai,
};
