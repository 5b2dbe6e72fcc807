import type { ProviderChoice } from "../../src/providers/index.ts";
import type { SimulatorName } from "../../simulators/index.ts";

/** A model that the facts are asked of. */
export interface Sampled {
  prefix: string;
  model: string;
  simulator: SimulatorName;
  upstream: Pick<ProviderChoice, "kind" | "preset">;
  /** The key of its rows. */
  upstreamName: string;
  /** Beginnings of titles: its provider refuses such a feature in general, or ignores it silently. */
  skips?: readonly string[];
}

const own = (
  kind: "openai" | "google" | "xai" | "anthropic" | "byteplus",
  models: readonly string[],
  skips: readonly string[] = [],
): Sampled[] =>
  models.map((model) => ({ prefix: kind, model, simulator: kind, upstream: { kind }, upstreamName: kind, skips }));

function compatible(
  preset: NonNullable<ProviderChoice["preset"]>,
  model: string,
  options: Partial<Pick<Sampled, "simulator" | "skips">> = {},
): Sampled {
  const upstream = { kind: "openai-compatible", preset } as const;
  return { prefix: preset, model, simulator: "openai-compatible", upstream, upstreamName: preset, ...options };
}

export const sampled: readonly Sampled[] = [
  ...own("openai", [
    "gpt-4o-mini",
    "o3",
    "gpt-5-mini",
    "gpt-5-codex",
    "gpt-5-chat-latest",
    "gpt-5.1",
    "gpt-5.2",
    "gpt-5.5",
    "gpt-5.5-chat-latest",
    "gpt-6-sol",
    "gpt-6-astra",
    "gpt-6.1-sol",
  ]),
  ...own("google", ["gemini-2.5-flash", "gemini-3.5-flash"]),
  ...own(
    "xai",
    [
      "grok-3",
      "grok-3-mini",
      "grok-4-0709",
      "grok-4.3",
      "grok-4.5",
      "grok-4.6",
      "grok-4.20-multi-agent",
      "grok-4-1-fast-non-reasoning",
    ],
    ["reasoning in chat", "thinking in chat"],
  ),
  ...own(
    "anthropic",
    [
      "claude-3-haiku-20240307",
      "claude-3-7-sonnet-20250219",
      "claude-sonnet-4-20250514",
      "claude-opus-4-1",
      "claude-haiku-4-5",
      "claude-opus-4-8",
      "claude-opus-5",
      "claude-sonnet-5",
      "claude-haiku-5-5",
      "claude-sonnet-5-5",
      "claude-fable-5-1",
      "mythical",
    ],
    ["an answer by a schema in chat", '{"temperature":0.5} while it thinks', '{"top_p":0.5} while it thinks'],
  ),
  ...own("byteplus", ["seed-1-8-251228"]),
  compatible("generic", "local-small"),
  compatible("vllm", "local-small"),
  compatible("ollama", "local-small"),
  compatible("deepseek", "deepseek-v4-pro", { simulator: "deepseek", skips: ["an image"] }),
  compatible("deepseek", "deepseek-chat", { simulator: "deepseek", skips: ["an image"] }),
  // Its seed has another name.
  compatible("mistral", "mistral-small-latest", { simulator: "mistral", skips: ["a seed"] }),
  compatible("mistral", "magistral-medium-latest", { simulator: "mistral", skips: ["a seed"] }),
  compatible("groq", "groq-llama-3.3-70b", { skips: ["reasoning in chat", "thinking in chat"] }),
  compatible("moonshot", "kimi-k2.6"),
  compatible("moonshot", "kimi-k3"),
  compatible("perplexity", "sonar", { skips: ["an id of another provider", "functions", "a forced tool", "a tool"] }),
  compatible("openrouter", "kimi-k2.6", {
    // Its simulator of Responses is OpenAI's.
    skips: ["an image by its address", '{"', "a shell", "a apply_patch", "a local_shell", "an earlier "],
  }),
];
