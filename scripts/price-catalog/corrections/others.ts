import type { ProviderCorrections } from "./correction.ts";

const perplexityPricing = "https://docs.perplexity.ai/docs/getting-started/pricing";

export const deepseek: ProviderCorrections = {
  corrections: [
    // Resellers' names for retired weights.
    {
      names: ["deepseek-v3.1-terminus", "deepseek-v3.2-exp", "deepseek-chat-v3-0324"],
      source: "names of resellers; DeepSeek's API has none of them",
      prices: [],
    },
  ],
};

export const groq: ProviderCorrections = {
  corrections: [],
  families: [{ family: "whisper*", kind: "transcription", source: "https://console.groq.com/docs/models" }],
};

/** The fee of each request is a price per call, and contains the search. An answer reports its real cost. */
export const perplexity: ProviderCorrections = {
  corrections: [
    {
      names: ["sonar", "sonar-pro", "sonar-reasoning", "sonar-reasoning-pro"],
      source: `${perplexityPricing} (the fee of a request with the largest search context)`,
      change: { web_searches_kcount: null },
    },
  ],
};

/** A search with its usual five results. An answer reports its real cost. */
export const openrouter: ProviderCorrections = {
  tools: { prices: { web_searches_kcount: 20 }, source: "https://openrouter.ai/docs/web-search (4 per 1,000 results)" },
  corrections: [],
};

export const none: ProviderCorrections = { corrections: [] };

const wrongRate = "LiteLLM's table lists a rate a thousand times that of the model's other size";

export const cohere: ProviderCorrections = {
  corrections: [
    {
      names: ["embed-multilingual-light-v3.0"],
      source: wrongRate,
      prices: { input_mtok: 0.1 },
    },
  ],
};
