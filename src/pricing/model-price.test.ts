import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  inputBuckets,
  inputTokens,
  outputBuckets,
  NO_MARKUP,
  outputTokens,
  type PriceTerms,
  type Usage,
  type UsageBucket,
  usageBuckets,
} from "../core/index.ts";
import { boundFor, chargeFor, mostExpensiveOf, type ModelPrice, priceAt, withMarkup } from "./model-price.ts";
import { type PriceTable, type PriceTableValue, readPriceTable, pricedModalities } from "./price-table.ts";

function priceOf(table: PriceTable, markup = NO_MARKUP): ModelPrice {
  const unknown = { contextWindow: undefined, maxOutputTokens: undefined };
  return {
    ...readPriceTable(table),
    modalities: pricedModalities(table),
    ...unknown,
    source: "test",
    markup,
  };
}

const charge = (table: PriceTable, usage: Usage, markup = NO_MARKUP): bigint =>
  chargeFor(priceOf(table, markup), { usage });

/** Calculated by hand: credits per million tokens times tokens, in nano-credits, rounded up. */
const charges: [string, PriceTable, Usage, bigint][] = [
  ["one token at 1 credit a million is 1,000 nano-credits", { input_mtok: 1 }, { input: 1 }, 1_000n],
  ["a million tokens at 2.5 credits", { input_mtok: 2.5 }, { input: 1_000_000 }, 2_500_000_000n],
  [
    "input and output at their own prices",
    { input_mtok: 3, output_mtok: 15 },
    { input: 1_200, output: 340 },
    8_700_000n,
  ],
  ["a fraction of a nano-credit is rounded up", { input_mtok: 0.0001 }, { input: 1 }, 1n],
  [
    "fractions of several buckets are added before they are rounded",
    { input_mtok: 0.0004, output_mtok: 0.0005 },
    { input: 1, output: 1 },
    1n,
  ],
  [
    "a price with more decimals than a nano-credit is exact for many tokens",
    { input_mtok: 0.0000001 },
    { input: 10_000_000 },
    1_000n,
  ],
  ["0.1 and 0.2 have no rounding errors", { input_mtok: 0.1, output_mtok: 0.2 }, { input: 3, output: 3 }, 900n],
  ["no usage costs nothing", { input_mtok: 3, output_mtok: 15 }, {}, 0n],
  [
    "a negative count neither costs nor refunds anything",
    { input_mtok: 3, output_mtok: 15 },
    { input: -5, output: 2 },
    30_000n,
  ],
  ["a request has a price per thousand", { requests_kcount: 5, input_mtok: 1 }, { requests: 1, input: 10 }, 5_010_000n],
  ["a request without a price is free", { input_mtok: 1 }, { requests: 1, input: 10 }, 10_000n],
];

test.each(charges)("the charge: %s", (_title, table, usage, expected) => {
  expect(charge(table, usage)).toBe(expected);
});

const markups: [string, bigint, bigint][] = [
  ["none", 1_000_000n, 1_000n],
  ["a quarter more", 1_250_000n, 1_250n],
  ["half", 500_000n, 500n],
  ["rounded up to a whole nano-credit", 1_000_001n, 1_001n],
];

test("parts that other models have used have those models' prices", () => {
  const own = priceOf({ input_mtok: 1, output_mtok: 2 });
  const advisor = priceOf({ input_mtok: 10, output_mtok: 20 });
  const part = { input: 100, output: 10 };
  const observed = { usage: { input: 150, output: 30, requests: 1 }, others: [{ model: "advisor", usage: part }] };
  const of = (model: string) => (model === "advisor" ? advisor : undefined);
  const doubled = (model: string) => withMarkup(of(model), 2_000_000n);
  // 50 and 20 tokens at the one's, 100 and 10 at the other's.
  expect(chargeFor(own, observed, of)).toBe(50_000n + 40_000n + 1_000_000n + 200_000n);
  expect(chargeFor({ ...own, markup: 2_000_000n }, observed, doubled)).toBe(2n * 1_290_000n);
  // Each part has its own model's markup, and one without a price that of the remainder.
  expect(chargeFor(own, observed, doubled)).toBe(90_000n + 2n * 1_200_000n);
  expect(chargeFor({ ...own, markup: 2_000_000n }, observed)).toBe(2n * 210_000n);
  // Without a price of its own, a part costs as much as the remainder.
  expect(chargeFor(own, observed)).toBe(150_000n + 60_000n);
});

test("a markup is applied before the only rounding", () => {
  // 0.5 nano-credits, which would be 1 before the markup.
  expect(charge({ input_mtok: 0.0005 }, { input: 1 }, 2_000_000n)).toBe(1n);
  expect(charge({ input_mtok: 0.0005 }, { input: 1 }, 1_500_000n)).toBe(1n);
  expect(charge({ input_mtok: 0.0005 }, { input: 3 }, 3_000_000n)).toBe(5n);
});

test.each(markups)("the markup: %s", (_title, markup, expected) => {
  expect(charge({ input_mtok: 1 }, { input: 1 }, markup)).toBe(expected);
});

describe("tiers", () => {
  const table = {
    input_mtok: { base: 2, tiers: [{ start: 200_000, price: 4 }] },
    cache_read_mtok: { base: 0.5, tiers: [{ start: 200_000, price: 1 }] },
    output_mtok: { base: 10, tiers: [{ start: 200_000, price: 15 }] },
  };

  const cases: [string, Usage, bigint][] = [
    ["at the threshold the base applies", { input: 200_000, output: 1 }, 400_010_000n],
    ["one token above it the tier applies to every token", { input: 200_001, output: 1 }, 800_004_000n + 15_000n],
    ["cached tokens count towards the threshold", { input: 100_000, cacheRead: 100_001 }, 400_000_000n + 100_001_000n],
    ["output does not count", { input: 10, output: 500_000 }, 20_000n + 5_000_000_000n],
    ["audio and cache writes count", { input: 1, inputAudio: 100_000, cacheWrite5m: 100_000 }, 200_001n * 4_000n],
    ["images count, cached or not", { inputImage: 100_000, cacheImageRead: 100_001 }, 400_000_000n + 100_001_000n],
  ];
  test.each(cases)("%s", (_title, usage, expected) => {
    expect(charge(table, usage)).toBe(expected);
  });

  test("several tiers apply in the order of their starts, in whatever order they are written", () => {
    const steps = {
      input_mtok: {
        base: 1,
        tiers: [
          { start: 300, price: 4 },
          { start: 100, price: 2 },
          { start: 200, price: 3 },
        ],
      },
    };
    const perToken = [100, 101, 200, 201, 300, 301].map((input) => charge(steps, { input }) / BigInt(input));
    expect(perToken).toEqual([1_000n, 2_000n, 2_000n, 3_000n, 3_000n, 4_000n]);
  });

  test("a tier may be cheaper than the base; the bound uses the most expensive one", () => {
    const discount = priceOf({ input_mtok: { base: 4, tiers: [{ start: 10, price: 1 }] } });
    expect(chargeFor(discount, { usage: { input: 20 } })).toBe(20_000n);
    expect(boundFor(discount, { input: 20 })).toBe(80_000n);
  });
});

describe("the terms of a call", () => {
  const table: PriceTable = {
    input_mtok: { base: 2, tiers: [{ start: 200_000, price: 4 }] },
    cache_read_mtok: 0.2,
    output_mtok: 10,
    web_searches_kcount: 10,
    service_tiers: { priority: { input_mtok: 4, output_mtok: 20 }, flex: 0.5, fast: 6 },
    inference_geos: { us: 1.1 },
  };
  const usage: Usage = { input: 1_000, cacheRead: 1_000, output: 100, webSearches: 2 };
  const search = 20_000_000n;

  test.each<[PriceTerms, bigint]>([
    [{}, 2_000_000n + 200_000n + 1_000_000n],
    [{ serviceTier: "default" }, 2_000_000n + 200_000n + 1_000_000n],
    // The cache is not part of the tier, so its usual price applies.
    [{ serviceTier: "priority" }, 4_000_000n + 200_000n + 2_000_000n],
    [{ serviceTier: "flex" }, 1_000_000n + 100_000n + 500_000n],
    [{ serviceTier: "fast" }, 12_000_000n + 1_200_000n + 6_000_000n],
    [{ inferenceGeo: "us" }, 2_200_000n + 220_000n + 1_100_000n],
    [{ serviceTier: "fast", inferenceGeo: "us" }, 13_200_000n + 1_320_000n + 6_600_000n],
    [{ serviceTier: "priority", inferenceGeo: "eu" }, 4_000_000n + 200_000n + 2_000_000n],
  ])("%p change the price of everything but hosted tools", (terms, tokens) => {
    expect(chargeFor(priceOf(table), { usage, terms })).toBe(tokens + search);
  });

  test("multiply the steps for long prompts too", () => {
    const long = { usage: { input: 300_000 }, terms: { serviceTier: "fast" } };
    expect(chargeFor(priceOf(table), long)).toBe(6n * 1_200_000_000n);
    expect(boundFor(priceAt(priceOf(table), { serviceTier: "fast" }), { input: 300_000 })).toBe(6n * 1_200_000_000n);
  });
});

/** For each bucket: the keys that may price it, nearest first. */
const fallbacks: Record<UsageBucket, readonly string[]> = {
  input: ["input_mtok"],
  cacheRead: ["cache_read_mtok", "input_mtok"],
  cacheWrite5m: ["cache_write_mtok", "input_mtok"],
  cacheWrite1h: ["cache_write_1h_mtok", "cache_write_mtok", "input_mtok"],
  inputAudio: ["input_audio_mtok", "input_mtok"],
  cacheAudioRead: ["cache_audio_read_mtok", "input_audio_mtok", "cache_read_mtok", "input_mtok"],
  inputImage: ["input_image_mtok", "input_mtok"],
  cacheImageRead: ["cache_image_read_mtok", "input_image_mtok", "cache_read_mtok", "input_mtok"],
  output: ["output_mtok"],
  reasoning: ["output_reasoning_mtok", "output_mtok"],
  outputAudio: ["output_audio_mtok", "output_mtok"],
  outputImage: ["output_image_mtok", "output_mtok"],
  images: ["image"],
  inputImages: ["input_image"],
  inputCharacters: ["input_mchars"],
  inputAudioMs: ["input_audio_hours"],
  inputVideoMs: ["input_video_seconds"],
  outputVideo: ["output_video_mtok"],
  outputVideoMs: ["output_video_seconds"],
  connectionMs: ["connection_hours"],
  webSearches: ["web_searches_kcount"],
  previewSearches: ["preview_searches_kcount", "web_searches_kcount"],
  storageSearches: ["storage_searches_kcount"],
  containerGb: ["container_gb"],
  searches: ["searches_kcount"],
  pages: ["pages_kcount"],
  maps: ["maps_kcount"],
  pdfPages: ["pdf_pages_kcount"],
  toolCalls: ["tool_calls_kcount"],
  searchUnits: ["search_units_kcount"],
  requests: ["requests_kcount"],
};

/** Nano-credits per unit at a price of one credit, for units that are not priced by the million. */
const nanoPerCredit: Partial<Record<UsageBucket, bigint>> = {
  images: 1_000_000_000n,
  inputImages: 1_000_000_000n,
  // One hour has 3,600,000 of them: 277.7… rounded up.
  inputAudioMs: 278n,
  connectionMs: 278n,
  inputVideoMs: 1_000_000n,
  outputVideoMs: 1_000_000n,
  containerGb: 1_000_000_000n,
  webSearches: 1_000_000n,
  previewSearches: 1_000_000n,
  storageSearches: 1_000_000n,
  searches: 1_000_000n,
  searchUnits: 1_000_000n,
  pages: 1_000_000n,
  maps: 1_000_000n,
  pdfPages: 1_000_000n,
  toolCalls: 1_000_000n,
  requests: 1_000_000n,
};

describe.each(usageBuckets.map((bucket) => [bucket] as const))("the price of the bucket %s", (bucket) => {
  const keys = fallbacks[bucket];
  const per = nanoPerCredit[bucket] ?? 1_000n;
  const others = Object.fromEntries(
    usageBuckets
      .flatMap((other) => fallbacks[other])
      .filter((key) => !keys.includes(key))
      .map((key) => [key, 999]),
  );

  test.each(keys.map((key, index) => [key, index] as const))("is %s if no nearer key is set", (_key, index) => {
    // Key number n costs n + 1; only the keys from `index` on are set.
    const set = Object.fromEntries(keys.slice(index).map((key, offset) => [key, index + offset + 1]));
    expect(charge({ ...others, ...set }, { [bucket]: 1 })).toBe(BigInt(index + 1) * per);
  });

  test("is zero if no key prices it", () => {
    expect(charge(others, { [bucket]: 1 })).toBe(0n);
  });

  test("may be an explicit zero", () => {
    const [nearest = "", ...further] = keys;
    const table = { ...others, ...Object.fromEntries(further.map((key) => [key, 7])), [nearest]: 0 };
    expect(charge(table, { [bucket]: 1 })).toBe(0n);
  });
});

describe("a cost that the upstream reports", () => {
  const price = priceOf({ input_mtok: 1, output_mtok: 1 });

  test("is the base of the charge, whatever the table contains", () => {
    expect(chargeFor(price, { usage: { input: 1_000_000 }, reportedCost: 123n })).toBe(123n);
  });

  test("gets the markup, rounded up", () => {
    expect(chargeFor({ ...price, markup: 1_100_000n }, { usage: {}, reportedCost: 123n })).toBe(136n);
  });

  test("may be zero", () => {
    expect(chargeFor(price, { usage: { input: 1_000_000 }, reportedCost: 0n })).toBe(0n);
  });
});

describe("the bound", () => {
  const rate = fc.oneof(fc.constantFrom(0, 0.1, 0.075, 3, 15, 600), fc.double({ min: 0, max: 1_000, noNaN: true }));
  const value: fc.Arbitrary<PriceTableValue> = fc.oneof(
    rate,
    fc.record({
      base: rate,
      tiers: fc.array(fc.record({ start: fc.nat(400_000), price: rate }), { maxLength: 3 }),
    }),
  );
  const keys = [...new Set(Object.values(fallbacks).flat())];
  const table: fc.Arbitrary<PriceTable> = fc.record(Object.fromEntries(keys.map((key) => [key, value])), {
    requiredKeys: [],
  });
  const tokens = fc.oneof(fc.nat(1_000), fc.nat(1_000_000));
  const usage: fc.Arbitrary<Usage> = fc.record(
    Object.fromEntries(usageBuckets.map((bucket) => [bucket, bucket === "requests" ? fc.constant(1) : tokens])),
    { requiredKeys: [] },
  );
  const term = fc.constantFrom(undefined, "1024x1024", "2K", "hd", "low");
  const image = fc.option(fc.record({ size: term, quality: term }), { nil: undefined });
  const imagePrice: fc.Arbitrary<PriceTableValue> = fc.oneof(
    rate,
    fc.dictionary(fc.constantFrom("1024x1024/hd", "1024x1024", "2K", "hd", "low"), rate, { minKeys: 1 }),
  );
  const imageTable = fc.tuple(table, imagePrice).map(([prices, each]): PriceTable => ({ ...prices, image: each }));
  const markup = fc.constantFrom(1n, 500_000n, 1_000_000n, 1_234_567n, 3_000_000n);

  test("of a usage is never below its charge", () => {
    const property = fc.property(table, usage, markup, (prices, used, millionths) => {
      const price = priceOf(prices, millionths);
      expect(boundFor(price, used)).toBeGreaterThanOrEqual(chargeFor(price, { usage: used }));
    });
    fc.assert(property, { numRuns: 500 });
  });

  test("of images is never below their charge, whether or not their variant is known before", () => {
    const property = fc.property(imageTable, usage, image, markup, (prices, used, variant, millionths) => {
      const price = priceOf(prices, millionths);
      const observed = { usage: used, ...(variant === undefined ? {} : { variant }) };
      const charged = chargeFor(price, observed);
      expect(boundFor(price, used, variant)).toBeGreaterThanOrEqual(charged);
      expect(boundFor(price, used)).toBeGreaterThanOrEqual(boundFor(price, used, variant));
    });
    fc.assert(property, { numRuns: 500 });
  });

  test("of a number of tokens is never below the charge of fewer tokens, in whatever buckets they are counted", () => {
    const property = fc.property(table, usage, tokens, markup, (prices, used, spare, millionths) => {
      const price = priceOf(prices, millionths);
      const bound = {
        [mostExpensiveOf(price, "input", inputBuckets, inputTokens(used) + spare)]: inputTokens(used) + spare,
        [mostExpensiveOf(price, "output", outputBuckets, inputTokens(used) + spare)]: outputTokens(used) + spare,
        requests: 1,
      };
      const text = Object.fromEntries([...inputBuckets, ...outputBuckets].map((bucket) => [bucket, used[bucket] ?? 0]));
      expect(boundFor(price, bound)).toBeGreaterThanOrEqual(chargeFor(price, { usage: text }));
    });
    fc.assert(property, { numRuns: 500 });
  });

  test("counts tokens in the bucket that is most expensive at the tiers that the input can reach", () => {
    const price = priceOf({
      input_mtok: { base: 3, tiers: [{ start: 10, price: 7 }] },
      cache_write_mtok: 6,
      output_mtok: 10,
      output_reasoning_mtok: 12,
    });
    // Up to ten tokens are read at the base tier.
    expect(mostExpensiveOf(price, "input", inputBuckets, 10)).toBe("cacheWrite5m");
    expect(mostExpensiveOf(price, "input", inputBuckets, 11)).toBe("input");
    expect(boundFor(price, { input: 5 })).toBe(15_000n);
    expect(boundFor(price, { input: 11 })).toBe(77_000n);
    expect(mostExpensiveOf(price, "output", outputBuckets, 5)).toBe("reasoning");
    expect(mostExpensiveOf(price, "cacheWrite5m", ["cacheWrite1h"], 5)).toBe("cacheWrite5m");
  });
});
