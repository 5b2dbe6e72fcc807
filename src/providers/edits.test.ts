/** How a body in OpenAI's format is adapted to each upstream; everything else keeps its bytes. */
import { describe, expect, test } from "bun:test";
import { edited } from "./shared/__fixtures__/edited.ts";
import { createProvider, type ProviderChoice, upstreamName } from "./registry.ts";

type Upstream = Pick<ProviderChoice, "kind" | "preset">;

function sent(upstream: Upstream, text: string): string {
  const chat = createProvider({ ...upstream, baseUrl: "https://upstream.example" }).operations.chat;
  if (chat === undefined) throw new Error("not to be sent");
  return edited(text, chat.edits(JSON.parse(text) as Record<string, unknown>, "m"));
}

const google: Upstream = { kind: "google" };
const mistral: Upstream = { kind: "openai-compatible", preset: "mistral" };
const groq: Upstream = { kind: "openai-compatible", preset: "groq" };
const perplexity: Upstream = { kind: "openai-compatible", preset: "perplexity" };
const openai: Upstream = { kind: "openai" };
const xai: Upstream = { kind: "xai" };

const rows: [string, Upstream, string, string][] = [
  [
    "openai: nothing is dropped",
    openai,
    `{"model":"m","store":true,"user":"u"}`,
    `{"model":"m","store":true,"user":"u"}`,
  ],
  ["xai: nothing is dropped", xai, `{"model":"m","user":"u","seed":1}`, `{"model":"m","user":"u","seed":1}`],
  [
    "openai: a stream's usage is requested",
    openai,
    `{"model":"m","stream":true}`,
    `{"model":"m","stream":true,"stream_options":{"include_usage":true}}`,
  ],
  [
    "openai: a body that requests usage already is unchanged",
    openai,
    `{ "stream_options" : {"include_usage": true} , "stream" : true }`,
    `{ "stream_options" : {"include_usage": true} , "stream" : true }`,
  ],
  [
    "google: fields that only OpenAI has are dropped",
    google,
    `{"model":"m","store":true,"metadata":{"a":"b"},"user":"u","n":2}`,
    `{"model":"m","n":2}`,
  ],
  [
    "google: all of them at once, together with a stream",
    google,
    `{"parallel_tool_calls":true,"logit_bias":{},"prompt_cache_key":"k","prompt_cache_options":{},"prompt_cache_retention":"24h","safety_identifier":"s","service_tier":"auto","verbosity":"low","stream":true}`,
    `{"stream":true,"stream_options":{"include_usage":true}}`,
  ],
  [
    "mistral: stream options, which are a 422 there, are dropped",
    mistral,
    `{"model":"m","stream":true,"stream_options":{"include_usage":true}}`,
    `{"model":"m","stream":true}`,
  ],
  [
    "mistral: OpenAI's new output limit is renamed",
    mistral,
    `{"model":"m","max_completion_tokens":5}`,
    `{"model":"m","max_tokens":5}`,
  ],
  ["mistral: the seed is renamed", mistral, `{"seed":7,"model":"m"}`, `{"random_seed":7,"model":"m"}`],
  [
    "mistral: of two output limits, the one that bounded the cost is used",
    mistral,
    `{"max_tokens":900,"model":"m","max_completion_tokens":5}`,
    `{"model":"m","max_tokens":5}`,
  ],
  [
    "mistral: its own name is unchanged",
    mistral,
    `{"model":"m","max_tokens":5,"random_seed":1}`,
    `{"model":"m","max_tokens":5,"random_seed":1}`,
  ],
  [
    "mistral: fields that its closed schema refuses are dropped",
    mistral,
    `{"logit_bias":{},"logprobs":true,"top_logprobs":2,"user":"u","store":false,"service_tier":"auto","safety_identifier":"s","prompt_cache_options":{},"prompt_cache_retention":"24h","verbosity":"low","model":"m","prompt_cache_key":"k","metadata":{}}`,
    `{"model":"m","prompt_cache_key":"k","metadata":{}}`,
  ],
  [
    "groq: log probabilities, which are a 400 there, are dropped",
    groq,
    `{"model":"m","logprobs":true,"top_logprobs":2,"logit_bias":{},"user":"u"}`,
    `{"model":"m","user":"u"}`,
  ],
  [
    "perplexity: stream options are dropped",
    perplexity,
    `{"model":"m","stream":true,"stream_options":{}}`,
    `{"model":"m","stream":true}`,
  ],
];

test.each(rows)("%s", (_title, upstream, body, expected) => {
  expect(sent(upstream, body)).toBe(expected);
});

describe("the preset of an openai-compatible upstream", () => {
  const hosts: [string, string][] = [
    ["https://api.deepseek.com/v1", "deepseek"],
    ["https://api.mistral.ai/v1", "mistral"],
    ["https://api.groq.com/openai/v1", "groq"],
    ["https://api.moonshot.ai/v1", "moonshot"],
    ["https://api.moonshot.cn/v1", "moonshot"],
    ["https://api.perplexity.ai", "perplexity"],
    ["http://127.0.0.1:11434/v1", "openai-compatible"],
    ["https://deepseek.com.example/v1", "openai-compatible"],
    ["https://notdeepseek.com/v1", "openai-compatible"],
    ["https://example.com/api.mistral.ai", "openai-compatible"],
  ];
  test.each(hosts)("is recognized by the host: %s is %s", (baseUrl, name) => {
    expect(upstreamName({ kind: "openai-compatible", baseUrl })).toBe(name);
  });

  test("takes precedence over the host if it is configured", () => {
    expect(upstreamName({ kind: "openai-compatible", preset: "vllm", baseUrl: "https://api.deepseek.com/v1" })).toBe(
      "vllm",
    );
  });

  test("has no effect on other kinds", () => {
    expect(upstreamName({ kind: "xai", baseUrl: "https://api.deepseek.com/v1" })).toBe("xai");
  });
});
