import { describe, expect, test } from "bun:test";
import { builtInCatalog } from "./built-in.ts";
import { CatalogIndex } from "./catalog-index.ts";
import { layersOf } from "./layers.ts";
import type { PriceCatalog } from "./schema.ts";

const builtIn = builtInCatalog();

/** The main name of the model that a name refers to. */
function found(provider: string, name: string): string | undefined {
  return (builtIn.listed(provider, name) ?? builtIn.undated(provider, name))?.name;
}

describe("a name in the built-in catalog", () => {
  test.each([
    ["openai", "gpt-5-nano", "gpt-5-nano"],
    ["openai", "gpt-4o-2024-08-06", "gpt-4o"],
    ["openai", "gpt-6-sol-2026-10-01", "gpt-6-sol"],
    ["openai", "gpt-image-2.6-sunburst-2026-11-02", "gpt-image-2.6-sunburst"],
    // An older snapshot with prices of its own.
    ["openai", "gpt-4o-2024-05-13", "gpt-4o-2024-05-13"],
    ["anthropic", "claude-opus-4-5-20251101", "claude-opus-4-5"],
    ["anthropic", "claude-haiku-5-5-20261015", "claude-haiku-5-5"],
    ["google", "gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash-latest"],
    ["google", "gemini-3.8-flash-09-2026", "gemini-3.8-flash"],
    ["x-ai", "grok-4-0709", "grok-4"],
    ["x-ai", "grok-4.7-1101", "grok-4.7"],
    ["deepseek", "deepseek-v4-pro-0813", "deepseek-v4-pro"],
    ["mistral", "mistral-large-2411", "mistral-large"],
    ["mistral", "mistral-large-2512", "mistral-large-2512"],
    ["mistral", "mistral-medium-latest", "mistral-medium-latest"],
    ["mistral", "codestral-2611", undefined],
    ["byteplus", "seed-1-8-251228", "seed-1-8"],
    ["byteplus", "seed-1-8-261015", "seed-1-8"],
    ["byteplus", "seed-2-0-pro", undefined],
    ["openrouter", "openai/gpt-4o-mini", "openai/gpt-4o-mini"],
  ])("%s's %s is a name of %p", (provider, name, expected) => {
    expect(found(provider, name)).toBe(expected as never);
  });

  test.each([
    ["openai", "gpt-5-nano-ultra-pro"],
    ["openai", "gpt-5-nano-2025-13-07"],
    ["openai", "gpt-5-nano-20250807"],
    ["openai", "gpt-4o-2024-08-06-2024-08-07"],
    ["openai", "chat-latest-2026-01-01"],
    ["openai", "gpt-4o-latest"],
    ["openai", "GPT-4o"],
    ["openai", "gpt-4o-"],
    ["openai", " gpt-4o"],
    ["openai", "-2024-08-06"],
    ["openai", "ft:gpt-4o-2024-08-06:acme::1"],
    ["openai", "claude-opus-5"],
    ["openai", "constructor"],
    ["anthropic", "claude-sonnet-5-9"],
    ["anthropic", "claude-sonnet-4-5-latest"],
    ["google", "gemini-2.5-pro-max"],
    ["google", "models/gemini-2.5-pro"],
    ["x-ai", "grok-4.7-turbo"],
    ["deepseek", "deepseek-chat-v9"],
    ["mistral", "mistral-large-9999"],
    ["mistral", "devstral-small:free"],
    ["openrouter", "openai/gpt-4o-mini:free"],
    ["constructor", "gpt-4o"],
    ["__proto__", "gpt-4o"],
  ])("%s has no %s", (provider, name) => {
    expect(found(provider, name)).toBeUndefined();
  });
});

const caps: [provider: string, model: string, cap: number | undefined][] = [
  ["openai", "gpt-4o", 16_384],
  ["openai", "gpt-4o-mini-2024-07-18", 16_384],
  ["openai", "gpt-4.1-nano", 32_768],
  ["openai", "gpt-4-turbo-2024-04-09", 4_096],
  ["openai", "gpt-4", 8_192],
  ["openai", "gpt-3.5-turbo", 4_096],
  ["openai", "gpt-5-mini", 128_000],
  ["openai", "gpt-5-pro", 272_000],
  ["openai", "gpt-5.1-chat-latest", 16_384],
  ["openai", "o3-mini", 100_000],
  ["anthropic", "claude-haiku-4-5", 64_000],
  ["anthropic", "claude-3-5-haiku-latest", 8_192],
  ["anthropic", "claude-opus-4-1-20250805", 32_000],
  ["anthropic", "claude-opus-4-20250514", 32_000],
  ["anthropic", "claude-opus-4-6", 128_000],
  ["anthropic", "claude-sonnet-4-6", 64_000],
  ["anthropic", "claude-sonnet-5", 128_000],
  ["google", "gemini-2.0-flash", 8_192],
  ["google", "gemini-2.5-pro", 65_536],
  ["deepseek", "deepseek-chat", 8_192],
  ["deepseek", "deepseek-v4-pro", 393_216],
  ["byteplus", "seed-1-8-251228", 64_000],
  ["byteplus", "seed-1-6-flash-250715", 32_000],
  ["openai", "gpt-4o-mini-transcribe-2025-12-15", 2_000],
  ["openai", "gpt-image-1", 6_540],
  ["openai", "gpt-image-1.5", 6_540],
  ["openai", "gpt-image-2", undefined],
  ["google", "gemini-2.5-flash-image", 32_768],
  ["google", "gemini-3.1-flash-lite-image", 32_768],
];

test.each(caps)("%s's %s writes at most %p tokens", (provider, model, cap) => {
  const entry = builtIn.listed(provider, model) ?? builtIn.undated(provider, model);
  expect(entry?.model.max_output_tokens).toBe(cap as never);
});

test("a model that reasons, and the kinds of models, are listed", () => {
  const kindOf = (provider: string, name: string) => builtIn.listed(provider, name)?.model.kind ?? "chat";
  expect(builtIn.listed("openai", "gpt-5-mini")?.model.reasoning).toBe(true);
  expect(builtIn.listed("openai", "gpt-4o")?.model.reasoning).toBeUndefined();
  expect(
    [
      ["openai", "gpt-4o"],
      ["openai", "gpt-5-pro"],
      ["openai", "text-embedding-3-small"],
      ["openai", "dall-e-3"],
      ["openai", "tts-1"],
      ["openai", "whisper-1"],
      ["openai", "gpt-realtime"],
      ["google", "veo-3.1-generate-preview"],
    ].map(([provider = "", name = ""]) => kindOf(provider, name)),
  ).toEqual(["chat", "responses", "embeddings", "image", "speech", "transcription", "realtime", "video"]);
});

describe("two catalogs", () => {
  const catalog = (models: PriceCatalog["providers"][string]["models"]): PriceCatalog => ({
    format: 1,
    providers: { p: { date_suffixes: ["YYMM"], models } },
  });
  const model = (input: number, aliases?: string[]) => ({
    ...(aliases === undefined ? {} : { aliases }),
    prices: { input_mtok: input, output_mtok: 0 },
    source: "a test",
  });
  const upper = new CatalogIndex("upper", catalog({ large: model(1), "both-2501": model(2, ["alias"]) }));
  const lower = new CatalogIndex(
    "lower",
    catalog({ large: model(9), "large-2501": model(8), small: model(7, ["alias"]) }),
  );
  const layers = layersOf(() => [upper, lower]);

  test.each([
    ["large", "upper", 1],
    ["small", "lower", 7],
    ["alias", "upper", 2],
    ["small-2501", "lower", 7],
    // Its own row, even in the lower one, is more exact than the date.
    ["large-2501", "lower", 8],
    ["large-2502", "upper", 1],
    ["both-2501-2502", undefined, undefined],
    ["missing", undefined, undefined],
  ])("%s is from the %p one", (name, layer, input) => {
    const price = layers.find("p", name, 0);
    expect(price?.layer).toBe(layer as never);
    expect(price?.table.input_mtok).toBe(input as never);
  });

  test("list the names of both", () => {
    expect(layers.names("p")).toEqual(["large", "both-2501", "large-2501", "small"]);
  });
});
