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

/** Femto-credits a token → credits a million tokens. */
const perMillion = (femto: bigint | undefined): number | undefined =>
  femto === undefined ? undefined : Number(femto) / 1e9;

describe("the layers", () => {
  test("a listed model has its list price, its window, and its cap from the catalog", () => {
    const price = bookOf().lookup(openai("gpt-4o"));
    expect(price).toMatchObject({ source: "genai-prices", contextWindow: 128_000, maxOutputTokens: 16_384 });
    expect(perMillion(price?.rates.input.base)).toBe(2.5);
    expect(perMillion(price?.rates.cacheRead.base)).toBe(1.25);
    expect(perMillion(price?.rates.output.base)).toBe(10);
  });

  test("the prefix of the configuration means nothing: the provider's own name in the lists does", () => {
    const price = bookOf().lookup(openai("gpt-4o", "provider_a"));
    expect(perMillion(price?.rates.input.base)).toBe(2.5);
  });

  test("the operator's price lies over the list's, key by key", () => {
    const operatorPrices = { "openai/gpt-4o": { input_mtok: 1, output_mtok: 2 } };
    const price = bookOf({ operatorPrices }).lookup(openai("gpt-4o"));
    expect(price?.source).toBe("config");
    expect(perMillion(price?.rates.input.base)).toBe(1);
    expect(perMillion(price?.rates.cacheRead.base)).toBe(1.25);
    expect(perMillion(price?.rates.output.base)).toBe(2);
  });

  test.each<[string, OperatorPrice, string, number, number]>([
    ["without a rate leaves the list's", { max_output_tokens: 1_000 }, "genai-prices", 2.5, 10],
    ["of the input leaves the list's output", { input_mtok: 1 }, "config", 1, 10],
    ["of the output leaves the list's input", { output_mtok: 1 }, "config", 2.5, 1],
    ["of neither, by a key without a value, too", { input_mtok: undefined }, "genai-prices", 2.5, 10],
    ["of zero for both is free", { input_mtok: 0, output_mtok: 0 }, "config", 0, 0],
    ["by the call is of the call alone", { requests_kcount: 5 }, "config", 0, 0],
    ["by the call and the input stands whole", { requests_kcount: 5, input_mtok: 1 }, "config", 1, 0],
  ])("an operator's entry %s", (_title, entry, source, input, output) => {
    const price = bookOf({ operatorPrices: { "openai/gpt-4o": entry } }).lookup(openai("gpt-4o"));
    expect(price?.source).toBe(source);
    expect([price?.rates.input.base, price?.rates.output.base].map(perMillion)).toEqual([input, output]);
    expect(price?.maxOutputTokens).toBe(entry["max_output_tokens"] ?? 16_384);
    if (input === 0) expect(price?.rates.cacheRead.base).toBe(0n);
  });

  test("an operator's price leaves the known window and cap in force, unless it sets them", () => {
    const operatorPrices = {
      "openai/gpt-4o": { input_mtok: 1 },
      "openai/gpt-4.1": { input_mtok: 1, context_window: 9_000, max_output_tokens: 700 },
    };
    const book = bookOf({ operatorPrices });
    expect(book.lookup(openai("gpt-4o"))).toMatchObject({ contextWindow: 128_000, maxOutputTokens: 16_384 });
    expect(book.lookup(openai("gpt-4.1"))).toMatchObject({ contextWindow: 9_000, maxOutputTokens: 700 });
  });

  test("an operator's price is enough for a model that no list knows", () => {
    const operatorPrices = { "local/llama": { input_mtok: 0.5, output_mtok: 0 } };
    const price = bookOf({ operatorPrices }).lookup(unlisted("llama"));
    expect(price).toMatchObject({ source: "config", contextWindow: undefined, maxOutputTokens: undefined });
    expect(perMillion(price?.rates.input.base)).toBe(0.5);
  });
});

const globs: [string, string, number | undefined][] = [
  ["an exact id beats a glob that stands before it", "openai/exact", 3],
  ["of two globs the earlier wins", "openai/both-ways", 1],
  ["a glob in the middle", "openai/mini-model-latest", 2],
  ["the last resort", "mistral/anything", 9],
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

  test("is free where the operator says so, and says where its price came from", () => {
    const price = bookOf({ unpriced: "free" }).lookup(unlisted("llama"));
    expect(price?.source).toBe("unpriced");
    const dearest = Object.values(price?.rates ?? {}).map(({ highest }) => highest);
    expect(new Set(dearest)).toEqual(new Set([0n]));
  });

  test("is one that is listed by units that no call counts, such as hours of connection", () => {
    expect(
      bookOf().lookup({ id: "xai/grok-voice-latest", model: "grok-voice-latest", priceProvider: "x-ai" }),
    ).toBeUndefined();
  });

  test("is not one that is listed as free", () => {
    const price = bookOf().lookup({ id: "google/gemma-3", model: "gemma-3", priceProvider: "google" });
    expect(price).toMatchObject({ source: "genai-prices", rates: { input: { base: 0n }, output: { base: 0n } } });
  });

  test("is not one that is free in the operator's table", () => {
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
  ])("is not priced by a part of a price: %j prices it: %p", (entry, priced) => {
    const operatorPrices = { "local/*": entry, "openai/whisper-1": entry };
    expect(bookOf({ operatorPrices }).lookup(unlisted("llama"))?.works.has("text") ?? false).toBe(priced);
    expect(bookOf({ operatorPrices }).lookup(openai("whisper-1"))?.works.has("text")).toBe(priced);
    const generous = bookOf({ operatorPrices, unpriced: "free" }).lookup(unlisted("llama"));
    expect(generous?.works.has("text")).toBe(true);
    // What the operator does set holds all the same.
    expect(perMillion(generous?.rates.input.base)).toBe(Number(entry["input_mtok"] ?? 0));
    expect(generous?.contextWindow).toBe(entry.context_window);
  });
});

const everything: PricedModality[] = ["text", "embeddings", "images", "speech", "transcription"];

const works: [string, PriceTable, PricedModality[]][] = [
  ["tokens in and out price all that can be counted in tokens", { input_mtok: 1, output_mtok: 2 }, everything],
  ["tokens in price embeddings", { input_mtok: 1 }, ["embeddings"]],
  ["tokens out price nothing", { output_mtok: 1 }, []],
  ["cached tokens price nothing", { cache_read_mtok: 1, cache_image_read_mtok: 1 }, []],
  ["a price by the image", { image: 0.04 }, ["images"]],
  ["a price by variant of image", { image: { "1024x1024": 0.04 } }, ["images"]],
  ["a price of images that are sent along prices none that come", { input_image: 0.01 }, []],
  ["tokens of images", { input_mtok: 1, output_image_mtok: 40 }, ["embeddings", "images"]],
  ["characters", { input_mchars: 15 }, ["speech"]],
  ["tokens that are spoken", { input_mtok: 1, output_audio_mtok: 12 }, ["embeddings", "speech"]],
  ["hours of audio", { input_audio_hours: 0.36 }, ["transcription"]],
  ["tokens that are heard", { input_audio_mtok: 6, output_mtok: 10 }, ["transcription"]],
  ["a price by the call", { requests_kcount: 5 }, everything],
  ["a price of zero", { image: 0, input_mtok: 0 }, ["embeddings", "images"]],
];

describe("what a price is of", () => {
  test.each(works)("%s", (_title, entry, expected) => {
    const price = bookOf({ operatorPrices: { "local/*": entry } }).lookup(unlisted("m"));
    expect([...(price?.works ?? [])]).toEqual(expected);
    const generous = bookOf({ operatorPrices: { "local/*": entry }, unpriced: "free" }).lookup(unlisted("m"));
    expect([...(generous?.works ?? [])]).toEqual(everything);
  });

  test.each<[string, string, PricedModality[]]>([
    ["openai", "gpt-4o", everything],
    ["openai", "text-embedding-3-small", ["embeddings"]],
    ["openai", "dall-e-3", ["images"]],
    ["openai", "tts-1", ["speech"]],
    ["openai", "whisper-1", ["transcription"]],
    ["google", "gemma-3", everything],
  ])("%s's %s", (priceProvider, model, expected) => {
    const price = bookOf().lookup({ id: `${priceProvider}/${model}`, model, priceProvider });
    expect([...(price?.works ?? [])]).toEqual(expected);
  });

  test("an operator's keys join the list's", () => {
    const operatorPrices = { "openai/whisper-1": { input_mtok: 1, output_mtok: 2 }, "openai/dall-e-3": { image: 0.5 } };
    const book = bookOf({ operatorPrices });
    expect(book.lookup(openai("whisper-1"))?.works.has("text")).toBe(true);
    // One price for all images takes the place of the list's variants.
    expect(book.lookup(openai("dall-e-3"))?.rates.images).toMatchObject({ base: 5n * 10n ** 14n, variants: undefined });
  });
});

test("a price by the image takes the place of one by tokens where those are free beside it", () => {
  const usage = { input: 50, outputImage: 1_056, images: 1 };
  const charge = (entry: OperatorPrice): bigint | undefined => {
    const price = bookOf({ operatorPrices: { "openai/gpt-image-1": entry } }).lookup(openai("gpt-image-1"));
    return price === undefined ? undefined : chargeFor(price, { usage }, 1_000_000n);
  };
  expect(charge({ image: 0.05 })).toBe(50_000_000n + 250_000n + 42_240_000n);
  expect(charge({ image: 0.05, input_mtok: 0, output_mtok: 0 })).toBe(50_000_000n);
});

describe("prices that change", () => {
  const deepseek = { id: "deepseek/deepseek-chat", model: "deepseek-chat", priceProvider: "deepseek" };
  const at = (time: string): number => Date.parse(`2025-06-15T${time}Z`);
  const inputAt = (time: string): bigint | undefined =>
    bookOf({ now: () => at(time) }).lookup(deepseek)?.rates.input.base;

  test("by the hour are those of the call's hour", () => {
    // Half price from 16:30 to 00:30 UTC.
    expect(inputAt("12:00:00")).toBe((inputAt("20:00:00") ?? 0n) * 2n);
    expect(inputAt("16:29:59")).toBe(inputAt("12:00:00"));
    expect(inputAt("16:30:00")).toBe(inputAt("20:00:00"));
  });

  test("are seen within a minute by a book that has looked before, and not looked up at every call", () => {
    let now = at("16:29:30");
    const book = bookOf({ now: () => now });
    const before = book.lookup(deepseek);
    now = at("16:30:29");
    expect(book.lookup(deepseek)).toBe(before);
    now = at("16:30:30");
    const after = book.lookup(deepseek);
    expect(after?.rates.input.base).toBe((before?.rates.input.base ?? 0n) / 2n);
  });

  test("are remembered per model, prefix included", () => {
    const book = bookOf({
      operatorPrices: { "one/m": { input_mtok: 1, output_mtok: 1 }, "two/m": { input_mtok: 2, output_mtok: 1 } },
    });
    const base = (prefix: string): number | undefined =>
      perMillion(book.lookup({ id: `${prefix}/m`, model: "m", priceProvider: undefined })?.rates.input.base);
    expect([base("one"), base("two"), base("one")]).toEqual([1, 2, 1]);
  });

  test("names that callers make up don't fill the memory: known prices are looked up again after them", () => {
    const book = bookOf({ unpriced: "free" });
    const before = book.lookup(openai("gpt-4o"));
    for (let index = 0; index < 5_000; index += 1) book.lookup(unlisted(`made-up-${index}`));
    const after = book.lookup(openai("gpt-4o"));
    expect(after).toEqual(before);
    expect(after).not.toBe(before);
  });
});

test("a provider that genai-prices lacks is priced by the catalog, long prompts at their own rate", () => {
  const book = new PriceBook({ operatorPrices: {}, unpriced: "refuse", clock: () => 0 });
  const price = book.lookup({ id: "byteplus/seed-1-8-251228", model: "seed-1-8-251228", priceProvider: "byteplus" });
  if (price === undefined) throw new Error("unpriced");
  expect(price).toMatchObject({ source: "catalog", contextWindow: 256_000, maxOutputTokens: 64_000 });
  // 1,000 tokens at 0.25 and 10 at 2 credits a million; above 128,000 tokens in, 0.5 and 4.
  expect(chargeFor(price, { usage: { input: 1_000, output: 10 } }, 1_000_000n)).toBe(270_000n);
  expect(chargeFor(price, { usage: { input: 200_000, output: 10 } }, 1_000_000n)).toBe(100_040_000n);
  expect(
    book.lookup({ id: "byteplus/seed-2-0-pro", model: "seed-2-0-pro", priceProvider: "byteplus" }),
  ).toBeUndefined();
});
