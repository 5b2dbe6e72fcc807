/** The upstreams' listings of models, as documented. */
import { describe, expect, test } from "bun:test";
import listings from "./shared/__fixtures__/listings.json" with { type: "json" };
import type { ListedModel, ModelListing } from "./provider.ts";
import { createProvider, type ProviderChoice } from "./registry.ts";

type Upstream = Pick<ProviderChoice, "kind" | "preset">;

function listingOf(upstream: Upstream): Extract<ModelListing, { from: "upstream" }> {
  const { models } = createProvider({ ...upstream, baseUrl: "https://upstream.example" });
  if (models.from !== "upstream") throw new Error(`${upstream.kind} lists from a catalog`);
  return models;
}

const unknown = {
  created: undefined,
  ownedBy: undefined,
  displayName: undefined,
  contextLength: undefined,
  maxOutputTokens: undefined,
};

const rows: [keyof typeof listings, Upstream, ListedModel[]][] = [
  [
    "openai",
    { kind: "openai" },
    [
      { ...unknown, id: "gpt-5-mini", created: 1_754_425_928, ownedBy: "system" },
      { ...unknown, id: "whisper-1", created: 1_677_532_384, ownedBy: "openai-internal" },
    ],
  ],
  [
    "deepseek",
    { kind: "openai-compatible", preset: "deepseek" },
    [{ ...unknown, id: "deepseek-v4-pro", ownedBy: "deepseek" }],
  ],
  [
    "mistral",
    { kind: "openai-compatible", preset: "mistral" },
    [
      {
        ...unknown,
        id: "mistral-small-latest",
        created: 1_763_000_000,
        ownedBy: "mistralai",
        displayName: "mistral-small-2603",
        contextLength: 131_072,
      },
    ],
  ],
  [
    "groq",
    { kind: "openai-compatible", preset: "groq" },
    [
      {
        ...unknown,
        id: "llama-3.3-70b-versatile",
        created: 1_733_447_754,
        ownedBy: "Meta",
        contextLength: 131_072,
        maxOutputTokens: 32_768,
      },
    ],
  ],
  [
    "moonshot",
    { kind: "openai-compatible", preset: "moonshot" },
    [{ ...unknown, id: "kimi-k3", created: 1_700_000_000, ownedBy: "moonshot", contextLength: 262_144 }],
  ],
  [
    "vllm",
    { kind: "openai-compatible", preset: "vllm" },
    [
      {
        ...unknown,
        id: "meta-llama/Llama-3.1-8B-Instruct",
        created: 1_700_000_000,
        ownedBy: "vllm",
        contextLength: 8_192,
      },
    ],
  ],
  [
    "google",
    { kind: "google" },
    [
      {
        id: "gemini-2.5-flash",
        created: undefined,
        ownedBy: "google",
        displayName: "Gemini 2.5 Flash",
        contextLength: 1_048_576,
        maxOutputTokens: 65_536,
      },
      { ...unknown, id: "aqa", ownedBy: "google", displayName: "Answers", contextLength: 7_168 },
    ],
  ],
  [
    "anthropic",
    { kind: "anthropic" },
    [
      {
        id: "claude-haiku-4-5-20251001",
        created: Date.UTC(2025, 9, 15) / 1000,
        ownedBy: "anthropic",
        displayName: "Claude Haiku 4.5",
        contextLength: 200_000,
        maxOutputTokens: 64_000,
        anthropicMembers: {
          max_input_tokens: 200_000,
          max_tokens: 64_000,
          capabilities: { batch: { supported: true }, thinking: { supported: true } },
          lifecycle: "active",
          deprecated_at: null,
          retires_at: null,
          line: "haiku",
        },
      },
    ],
  ],
];

test.each(rows)("the listing of %s", (name, upstream, models) => {
  expect(listingOf(upstream).parse(listings[name]).models).toEqual(models);
});

test("ids of Google's compatible listing lose their resource path", () => {
  const body = { object: "list", data: [{ id: "models/gemini-2.5-flash", object: "model", owned_by: "google" }] };
  const { models } = listingOf({ kind: "openai-compatible", preset: "generic" }).parse(body);
  expect(models).toEqual([{ ...unknown, id: "gemini-2.5-flash", ownedBy: "google" }]);
});

test("limits other than positive numbers are unknown", () => {
  const body = {
    data: [
      {
        id: "m",
        created: -1,
        context_length: "many",
        context_window: 0,
        max_model_len: 4_096,
        max_output_tokens: null,
      },
    ],
  };
  expect(listingOf({ kind: "openai" }).parse(body).models).toEqual([{ ...unknown, id: "m", contextLength: 4_096 }]);
});

test("an invalid date is unknown", () => {
  const body = { data: [{ id: "claude", created_at: "yesterday" }] };
  expect(listingOf({ kind: "anthropic" }).parse(body).models).toEqual([
    { ...unknown, id: "claude", ownedBy: "anthropic", anthropicMembers: {} },
  ]);
});

describe("pages", () => {
  test("of Google: the path contains the encoded token of the next page", () => {
    const google = listingOf({ kind: "google" });
    const { next } = google.parse(listings.google);
    expect(google.path(undefined)).toBe("/v1beta/models?pageSize=1000");
    expect(google.path(next)).toBe("/v1beta/models?pageSize=1000&pageToken=Ch9tb2RlbHMvYXFh%2B%2F%3D");
    expect(google.parse({ models: [] }).next).toBeUndefined();
  });

  test("of Anthropic: the next path contains the last id, as long as there is more", () => {
    const anthropic = listingOf({ kind: "anthropic" });
    const { next } = anthropic.parse(listings.anthropic);
    expect(anthropic.path(undefined)).toBe("/v1/models?limit=1000");
    expect(anthropic.path(next)).toBe("/v1/models?limit=1000&after_id=claude-haiku-4-5-20251001");
    expect(anthropic.parse({ ...listings.anthropic, has_more: false }).next).toBeUndefined();
  });

  test("of an OpenAI-style listing: there is only one", () => {
    expect(listingOf({ kind: "openai" }).parse({ ...listings.openai, has_more: true }).next).toBeUndefined();
  });
});

test.each([["byteplus", {}] as const, ["openai-compatible", { preset: "perplexity" }] as const])(
  "%s %p has no listing upstream",
  (kind, settings) => {
    expect(createProvider({ kind, ...settings, baseUrl: "https://upstream.example" }).models.from).toBe("catalog");
  },
);
