/** LiteLLM's providers, by the prefixes of its models. */
import type { PresetName, ProviderKindName } from "../../config/index.ts";

export interface KnownProvider {
  /** The prefix of its models here; by default LiteLLM's own. */
  prefix?: string;
  kind: ProviderKindName;
  preset?: PresetName;
  /** Undefined if a deployment has to name it. */
  baseUrl: string | undefined;
  /** Appended to LiteLLM's address. */
  suffix?: string;
  /** The variable that LiteLLM reads without `api_key`; undefined for a server that needs no key. */
  variable: string | undefined;
  /** Why the result is only approximate. */
  note?: string;
}

const compatible = (baseUrl: string | undefined, variable: string | undefined): KnownProvider => ({
  kind: "openai-compatible",
  baseUrl,
  variable,
});

const ollama: KnownProvider = {
  ...compatible("http://localhost:11434", undefined),
  prefix: "ollama",
  preset: "ollama",
  suffix: "/v1",
};

const azure: KnownProvider = {
  ...compatible(undefined, "AZURE_API_KEY"),
  prefix: "azure",
  suffix: "/openai/v1",
  note: "by Azure's v1 API, in which deployments are models; check it with one call",
};

const cohere: KnownProvider = {
  kind: "cohere",
  baseUrl: "https://api.cohere.com",
  variable: "COHERE_API_KEY",
  prefix: "cohere",
};

export const knownProviders: Readonly<Record<string, KnownProvider>> = {
  openai: { kind: "openai", baseUrl: "https://api.openai.com/v1", variable: "OPENAI_API_KEY" },
  "text-completion-openai": {
    kind: "openai",
    prefix: "openai",
    baseUrl: "https://api.openai.com/v1",
    variable: "OPENAI_API_KEY",
  },
  anthropic: { kind: "anthropic", baseUrl: "https://api.anthropic.com", variable: "ANTHROPIC_API_KEY" },
  gemini: { kind: "google", baseUrl: "https://generativelanguage.googleapis.com", variable: "GEMINI_API_KEY" },
  xai: { kind: "xai", baseUrl: "https://api.x.ai/v1", variable: "XAI_API_KEY" },
  deepseek: { ...compatible("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"), preset: "deepseek" },
  mistral: { ...compatible("https://api.mistral.ai/v1", "MISTRAL_API_KEY"), preset: "mistral" },
  codestral: { ...compatible("https://codestral.mistral.ai/v1", "CODESTRAL_API_KEY"), preset: "mistral" },
  groq: { ...compatible("https://api.groq.com/openai/v1", "GROQ_API_KEY"), preset: "groq" },
  moonshot: { ...compatible("https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"), preset: "moonshot" },
  perplexity: { ...compatible("https://api.perplexity.ai", "PERPLEXITYAI_API_KEY"), preset: "perplexity" },
  openrouter: { ...compatible("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"), preset: "openrouter" },
  ollama,
  ollama_chat: ollama,
  hosted_vllm: { ...compatible(undefined, "HOSTED_VLLM_API_KEY"), preset: "vllm" },
  vllm: { ...compatible(undefined, "HOSTED_VLLM_API_KEY"), preset: "vllm" },
  azure,
  azure_ai: { ...azure, prefix: "azure_ai", variable: "AZURE_AI_API_KEY" },
  cohere,
  cohere_chat: cohere,
  jina_ai: { kind: "jina", baseUrl: "https://api.jina.ai/v1", variable: "JINA_AI_API_KEY" },
  voyage: { kind: "voyage", baseUrl: "https://api.voyageai.com/v1", variable: "VOYAGE_API_KEY" },
  volcengine: {
    kind: "byteplus",
    baseUrl: "https://ark.cn-beijing.volces.com/api/v3",
    variable: "VOLCENGINE_API_KEY",
    note: "by the API of BytePlus, which is the same",
  },
  together_ai: compatible("https://api.together.xyz/v1", "TOGETHERAI_API_KEY"),
  fireworks_ai: compatible("https://api.fireworks.ai/inference/v1", "FIREWORKS_AI_API_KEY"),
  cerebras: compatible("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
  deepinfra: compatible("https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
  nvidia_nim: compatible("https://integrate.api.nvidia.com/v1", "NVIDIA_NIM_API_KEY"),
  sambanova: compatible("https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY"),
  nebius: compatible("https://api.studio.nebius.ai/v1", "NEBIUS_API_KEY"),
  novita: compatible("https://api.novita.ai/v3/openai", "NOVITA_API_KEY"),
  hyperbolic: compatible("https://api.hyperbolic.xyz/v1", "HYPERBOLIC_API_KEY"),
  dashscope: compatible("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
  zai: compatible("https://api.z.ai/api/paas/v4", "ZAI_API_KEY"),
  lm_studio: compatible(undefined, "LM_STUDIO_API_KEY"),
  llamafile: compatible("http://127.0.0.1:8080/v1", undefined),
  openai_like: compatible(undefined, "OPENAI_LIKE_API_KEY"),
  custom_openai: compatible(undefined, "OPENAI_API_KEY"),
  litellm_proxy: compatible(undefined, "LITELLM_PROXY_API_KEY"),
};

/** Models that LiteLLM knows without a prefix. */
export const unprefixed: readonly (readonly [RegExp, string])[] = [
  [/^(gpt|o\d|chatgpt|text-embedding|dall-e|whisper|tts|omni-moderation|computer-use|sora|codex)\b/, "openai"],
  [/^ft:/, "openai"],
  [/^claude/, "anthropic"],
  [/^(command|rerank|embed-)/, "cohere"],
];

/** Why a provider has no place here. */
export const foreignProviders: Readonly<Record<string, string>> = {
  bedrock: "Amazon Bedrock",
  bedrock_converse: "Amazon Bedrock",
  sagemaker: "Amazon SageMaker",
  sagemaker_chat: "Amazon SageMaker",
  vertex_ai: "Google Vertex AI",
  vertex_ai_beta: "Google Vertex AI",
  watsonx: "IBM watsonx",
  databricks: "Databricks",
  snowflake: "Snowflake",
  huggingface: "Hugging Face",
  replicate: "Replicate",
};
