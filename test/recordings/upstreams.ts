import type { Dialect } from "../../src/core/index.ts";
import { createProvider, type ProviderChoice, type UpstreamOperation } from "../../src/providers/index.ts";

const baseUrl = "https://upstream.example";

/** How the configuration names each upstream of the recordings. */
const choices: Readonly<Record<string, ProviderChoice>> = {
  openai: { kind: "openai", baseUrl },
  anthropic: { kind: "anthropic", baseUrl },
  google: { kind: "google", baseUrl },
  xai: { kind: "xai", baseUrl },
  byteplus: { kind: "byteplus", baseUrl },
  deepseek: { kind: "openai-compatible", preset: "deepseek", baseUrl },
  groq: { kind: "openai-compatible", preset: "groq", baseUrl },
  mistral: { kind: "openai-compatible", preset: "mistral", baseUrl },
  moonshot: { kind: "openai-compatible", preset: "moonshot", baseUrl },
  ollama: { kind: "openai-compatible", preset: "ollama", baseUrl },
  openrouter: { kind: "openai-compatible", preset: "openrouter", baseUrl },
  "openai-compatible": { kind: "openai-compatible", preset: "generic", baseUrl },
  perplexity: { kind: "openai-compatible", preset: "perplexity", baseUrl },
  vllm: { kind: "openai-compatible", preset: "vllm", baseUrl },
};

/** The operation of this upstream that generates text in this dialect. */
export function operationOf(upstream: string, dialect: Dialect): UpstreamOperation {
  const choice = choices[upstream];
  const operation = choice && createProvider(choice).operations[dialect];
  if (operation !== undefined) return operation;
  throw new Error(`no ${dialect} at ${upstream}: name it in test/recordings/upstreams.ts`);
}
