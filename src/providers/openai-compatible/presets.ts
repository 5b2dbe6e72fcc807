import type { PresetName } from "../../config/index.ts";
import type { ModelFacts } from "../../core/index.ts";
import type { Provider } from "../provider.ts";
import { type ChatUsageRules, openaiUsageRules } from "../shared/chat-usage.ts";
import type { EmbeddingsEndpoint } from "../shared/embeddings-operation.ts";
import { speechOperation } from "../shared/speech-operation.ts";
import { transcriptionOperation, translationOperation } from "../shared/transcription-operation.ts";
import { perplexityCost } from "./cost.ts";
import { mistralSpeech } from "./speech-mistral.ts";
import { groqTranscription, groqTranslation } from "./transcriptions-groq.ts";
import { mistralTranscription } from "./transcriptions-mistral.ts";

/** For upstreams that know the limit of the output by its former name only: they would answer as if there were none. */
const formerLimit = { max_completion_tokens: "max_tokens" };

/** What one OpenAI-compatible upstream does differently; sources in `docs/wire/others.md`. */
export interface Preset {
  /** Host names that give it away. */
  hosts: RegExp | undefined;
  priceProvider: string | undefined;
  streamUsage: "on-request" | "unasked";
  drops: readonly string[];
  renames: Readonly<Record<string, string>>;
  usage: ChatUsageRules;
  facts: ModelFacts;
  /** Undefined for an upstream without embeddings. */
  embeddings: EmbeddingsEndpoint | undefined;
  /** What of speech and transcripts it can do. */
  audio: Pick<Provider["operations"], "speech" | "transcription" | "translation">;
  /** Where the models are listed, or undefined for an upstream that lists none. */
  modelsPath: string | undefined;
}

const openaiEmbeddings: EmbeddingsEndpoint = { path: "/embeddings", drops: [], renames: {} };

const generic: Preset = {
  hosts: undefined,
  priceProvider: undefined,
  streamUsage: "on-request",
  drops: [],
  renames: {},
  usage: openaiUsageRules,
  facts: {},
  embeddings: openaiEmbeddings,
  audio: { speech: speechOperation, transcription: transcriptionOperation, translation: translationOperation },
  modelsPath: "/models",
};

export const presets = {
  generic,
  deepseek: {
    ...generic,
    hosts: /(^|\.)deepseek\.com$/,
    priceProvider: "deepseek",
    renames: formerLimit,
    facts: { reasoningField: "reasoning_content" },
    embeddings: undefined,
    audio: {},
  },
  mistral: {
    ...generic,
    hosts: /(^|\.)mistral\.ai$/,
    priceProvider: "mistral",
    // Its schema is closed: unknown fields are a 422, and usage comes in the last chunk regardless.
    streamUsage: "unasked",
    drops: [
      "stream_options",
      "logit_bias",
      "logprobs",
      "top_logprobs",
      "user",
      "store",
      "service_tier",
      "safety_identifier",
      "prompt_cache_options",
      "prompt_cache_retention",
      "verbosity",
    ],
    renames: { ...formerLimit, seed: "random_seed" },
    facts: { shortCallIds: true, efforts: ["none", "high"] },
    embeddings: { ...openaiEmbeddings, drops: ["user"], renames: { dimensions: "output_dimension" } },
    audio: { speech: mistralSpeech, transcription: mistralTranscription },
  },
  groq: {
    ...generic,
    hosts: /(^|\.)groq\.com$/,
    priceProvider: "groq",
    drops: ["logprobs", "logit_bias", "top_logprobs"],
    facts: { reasoningField: "reasoning" },
    embeddings: undefined,
    audio: { speech: speechOperation, transcription: groqTranscription, translation: groqTranslation },
  },
  moonshot: {
    ...generic,
    hosts: /(^|\.)moonshot\.(ai|cn)$/,
    priceProvider: "moonshotai",
    facts: { reasoningField: "reasoning_content" },
    embeddings: undefined,
    audio: {},
  },
  perplexity: {
    ...generic,
    hosts: /(^|\.)perplexity\.ai$/,
    priceProvider: "perplexity",
    streamUsage: "unasked",
    drops: ["stream_options"],
    renames: formerLimit,
    usage: { reasoningInCompletion: false, restOfTotalIsReasoning: false, reportedCost: perplexityCost },
    facts: { thinkTags: true },
    // Beside chat, whose path has no version.
    embeddings: { ...openaiEmbeddings, path: "/v1/embeddings", reportedCost: perplexityCost },
    audio: {},
    modelsPath: undefined,
  },
  ollama: { ...generic, hosts: undefined, audio: {} },
  vllm: { ...generic, hosts: undefined },
} as const satisfies Record<PresetName, Preset>;

/** The preset that the configuration names, else the one that the base URL's host gives away. */
export function choosePreset(name: PresetName | undefined, baseUrl: string): PresetName {
  if (name !== undefined) return name;
  const host = new URL(baseUrl).hostname;
  const names = Object.keys(presets) as PresetName[];
  return names.find((candidate) => presets[candidate].hosts?.test(host)) ?? "generic";
}
