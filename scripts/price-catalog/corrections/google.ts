import type { Correction, ProviderCorrections } from "./correction.ts";

const pricing = "https://ai.google.dev/gemini-api/docs/pricing";
const models = "https://ai.google.dev/gemini-api/docs/models";

/** An image model writes at most 32,768 tokens, according to its page; a 4K image alone has 2,520. */
const IMAGE_TOKENS_MAX = 32_768;

const gemma: Correction = {
  names: [
    "gemma-3",
    "gemma-3-1b-it",
    "gemma-3-4b-it",
    "gemma-3-12b-it",
    "gemma-3-27b-it",
    "gemma-3n-e2b-it",
    "gemma-3n-e4b-it",
    "gemma-4-26b-a4b-it",
    "gemma-4-31b-it",
  ],
  source: `${pricing} ("Gemma": free of charge)`,
  prices: { input_mtok: 0, output_mtok: 0 },
};

export const google: ProviderCorrections = {
  corrections: [
    gemma,
    {
      names: ["gemini-nano-banana-2.1"],
      source: `${pricing}, as listed by LiteLLM when the model was released`,
      kind: "image",
      prices: { input_mtok: 1.5, output_mtok: 7.5, output_image_mtok: 30, web_searches_kcount: 14 },
    },
    {
      names: ["gemini-3.1-flash-lite-image"],
      source: `${models} (the tables' 4,096 is the length of its text)`,
      maxOutputTokens: IMAGE_TOKENS_MAX,
    },
    { names: ["gemini-exp-1206", "gemini-exp-1114"], source: "experiments that were free and are gone", prices: [] },
    {
      names: [
        "gemini-1.0-pro-vision-001",
        "gemini-pro",
        "gemini-1.0-pro",
        "gemini-flash-1.5",
        "gemini-flash-1.5-8b",
        "gemini-pro-1.5",
      ],
      source: "names of Vertex AI and of resellers; the Gemini API has none of them",
      prices: [],
    },
    {
      names: ["gemma-2-27b-it", "gemma-4-26b-a4b-it-maas", "gemini-gemma-2-27b-it", "gemini-gemma-2-9b-it"],
      source: "names of Vertex AI and of resellers; the Gemini API has none of them",
      prices: [],
    },
  ],
  families: [
    { family: "gemini-*-image*", maxOutputTokens: IMAGE_TOKENS_MAX, kind: "image", source: models },
    { family: "gemini-2.0*", maxOutputTokens: 8_192, source: models },
    { family: "gemini-1.5*", maxOutputTokens: 8_192, source: models },
    { family: "gemini-embedding*", kind: "embeddings", source: models },
    { family: "gemini-*-tts*", kind: "speech", source: models },
    { family: "gemini-*live*", kind: "realtime", source: models },
    { family: "gemini-*", maxOutputTokens: 65_536, source: models },
  ],
};
