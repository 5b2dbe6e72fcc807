import type { ProviderInput } from "./provider.ts";

/** The providers of a configuration without `providers`: the contract's seven, each routed once its variable is set. */
export const defaultProviders: Record<string, ProviderInput> = {
  openai: { kind: "openai", base_url: "https://api.openai.com/v1", api_key: "${OPENAI_API_KEY}" },
  google: { kind: "google", base_url: "https://generativelanguage.googleapis.com", api_key: "${GEMINI_API_KEY}" },
  xai: { kind: "xai", base_url: "https://api.x.ai/v1", api_key: "${XAI_API_KEY}" },
  deepseek: { kind: "openai-compatible", base_url: "https://api.deepseek.com/v1", api_key: "${DEEPSEEK_API_KEY}" },
  anthropic: {
    kind: "anthropic",
    base_url: "https://api.anthropic.com",
    api_key: "${ANTHROPIC_API_KEY}",
    aliases: ["claude"],
  },
  mistral: { kind: "openai-compatible", base_url: "https://api.mistral.ai/v1", api_key: "${MISTRAL_API_KEY}" },
  byteplus: {
    kind: "byteplus",
    base_url: "https://ark.ap-southeast.bytepluses.com/api/v3",
    api_key: "${ARK_API_KEY}",
  },
};

/** A key that is not set is an empty text. */
export const defaultWebhooks = { encryption_key: "${TOLLGATE_SECRET_KEY:-}" };
