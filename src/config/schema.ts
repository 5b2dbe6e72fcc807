import { z } from "zod";
import { byteSize, duration } from "./units.ts";

/**
 * The shape of `tollgate.yaml`. Every object is strict: a key that means nothing is a mistake, and the start stops with
 * its path. `tollgate.schema.json` is generated from this and kept in the repository for editors.
 */

const providerKinds = ["openai", "google", "xai", "anthropic", "byteplus", "openai-compatible"] as const;

const providerPresets = ["generic", "deepseek", "mistral", "groq", "moonshot", "perplexity", "ollama", "vllm"] as const;

const prefix = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, "a prefix of letters, digits, '_', '-' and '.'");

const httpUrl = z.url({ protocol: /^https?$/, error: "an http(s) URL" }).transform((url) => url.replace(/\/+$/, ""));

const provider = z
  .strictObject({
    kind: z.enum(providerKinds).describe("Which wire format the upstream speaks."),
    base_url: httpUrl.describe("The upstream's base URL, as its documentation gives it."),
    api_key: z.string().optional().describe("The upstream's key. Unset: the provider is not routed."),
    api_keys: z.array(z.string()).optional().describe("Several keys, used in turn; one that is refused rests."),
    aliases: z.array(prefix).default([]).describe("Further model prefixes that lead here."),
    preset: z
      .enum(providerPresets)
      .optional()
      .describe("What an openai-compatible upstream does differently; guessed from base_url."),
  })
  .describe("One upstream. The key is the model prefix.");

const server = z
  .strictObject({
    host: z.string().min(1).default("127.0.0.1"),
    port: z.number().int().min(0).max(65_535).default(8787),
    body_limit: byteSize.prefault("32MiB").describe("Largest request body; over it a call gets 413."),
    body_timeout: duration
      .prefault("2m")
      .describe("How long a request body may take to arrive; over it a call gets 408."),
    public_url: httpUrl.optional().describe("The address callers use; in the OpenAPI document."),
    beta_url: httpUrl.optional().describe("A second, plain HTTP address; in the OpenAPI document."),
  })
  .prefault({});

const upstream = z
  .strictObject({
    retries: z.number().int().min(0).max(10).default(2).describe("Further attempts where nothing was received yet."),
    retry_after_max: duration.prefault("10s").describe("The longest retry-after that is waited for."),
    first_byte_timeout: duration.prefault("10m").describe("How long an upstream may think before it answers."),
    idle_timeout: duration.prefault("5m").describe("The longest silence within an answer."),
  })
  .prefault({});

const rate = z.number().min(0).max(1e9);

const priceKeys = [
  "input_mtok",
  "output_mtok",
  "cache_read_mtok",
  "cache_write_mtok",
  "cache_write_1h_mtok",
  "input_audio_mtok",
  "cache_audio_read_mtok",
  "output_audio_mtok",
  "output_reasoning_mtok",
  "requests_kcount",
] as const;

const modelPrice = z
  .strictObject({
    ...Object.fromEntries(priceKeys.map((key) => [key, rate.optional()])),
    context_window: z.number().int().positive().optional(),
    max_output_tokens: z.number().int().positive().optional(),
  } as Record<(typeof priceKeys)[number] | "context_window" | "max_output_tokens", z.ZodOptional<z.ZodNumber>>)
  .describe("Credits per million tokens (per thousand calls for requests_kcount).");

const pricing = z
  .strictObject({
    markup: z.number().min(1e-6).max(1e6).default(1).describe("Factor on the list price, to six decimals."),
    models: z
      .record(z.string(), modelPrice)
      .default({})
      .describe("Prices by model id with prefix; * stands for any characters."),
    unpriced: z.enum(["refuse", "free"]).default("refuse").describe("What becomes of a model without a price."),
  })
  .prefault({});

const log = z
  .strictObject({
    level: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
  })
  .prefault({});

const endpoint = { base_url: httpUrl.optional(), api_key: z.string().optional() };

const web = z
  .strictObject({
    engine: z
      .union([z.enum(["native", "firecrawl"]), z.strictObject({ kind: z.enum(["native", "firecrawl"]), ...endpoint })])
      .default("native"),
    search: z
      .strictObject({ backend: z.enum(["local", "searxng", "brave", "firecrawl"]).default("local"), ...endpoint })
      .prefault({}),
    allow_private_hosts: z
      .array(z.string())
      .default([])
      .describe("Host or host:port globs that the SSRF guard lets through."),
  })
  .prefault({})
  .describe("Reserved for the /v2 web routes.");

export const configSchema = z.strictObject({
  server,
  storage: z.string().min(1).default("sqlite:data/tollgate.db").describe("sqlite:PATH or postgres://user:pass@host/db"),
  upstream,
  log,
  providers: z.record(prefix, provider),
  web,
  pricing,
});

export type Config = z.output<typeof configSchema>;
export type ConfigInput = z.input<typeof configSchema>;
export type ProviderConfig = z.output<typeof provider>;
export type ModelPriceConfig = z.output<typeof modelPrice>;
export type ProviderKindName = (typeof providerKinds)[number];
export type PresetName = (typeof providerPresets)[number];
