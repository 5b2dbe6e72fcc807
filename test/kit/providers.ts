import type { Simulators } from "../../simulators/index.ts";

/** The upstream key in those entries. */
export const simulatedKey = "sk-simulated-upstream-key";

/** A config entry for each of the seven simulated providers, under the prefixes of the default configuration. */
export function simulatedProviders({ providers }: Simulators): Record<string, object> {
  return {
    openai: { kind: "openai", base_url: providers.openai, api_key: simulatedKey },
    google: { kind: "google", base_url: providers.google, api_key: simulatedKey },
    xai: { kind: "xai", base_url: providers.xai, api_key: simulatedKey },
    deepseek: { kind: "openai-compatible", preset: "deepseek", base_url: providers.deepseek, api_key: simulatedKey },
    anthropic: { kind: "anthropic", base_url: providers.anthropic, api_key: simulatedKey, aliases: ["claude"] },
    mistral: { kind: "openai-compatible", preset: "mistral", base_url: providers.mistral, api_key: simulatedKey },
    byteplus: { kind: "byteplus", base_url: providers.byteplus, api_key: simulatedKey },
  };
}

/** A chat model of each provider that its simulator lists or knows. */
export const chatModels: Record<string, string> = {
  openai: "openai/gpt-4o-mini",
  google: "google/gemini-2.5-flash",
  xai: "xai/grok-4",
  deepseek: "deepseek/deepseek-chat",
  anthropic: "anthropic/claude-haiku-4-5",
  mistral: "mistral/mistral-small-latest",
  byteplus: "byteplus/seed-1-8-251228",
};

/** Does the same with each provider in parallel; a failure contains the provider's name. */
export async function eachProvider(work: (provider: string, model: string) => Promise<void>): Promise<void> {
  const calls = Object.entries(chatModels).map(async ([provider, model]) => {
    try {
      await work(provider, model);
    } catch (cause) {
      throw new Error(`${provider}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  });
  await Promise.all(calls);
}
