import { z } from "zod";
import { firecrawlV1Names } from "../core/index.ts";
import { fromText } from "./values/from-text.ts";

const providerKinds = [
  "openai",
  "google",
  "xai",
  "anthropic",
  "byteplus",
  "cohere",
  "jina",
  "voyage",
  "openai-compatible",
] as const;

export const providerPresets = [
  "generic",
  "deepseek",
  "mistral",
  "groq",
  "moonshot",
  "perplexity",
  "openrouter",
  "ollama",
  "vllm",
] as const;

const providerDialects = ["chat", "messages", "responses", "gemini"] as const;

export const prefix = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, "a prefix of letters, digits, '_', '-' and '.'")
  .refine((name) => !firecrawlV1Names.some((taken) => taken === name), {
    error: ({ input }) =>
      `/v1/${String(input)} is a path of its own, so that no provider can have this prefix: choose another one`,
  });

/** Paths are appended to an address, and addresses are logged, so it may contain neither a query nor a password. */
function isPlainAddress(text: string): boolean {
  if (/[?#]/.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === "" && password === "";
}

export const httpUrl = z
  .url({ protocol: /^https?$/, error: "an http(s) URL" })
  .refine(isPlainAddress, "an http(s) URL without user, password, query and fragment")
  .transform((url) => url.replace(/\/+$/, ""));

const dialects = z
  .array(z.enum(providerDialects))
  .min(1)
  .refine((names) => new Set(names).size === names.length, "each dialect once")
  .meta({ uniqueItems: true });

/** A key with a name of its own, which stored objects are noted under: it stays when the secret is rotated. */
const namedKey = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/, "a name of letters, digits, '_', '-' and '.'"),
  secret: z
    .string()
    .default("")
    .describe("The key, as ${VARIABLE} or ${file:/run/secrets/key}. Unset: the key is not used."),
  weight: fromText(z.number().min(0.001).max(1_000))
    .prefault(1)
    .describe("Its share of the calls, compared with those of the other keys."),
  models: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe("The models that it is for, by the provider's names: globs. Unset: all."),
});

/** For editors: some settings are valid for one kind only. */
const settingsOfKinds = {
  preset: { properties: { kind: { const: "openai-compatible" } } },
  usage_includes_cache: { properties: { kind: { const: "anthropic" } } },
};

export const provider = z
  .strictObject({
    kind: z.enum(providerKinds).describe("The wire format of the upstream."),
    base_url: httpUrl.describe("The upstream's base URL, as in its documentation."),
    api_key: z.string().optional().describe("The upstream's key. Unset: the provider is not routed."),
    api_keys: z.array(z.string()).optional().describe("Several keys, used in turn; a refused key cools down."),
    keys: z
      .array(namedKey)
      .refine((keys) => new Set(keys.map(({ name }) => name)).size === keys.length, "each name once")
      .optional()
      .describe(
        "Keys with names, used in turn like api_keys. A secret that is rotated keeps its name, and with it what it has stored.",
      ),
    aliases: z.array(prefix).default([]).describe("Further model prefixes of this provider."),
    preset: z
      .enum(providerPresets)
      .optional()
      .describe("The differences of an openai-compatible upstream. Unset: guessed from base_url."),
    shared_stores: z
      .boolean()
      .default(false)
      .describe(
        "Whether all callers may use the files, vector stores, prompts and conversations that exist in the provider's account.",
      ),
    price_factor: z
      .number()
      .positive()
      .max(1_000)
      .optional()
      .describe(
        "A factor on all prices of this provider, such as 1.1 for processing in a region; not on a cost that it reports itself. Unset: 1.1 at OpenAI's regional hosts for the models that cost more there, else 1.",
      ),
    usage_includes_cache: z
      .boolean()
      .optional()
      .describe(
        "Whether the `input_tokens` of an anthropic upstream contain those of the cache, which Anthropic counts apart. Unset: at the hosts of Moonshot, Kimi and DashScope.",
      ),
    dialects: dialects
      .optional()
      .describe(
        "The dialects that the upstream accepts; calls in other dialects are translated. Unset: those of its kind, of openai-compatible those of its preset: chat, of openrouter and deepseek responses too. It may have responses and messages, at /responses and /messages below base_url. A google provider has chat and gemini, its own API.",
      ),
  })
  .refine(({ kind, preset }) => preset === undefined || kind === "openai-compatible", {
    path: ["preset"],
    error: "only an openai-compatible provider takes a preset",
  })
  .refine(({ kind, usage_includes_cache: includes }) => includes === undefined || kind === "anthropic", {
    path: ["usage_includes_cache"],
    error: "only an anthropic provider takes it",
  })
  .meta({ description: "One upstream. The key is the model prefix.", dependentSchemas: settingsOfKinds });

export type ProviderInput = z.input<typeof provider>;
export type ProviderConfig = z.output<typeof provider>;
export type ProviderKindName = (typeof providerKinds)[number];
export type ProviderDialect = (typeof providerDialects)[number];
export type PresetName = (typeof providerPresets)[number];
