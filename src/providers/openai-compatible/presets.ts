import type { PresetName, ProviderDialect } from "../../config/index.ts";
import { keysOf, type ModelFacts } from "../../core/index.ts";
import type { Provider } from "../provider.ts";
import type { ChatEndpoint } from "../shared/chat-operation.ts";
import { type ChatUsageRules, openaiUsageRules } from "../shared/chat-usage.ts";
import type { EmbeddingsEndpoint } from "../shared/embeddings-operation.ts";
import { completionOperation, moderationOperation } from "../shared/plain-operations.ts";
import { rerankOperation } from "../shared/rerank-operation.ts";
import { speechOperation } from "../shared/audio/speech-operation.ts";
import { transcriptionOperation, translationOperation } from "../shared/audio/transcription-operation.ts";
import { perplexityCost } from "./cost.ts";
import { openrouterCompletion, openrouterRerank, openrouterPurchases, openrouterUsage } from "./openrouter.ts";
import { mistralSpeech } from "./speech-mistral.ts";
import { groqTranscription, groqTranslation } from "./transcriptions-groq.ts";
import { mistralTranscription } from "./transcriptions-mistral.ts";

/** For upstreams that know the output limit only by its old name: they would ignore the new one and apply no limit. */
const oldLimitName = { max_completion_tokens: "max_tokens" };

/** The differences of one OpenAI-compatible upstream; sources in `docs/wire/others.md`. */
export interface Preset {
  /** Host names by which it is recognized. */
  hosts: RegExp | undefined;
  priceProvider: string | undefined;
  /** The dialects in which it is called, unless the configuration names others. */
  dialects: readonly ProviderDialect[];
  streamUsage: "on-request" | "automatic";
  drops: readonly string[];
  renames: Readonly<Record<string, string>>;
  usage: ChatUsageRules;
  /** The name of the output's limit that it knows, or the older one of both. */
  limitName: "max_tokens" | "max_completion_tokens";
  /** The base of chat for answers to continue, in the place of its version; undefined for the usual one. */
  prefillBase: string | undefined;
  /** The base of Responses, likewise. */
  responsesBase: string | undefined;
  /** Whether it may bill thought that a stream does not contain. */
  hidesThought: boolean;
  /** The readers of its requests' purchases; absent: only a service tier is one. */
  purchases: Pick<ChatEndpoint, "extras" | "buys" | "readTool">;
  /** Service tiers that cost as much as the usual one. */
  equalTiers: readonly string[];
  /** Its names of service tiers, by OpenAI's, if they differ. */
  tierNames: ModelFacts["tierNames"];
  /** Undefined if the upstream has no embeddings. */
  embeddings: EmbeddingsEndpoint | undefined;
  /** The supported operations of speech and transcription. */
  audio: Pick<Provider["operations"], "speech" | "transcription" | "translation">;
  /** The further operations that it has. */
  others: Pick<Provider["operations"], "completion" | "moderation" | "rerank">;
  /** Whether it has OpenAI's routes and cursors for files. */
  files: boolean;
  /** The path of the models' listing, or undefined if there is none. */
  modelsPath: string | undefined;
  /** Its models, if there is no listing. */
  documented: readonly string[];
}

const openaiEmbeddings: EmbeddingsEndpoint = { path: "/embeddings", drops: [], renames: {} };

/** As vLLM and Together have it. */
const plainRerank = rerankOperation({
  path: "/rerank",
  limit: "top_n",
  fields: undefined,
  takesTexts: false,
  namesDocuments: false,
});

const generic: Preset = {
  hosts: undefined,
  priceProvider: undefined,
  dialects: ["chat"],
  streamUsage: "on-request",
  drops: [],
  renames: {},
  usage: openaiUsageRules,
  limitName: "max_tokens",
  prefillBase: undefined,
  responsesBase: undefined,
  hidesThought: false,
  purchases: {},
  equalTiers: [],
  tierNames: undefined,
  embeddings: openaiEmbeddings,
  audio: { speech: speechOperation, transcription: transcriptionOperation, translation: translationOperation },
  others: { completion: completionOperation, rerank: plainRerank },
  files: true,
  modelsPath: "/models",
  documented: [],
};

export const presets = {
  generic,
  deepseek: {
    ...generic,
    others: {},
    files: false,
    hosts: /(^|\.)deepseek\.com$/,
    prefillBase: "/beta",
    responsesBase: "",
    dialects: ["chat", "responses"],
    priceProvider: "deepseek",
    renames: oldLimitName,
    embeddings: undefined,
    audio: {},
  },
  mistral: {
    ...generic,
    files: false,
    hosts: /(^|\.)mistral\.ai$/,
    priceProvider: "mistral",
    // Mistral refuses unknown fields with 422, and sends usage in the last chunk without a request for it.
    streamUsage: "automatic",
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
    renames: { ...oldLimitName, seed: "random_seed" },
    embeddings: { ...openaiEmbeddings, drops: ["user"], renames: { dimensions: "output_dimension" } },
    audio: { speech: mistralSpeech, transcription: mistralTranscription },
    others: { moderation: moderationOperation },
  },
  groq: {
    ...generic,
    others: {},
    files: false,
    hosts: /(^|\.)groq\.com$/,
    priceProvider: "groq",
    drops: ["logprobs", "logit_bias", "top_logprobs"],
    limitName: "max_completion_tokens",
    // With `include_reasoning: false`.
    hidesThought: true,
    equalTiers: ["flex"],
    tierNames: { default: "on_demand", priority: "performance" },
    embeddings: undefined,
    audio: { speech: speechOperation, transcription: groqTranscription, translation: groqTranslation },
  },
  moonshot: {
    ...generic,
    others: {},
    files: false,
    hosts: /(^|\.)moonshot\.(ai|cn)$/,
    priceProvider: "moonshotai",
    limitName: "max_completion_tokens",
    embeddings: undefined,
    audio: {},
  },
  openrouter: {
    ...generic,
    files: false,
    hosts: /(^|\.)openrouter\.ai$/,
    priceProvider: "openrouter",
    // Its SDK (1.3.19) describes the usage and the cost of Responses, and none of Messages.
    dialects: ["chat", "responses"],
    usage: openrouterUsage,
    purchases: openrouterPurchases,
    others: { completion: openrouterCompletion, rerank: openrouterRerank },
    hidesThought: true,
    audio: {},
  },
  perplexity: {
    ...generic,
    others: {},
    files: false,
    hosts: /(^|\.)perplexity\.ai$/,
    priceProvider: "perplexity",
    streamUsage: "automatic",
    drops: ["stream_options"],
    renames: oldLimitName,
    usage: { reasoningInCompletion: false, remainderIsReasoning: false, reportedCost: perplexityCost },
    hidesThought: true,
    // The reported cost contains the fee of a larger context.
    purchases: { buys: ["web_search_options"] },
    // Unlike the path of chat, it has a version.
    embeddings: { ...openaiEmbeddings, path: "/v1/embeddings", reportedCost: perplexityCost },
    audio: {},
    modelsPath: undefined,
    documented: [
      "sonar",
      "sonar-pro",
      "sonar-reasoning-pro",
      "sonar-deep-research",
      "pplx-embed-v1-0.6b",
      "pplx-embed-v1-4b",
    ],
  },
  ollama: { ...generic, hosts: undefined, audio: {}, others: { completion: completionOperation }, files: false },
  vllm: { ...generic, hosts: undefined, files: false },
} as const satisfies Record<PresetName, Preset>;

/** The base URL with another path in the place of its version, which it may have. */
export function besideVersion(baseUrl: string, path: string): string {
  return baseUrl.replace(/(?:\/v1)?\/?$/, path);
}

/** The configured preset, else the one that is recognized by the base URL's host. */
export function choosePreset(name: PresetName | undefined, baseUrl: string): PresetName {
  if (name !== undefined) return name;
  const host = new URL(baseUrl).hostname;
  return keysOf(presets).find((candidate) => presets[candidate].hosts?.test(host)) ?? "generic";
}
