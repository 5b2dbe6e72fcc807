import { describe, expect, test } from "bun:test";
import { chargeFor } from "./model-price.ts";
import { type OperatorPrice, PriceBook } from "./price-book.ts";
import type { PriceTable, PricedModality } from "./price-table.ts";

const noon = Date.UTC(2026, 5, 15, 12);

interface BookOptions {
  operatorPrices?: Record<string, OperatorPrice>;
  unpriced?: "refuse" | "free";
  now?: () => number;
}

function bookOf({ operatorPrices = {}, unpriced = "refuse", now = () => noon }: BookOptions = {}): PriceBook {
  return new PriceBook({ operatorPrices, unpriced, clock: now });
}

const openai = (model: string, prefix = "openai") => ({ id: `${prefix}/${model}`, model, priceProvider: "openai" });
const unlisted = (model: string) => ({ id: `local/${model}`, model, priceProvider: undefined });

/** Converts femto-credits per token to credits per million tokens. */
const perMillion = (femto: bigint | undefined): number | undefined =>
  femto === undefined ? undefined : Number(femto) / 1e9;

describe("the layers", () => {
  test("a listed model has its list price, its window, and its cap", () => {
    const price = bookOf().lookup(openai("gpt-4o"));
    expect(price).toMatchObject({ source: "built-in", contextWindow: 128_000, maxOutputTokens: 16_384 });
    expect(perMillion(price?.rates.input.base)).toBe(2.5);
    expect(perMillion(price?.rates.cacheRead.base)).toBe(1.25);
    expect(perMillion(price?.rates.output.base)).toBe(10);
  });

  test("the list is looked up by the provider's id in the lists, not by the configured prefix", () => {
    const price = bookOf().lookup(openai("gpt-4o", "provider_a"));
    expect(perMillion(price?.rates.input.base)).toBe(2.5);
  });

  test("the operator's price overrides the list price key by key", () => {
    const operatorPrices = { "openai/gpt-4o": { input_mtok: 1, output_mtok: 2 } };
    const price = bookOf({ operatorPrices }).lookup(openai("gpt-4o"));
    expect(price?.source).toBe("config");
    expect(perMillion(price?.rates.input.base)).toBe(1);
    expect(perMillion(price?.rates.cacheRead.base)).toBe(1.25);
    expect(perMillion(price?.rates.output.base)).toBe(2);
  });

  test.each<[string, OperatorPrice, string, number, number]>([
    ["without a rate retains the list's", { max_output_tokens: 1_000 }, "built-in", 2.5, 10],
    ["for input retains the list's output", { input_mtok: 1 }, "config", 1, 10],
    ["for output retains the list's input", { output_mtok: 1 }, "config", 2.5, 1],
    ["with a key without a value retains the list's", { input_mtok: undefined }, "built-in", 2.5, 10],
    ["of zero for both is free", { input_mtok: 0, output_mtok: 0 }, "config", 0, 0],
    ["per call is for the call alone", { requests_kcount: 5 }, "config", 0, 0],
    ["per call and for input is not completed", { requests_kcount: 5, input_mtok: 1 }, "config", 1, 0],
  ])("an operator's entry %s", (_title, entry, source, input, output) => {
    const price = bookOf({ operatorPrices: { "openai/gpt-4o": entry } }).lookup(openai("gpt-4o"));
    expect(price?.source).toBe(source);
    expect([price?.rates.input.base, price?.rates.output.base].map(perMillion)).toEqual([input, output]);
    expect(price?.maxOutputTokens).toBe(entry["max_output_tokens"] ?? 16_384);
    if (input === 0) expect(price?.rates.cacheRead.base).toBe(0n);
  });

  test("an operator's price retains the known window and cap, unless it sets them", () => {
    const operatorPrices = {
      "openai/gpt-4o": { input_mtok: 1 },
      "openai/gpt-4.1": { input_mtok: 1, context_window: 9_000, max_output_tokens: 700 },
    };
    const book = bookOf({ operatorPrices });
    expect(book.lookup(openai("gpt-4o"))).toMatchObject({ contextWindow: 128_000, maxOutputTokens: 16_384 });
    expect(book.lookup(openai("gpt-4.1"))).toMatchObject({ contextWindow: 9_000, maxOutputTokens: 700 });
  });

  test("an operator's price is enough for a model that is not listed", () => {
    const operatorPrices = { "local/llama": { input_mtok: 0.5, output_mtok: 0 } };
    const price = bookOf({ operatorPrices }).lookup(unlisted("llama"));
    expect(price).toMatchObject({ source: "config", contextWindow: undefined, maxOutputTokens: undefined });
    expect(perMillion(price?.rates.input.base)).toBe(0.5);
  });
});

const globs: [string, string, number | undefined][] = [
  ["an exact id wins over an earlier glob", "openai/exact", 3],
  ["the earlier of two globs wins", "openai/both-ways", 1],
  ["a glob in the middle", "openai/mini-model-latest", 2],
  ["a glob for all models", "mistral/anything", 9],
  ["a glob must match to the end", "openai-other/model", 9],
];

test.each(globs)("%s: %s", (_title, id, input) => {
  const operatorPrices = {
    "openai/both-*": { input_mtok: 1, output_mtok: 1 },
    "openai/*-ways": { input_mtok: 7, output_mtok: 1 },
    "openai/mini-*-latest": { input_mtok: 2, output_mtok: 1 },
    "openai/ex*": { input_mtok: 8, output_mtok: 1 },
    "openai/exact": { input_mtok: 3, output_mtok: 1 },
    "*": { input_mtok: 9, output_mtok: 1 },
  };
  const price = bookOf({ operatorPrices }).lookup({
    id,
    model: id.slice(id.indexOf("/") + 1),
    priceProvider: undefined,
  });
  expect(perMillion(price?.rates.input.base)).toBe(input);
});

describe("a model that no layer prices", () => {
  test("is refused", () => {
    expect(bookOf().lookup(unlisted("llama"))).toBeUndefined();
    expect(bookOf().lookup(openai("no-such-model"))).toBeUndefined();
  });

  test("is free if the operator configured that, and its source is `unpriced`", () => {
    const price = bookOf({ unpriced: "free" }).lookup(unlisted("llama"));
    expect(price?.source).toBe("unpriced");
    const highest = Object.values(price?.rates ?? {}).map((rate) => rate.highest);
    expect(new Set(highest)).toEqual(new Set([0n]));
  });

  test("includes one that is listed only by units that no call counts", () => {
    expect(
      bookOf({ operatorPrices: { "local/*": { pdf_pages_kcount: 1 } } }).lookup(unlisted("llama")),
    ).toBeUndefined();
  });

  test("does not include one that is listed as free", () => {
    const price = bookOf().lookup({ id: "google/gemma-3", model: "gemma-3", priceProvider: "google" });
    expect(price).toMatchObject({ source: "built-in", rates: { input: { base: 0n }, output: { base: 0n } } });
  });

  test("does not include one that is free in the operator's table", () => {
    const price = bookOf({ operatorPrices: { "local/*": { input_mtok: 0, output_mtok: 0 } } }).lookup(
      unlisted("llama"),
    );
    expect(price?.source).toBe("config");
  });

  test.each<[OperatorPrice, boolean]>([
    [{ max_output_tokens: 1_000, context_window: 9_000 }, false],
    [{ image: 0.04, input_mchars: 15, input_audio_hours: 1 }, false],
    [{ input_mtok: 1 }, false],
    [{ input_mtok: 0 }, false],
    [{ output_mtok: 1 }, false],
    [{ cache_read_mtok: 1, output_reasoning_mtok: 2 }, false],
    [{ input_mtok: 1, output_mtok: 0 }, true],
    [{ requests_kcount: 5 }, true],
    [{ requests_kcount: 5, input_mtok: 1 }, true],
  ])("is not priced by an incomplete price: %j prices it: %p", (entry, priced) => {
    const operatorPrices = { "local/*": entry, "openai/whisper-1": entry };
    expect(bookOf({ operatorPrices }).lookup(unlisted("llama"))?.modalities.has("text") ?? false).toBe(priced);
    expect(bookOf({ operatorPrices }).lookup(openai("whisper-1"))?.modalities.has("text")).toBe(priced);
    const generous = bookOf({ operatorPrices, unpriced: "free" }).lookup(unlisted("llama"));
    expect(generous?.modalities.has("text")).toBe(true);
    // The operator's entries still apply.
    expect(perMillion(generous?.rates.input.base)).toBe(Number(entry["input_mtok"] ?? 0));
    expect(generous?.contextWindow).toBe(entry.context_window);
  });
});

const inTokens: PricedModality[] = ["text", "embeddings", "rerank", "images", "speech", "transcription", "realtime"];
const allModalities: PricedModality[] = [
  "text",
  "embeddings",
  "rerank",
  "images",
  "speech",
  "transcription",
  "video",
  "realtime",
];

const coverage: [string, PriceTable, PricedModality[]][] = [
  ["input and output tokens price everything that is counted in tokens", { input_mtok: 1, output_mtok: 2 }, inTokens],
  ["input tokens price embeddings and rankings", { input_mtok: 1 }, ["embeddings", "rerank"]],
  ["search units", { search_units_kcount: 2 }, ["rerank"]],
  ["output tokens alone price nothing", { output_mtok: 1 }, []],
  ["cached tokens alone price nothing", { cache_read_mtok: 1, cache_image_read_mtok: 1 }, []],
  ["a price per image", { image: 0.04 }, ["images"]],
  ["a price by variant of image", { image: { "1024x1024": 0.04 } }, ["images"]],
  ["a price of input images does not price output images", { input_image: 0.01 }, []],
  ["image tokens", { input_mtok: 1, output_image_mtok: 40 }, ["embeddings", "rerank", "images"]],
  ["characters", { input_mchars: 15 }, ["speech"]],
  ["output audio tokens", { input_mtok: 1, output_audio_mtok: 12 }, ["embeddings", "rerank", "speech"]],
  ["hours of audio", { input_audio_hours: 0.36 }, ["transcription"]],
  ["input audio tokens", { input_audio_mtok: 6, output_mtok: 10 }, ["transcription"]],
  ["seconds of video", { output_video_seconds: { "720p": 0.1 } }, ["video"]],
  ["hours of connection", { connection_hours: 3 }, ["realtime"]],
  ["audio tokens in and out", { input_audio_mtok: 6, output_audio_mtok: 12 }, ["realtime"]],
  ["video tokens", { output_video_mtok: 7 }, ["video"]],
  ["a price per call", { requests_kcount: 5 }, allModalities],
  ["a price of zero", { image: 0, input_mtok: 0 }, ["embeddings", "rerank", "images"]],
];

describe("the modalities that a price covers", () => {
  test.each(coverage)("%s", (_title, entry, expected) => {
    const price = bookOf({ operatorPrices: { "local/*": entry } }).lookup(unlisted("m"));
    expect([...(price?.modalities ?? [])]).toEqual(expected);
    const generous = bookOf({ operatorPrices: { "local/*": entry }, unpriced: "free" }).lookup(unlisted("m"));
    expect([...(generous?.modalities ?? [])]).toEqual(allModalities);
  });

  test.each<[string, string, PricedModality[]]>([
    ["openai", "gpt-4o", inTokens],
    ["openai", "text-embedding-3-small", ["embeddings", "rerank"]],
    ["cohere", "rerank-v3.5", ["rerank"]],
    ["openai", "dall-e-3", ["images"]],
    ["openai", "tts-1", ["speech"]],
    ["openai", "whisper-1", ["transcription"]],
    ["google", "gemma-3", inTokens],
  ])("%s's %s", (priceProvider, model, expected) => {
    const price = bookOf().lookup({ id: `${priceProvider}/${model}`, model, priceProvider });
    expect([...(price?.modalities ?? [])]).toEqual(expected);
  });

  test("an operator's keys complete the list's", () => {
    const operatorPrices = { "openai/whisper-1": { input_mtok: 1, output_mtok: 2 }, "openai/dall-e-3": { image: 0.5 } };
    const book = bookOf({ operatorPrices });
    expect(book.lookup(openai("whisper-1"))?.modalities.has("text")).toBe(true);
    // One price for all images replaces the list's variants.
    expect(book.lookup(openai("dall-e-3"))?.rates.images).toMatchObject({ base: 5n * 10n ** 14n, variants: undefined });
  });
});

test("a price per image replaces a price by tokens if the tokens are explicitly free", () => {
  const usage = { input: 50, outputImage: 1_056, images: 1 };
  const charge = (entry: OperatorPrice): bigint | undefined => {
    const price = bookOf({ operatorPrices: { "openai/gpt-image-1": entry } }).lookup(openai("gpt-image-1"));
    return price === undefined ? undefined : chargeFor(price, { usage });
  };
  expect(charge({ image: 0.05 })).toBe(50_000_000n + 250_000n + 42_240_000n);
  expect(charge({ image: 0.05, input_mtok: 0, output_mtok: 0 })).toBe(50_000_000n);
});

describe("prices that change", () => {
  const deepseek = { id: "deepseek/deepseek-v4-pro", model: "deepseek-v4-pro", priceProvider: "deepseek" };
  // A Tuesday.
  const at = (time: string, day = "2026-11-24"): number => Date.parse(`${day}T${time}Z`);
  const inputAt = (time: string, day?: string): bigint | undefined =>
    bookOf({ now: () => at(time, day) }).lookup(deepseek)?.rates.input.base;

  test("by the hour are those of the hour of the call", () => {
    // Twice the price from 1:00 to 4:00 and from 6:00 to 10:00 UTC.
    expect(inputAt("02:00:00")).toBe((inputAt("12:00:00") ?? 0n) * 2n);
    expect(inputAt("00:59:59")).toBe(inputAt("12:00:00"));
    expect(inputAt("01:00:00")).toBe(inputAt("02:00:00"));
    expect(inputAt("03:59:59")).toBe(inputAt("02:00:00"));
    expect(inputAt("04:00:00")).toBe(inputAt("12:00:00"));
    expect(inputAt("09:00:00")).toBe(inputAt("02:00:00"));
  });

  test("by the day of the week are those of the day of the call", () => {
    expect(inputAt("02:00:00", "2026-11-28")).toBe(inputAt("12:00:00"));
  });

  test("on a date are those of the date of the call", () => {
    const gemini = { id: "google/gemini-3.8-flash", model: "gemini-3.8-flash", priceProvider: "google" };
    const inputOn = (day: string): number | undefined =>
      perMillion(bookOf({ now: () => at("00:00:00", day) }).lookup(gemini)?.rates.input.base);
    expect([inputOn("2026-12-31"), inputOn("2027-01-01")]).toEqual([0.75, 1.5]);
  });

  test("are updated within a minute, and not looked up at every call", () => {
    let now = at("03:59:30");
    const book = bookOf({ now: () => now });
    const before = book.lookup(deepseek);
    now = at("04:00:29");
    expect(book.lookup(deepseek)).toBe(before);
    now = at("04:00:30");
    const after = book.lookup(deepseek);
    expect(after?.rates.input.base).toBe((before?.rates.input.base ?? 0n) / 2n);
  });

  test("are cached per model, prefix included", () => {
    const book = bookOf({
      operatorPrices: { "one/m": { input_mtok: 1, output_mtok: 1 }, "two/m": { input_mtok: 2, output_mtok: 1 } },
    });
    const base = (prefix: string): number | undefined =>
      perMillion(book.lookup({ id: `${prefix}/m`, model: "m", priceProvider: undefined })?.rates.input.base);
    expect([base("one"), base("two"), base("one")]).toEqual([1, 2, 1]);
  });

  test("invented model names don't fill the memory: known prices are looked up again afterwards", () => {
    const book = bookOf({ unpriced: "free" });
    const before = book.lookup(openai("gpt-4o"));
    for (let index = 0; index < 5_000; index += 1) book.lookup(unlisted(`made-up-${index}`));
    const after = book.lookup(openai("gpt-4o"));
    expect(after).toEqual(before);
    expect(after).not.toBe(before);
  });
});

test("a provider that no published table has is priced, with a separate rate for long prompts", () => {
  const book = new PriceBook({ operatorPrices: {}, unpriced: "refuse", clock: () => 0 });
  const price = book.lookup({ id: "byteplus/seed-1-8-251228", model: "seed-1-8-251228", priceProvider: "byteplus" });
  if (price === undefined) throw new Error("unpriced");
  expect(price).toMatchObject({ source: "built-in", contextWindow: 256_000, maxOutputTokens: 64_000 });
  // 1,000 tokens at 0.25 and 10 at 2 credits per million; above 128,000 input tokens, 0.5 and 4.
  expect(chargeFor(price, { usage: { input: 1_000, output: 10 } })).toBe(270_000n);
  expect(chargeFor(price, { usage: { input: 200_000, output: 10 } })).toBe(100_040_000n);
  expect(
    book.lookup({ id: "byteplus/seed-2-0-pro", model: "seed-2-0-pro", priceProvider: "byteplus" }),
  ).toBeUndefined();
});
