/** The rows of the published tables, read and combined; the excerpts are from the real tables of November 2026. */
import { describe, expect, test } from "bun:test";
import type { CatalogModel } from "../../src/pricing/index.ts";
import type { Correction } from "./corrections/index.ts";
import { perHour, scaled } from "./decimals.ts";
import { groupNames } from "./group-names.ts";
import { mergeProvider, type NamedModel } from "./merge.ts";
import { readGenaiPrices } from "./read-genai-prices.ts";
import { readLitellm } from "./read-litellm.ts";
import type { TableRow } from "./table-row.ts";

const at = Date.UTC(2026, 10, 24, 12);

const read = (provider: string, name: string, row: object): TableRow | undefined =>
  readLitellm(JSON.stringify({ [name]: row }))
    .get(provider)
    ?.get(name.replace(/^(xai|gemini|mistral|deepseek)\//, ""));

const pricesOf = (provider: string, name: string, row: object) => read(provider, name, row)?.prices;

describe("numbers", () => {
  test.each([
    [1.25e-7, 6, 0.125],
    [0.000_002_5, 6, 2.5],
    [3e-7, 6, 0.3],
    [0.014, 3, 14],
    [0.1 + 0.2, 0, 0.3],
  ])("%p times 10^%p is exactly %p", (price, power, expected) => {
    expect(scaled(price, power)).toBe(expected);
  });

  test.each([
    [0.0001, 0.36],
    [3.083e-5, 0.111],
    [1.111e-5, 0.04],
    [0.001333333333333, 4.8],
  ])("%p a second is %p an hour", (second, hour) => {
    expect(perHour(second)).toBe(hour);
  });
});

describe("a row of LiteLLM's file", () => {
  test("with long prompts, service tiers and a search", () => {
    const row = {
      litellm_provider: "openai",
      mode: "chat",
      input_cost_per_token: 2e-6,
      input_cost_per_token_above_272k_tokens: 4e-6,
      input_cost_per_token_priority: 4e-6,
      input_cost_per_token_above_272k_tokens_priority: 8e-6,
      input_cost_per_token_batches: 1e-6,
      output_cost_per_token: 1e-5,
      cache_creation_input_token_cost_above_12hr: 5e-6,
      search_context_cost_per_query: { search_context_size_low: 0.01, search_context_size_high: 0.025 },
      max_input_tokens: 922_000,
      max_output_tokens: 128_000,
      supports_reasoning: true,
      source: "https://developers.openai.com/api/docs/pricing",
    };
    expect(read("openai", "gpt-x", row)).toEqual({
      contextWindow: 1_050_000,
      maxOutputTokens: 128_000,
      reasoning: true,
      prices: [
        {
          input_mtok: { base: 2, tiers: [{ start: 272_000, price: 4 }] },
          output_mtok: 10,
          web_searches_kcount: 25,
          service_tiers: { priority: { input_mtok: { base: 4, tiers: [{ start: 272_000, price: 8 }] } } },
        },
      ],
      document: "https://developers.openai.com/api/docs/pricing",
    });
  });

  test("with prices by region and speed", () => {
    const row = {
      litellm_provider: "anthropic",
      input_cost_per_token: 4e-6,
      cache_creation_input_token_cost_above_1hr: 8e-6,
      provider_specific_entry: { us: 1.1, fast: 2 },
    };
    expect(pricesOf("anthropic", "claude-x", row)).toEqual([
      { input_mtok: 4, cache_write_1h_mtok: 8, service_tiers: { fast: 2 }, inference_geos: { us: 1.1 } },
    ]);
  });

  test("with off-peak prices has the peaks of working days over them", () => {
    const row = {
      litellm_provider: "deepseek",
      input_cost_per_token: 3e-7,
      off_peak_pricing: {
        input_cost_per_token: 1.5e-7,
        windows: [
          { hours_utc: ["00:00-01:00", "04:00-06:00", "10:00-00:00"], weekdays: [1, 2, 3, 4, 5] },
          { hours_utc: "00:00-00:00", weekdays: [6, 7] },
        ],
      },
    };
    const days = ["mon", "tue", "wed", "thu", "fri"] as const;
    expect(pricesOf("deepseek", "deepseek/m", row)).toEqual([
      { input_mtok: 0.15 },
      { daily: ["01:00", "04:00"], days: [...days], input_mtok: 0.3 },
      { daily: ["06:00", "10:00"], days: [...days], input_mtok: 0.3 },
    ]);
  });

  test.each<[string, string, object, unknown[]]>([
    [
      "of a video by resolution",
      "xai/v",
      {
        litellm_provider: "xai",
        mode: "video_generation",
        output_cost_per_second: 0.05,
        output_cost_per_second_720p: 0.07,
        input_cost_per_image: 0.002,
      },
      [{ input_image: 0.002, output_video_seconds: { "480p": 0.05, "720p": 0.07 } }],
    ],
    [
      "of a video with a flat price",
      "xai/v",
      { litellm_provider: "xai", mode: "video_generation", output_cost_per_video_per_second: 0.1 },
      [{ output_video_seconds: 0.1 }],
    ],
    [
      "of an image",
      "xai/v",
      { litellm_provider: "xai", mode: "image_generation", input_cost_per_image: 0.05 },
      [{ image: 0.05 }],
    ],
    [
      "of an image with tokens",
      "xai/v",
      { litellm_provider: "xai", mode: "image_generation", input_cost_per_token: 1e-6, output_cost_per_image: 0.04 },
      [{ input_mtok: 1 }],
    ],
    [
      "of a transcription",
      "xai/v",
      { litellm_provider: "xai", mode: "audio_transcription", input_cost_per_second: 0.0001 },
      [{ input_audio_hours: 0.36 }],
    ],
    [
      "of a transcription that is charged by tokens",
      "xai/v",
      {
        litellm_provider: "xai",
        mode: "audio_transcription",
        input_cost_per_second: 0.0001,
        input_cost_per_token: 1e-6,
      },
      [{ input_mtok: 1 }],
    ],
    [
      "of a connection",
      "xai/v",
      { litellm_provider: "xai", mode: "realtime", input_cost_per_second: 0.001333333333333 },
      [{ connection_hours: 4.8 }],
    ],
    [
      "of speech",
      "xai/v",
      { litellm_provider: "xai", mode: "audio_speech", input_cost_per_character: 1.5e-5 },
      [{ input_mchars: 15 }],
    ],
    ["of pages", "xai/v", { litellm_provider: "xai", mode: "ocr", ocr_cost_per_page: 0.004 }, [{ pages_kcount: 4 }]],
    ["without a price", "xai/v", { litellm_provider: "xai", input_cost_per_token: 0, output_cost_per_token: 0 }, []],
  ])("%s", (_title, name, row, prices) => {
    expect(pricesOf("x-ai", name, row)).toEqual(prices as never);
  });

  test("of a size, a fine-tuned family or another provider is ignored", () => {
    const rows = ["low/1024-x-1024/gpt-image-1", "ft:gpt-4o", "openai/container"];
    const table = readLitellm(
      JSON.stringify({
        ...Object.fromEntries(rows.map((name) => [name, { litellm_provider: "openai", input_cost_per_token: 1e-6 }])),
        other: { litellm_provider: "bedrock", input_cost_per_token: 1e-6 },
      }),
    );
    expect([...table.values()].flatMap((each) => [...each.keys()])).toEqual([]);
  });
});

describe("genai-prices", () => {
  test("matches a listed name by its rules only if it is a version of the rule's name", () => {
    const listed = ["claude-sonnet-5", "claude-sonnet-5-5", "claude-sonnet-5-20261101", "claude-haiku-4-5-20251001"];
    const rows = readGenaiPrices(["anthropic"], () => ({ known: [], listed })).get("anthropic");
    expect(listed.map((name) => rows?.get(name)?.model)).toEqual([
      "claude-sonnet-5",
      undefined,
      "claude-sonnet-5",
      "claude-haiku-4-5",
    ]);
  });

  test("has free models only at OpenRouter, by their names", () => {
    const rows = readGenaiPrices(["openrouter", "google"], () => ({ known: [], listed: [] }));
    const free = [...(rows.get("openrouter") ?? [])].filter(([, { prices }]) => prices[0]?.input_mtok === 0);
    expect(free.length).toBeGreaterThan(50);
    expect(free.every(([name]) => name.endsWith(":free"))).toBe(true);
    expect(rows.get("google")?.has("gemma-4-31b-it")).toBe(false);
  });
});

describe("the rows of one name", () => {
  const merged = (
    litellm: TableRow | undefined,
    genaiPrices: TableRow | undefined,
    corrections: Correction[] = [],
    comparedAt = at,
  ) => {
    const { models, disagreements, unpriced } = mergeProvider({
      provider: "p",
      litellm: new Map(litellm === undefined ? [] : [["m", litellm]]),
      genaiPrices: new Map(genaiPrices === undefined ? [] : [["m", genaiPrices]]),
      corrections: { corrections },
      at: comparedAt,
    });
    return {
      model: models.get("m"),
      disagreements: disagreements.map(({ key, decidedBy }) => [key, decidedBy]),
      unpriced,
    };
  };
  const first: TableRow = { prices: [{ input_mtok: 1, output_mtok: 2, web_searches_kcount: 10 }] };

  test("that agree have the dates of one and the other prices of both", () => {
    const dated: TableRow = {
      prices: [
        { input_mtok: 1, output_mtok: 2, storage_searches_kcount: 3 },
        { from: "2027-01-01", input_mtok: 5, output_mtok: 6 },
      ],
    };
    expect(merged(first, dated)).toEqual({
      model: {
        prices: [
          { input_mtok: 1, output_mtok: 2, web_searches_kcount: 10, storage_searches_kcount: 3 },
          { from: "2027-01-01", input_mtok: 5, output_mtok: 6, web_searches_kcount: 10 },
        ],
        source: "litellm; genai-prices",
      },
      disagreements: [],
      unpriced: [],
    });
  });

  test("that disagree have LiteLLM's prices of tokens, and are listed", () => {
    const other: TableRow = {
      prices: [{ input_mtok: 4, output_mtok: 2, cache_read_mtok: 0.4, storage_searches_kcount: 3 }],
    };
    expect(merged(first, other)).toEqual({
      model: {
        prices: { input_mtok: 1, output_mtok: 2, web_searches_kcount: 10, storage_searches_kcount: 3 },
        source: "litellm; genai-prices",
      },
      disagreements: [["input_mtok", "litellm"]],
      unpriced: [],
    });
  });

  test("are replaced by a correction", () => {
    const other: TableRow = { prices: [{ input_mtok: 4 }] };
    const corrected = merged(first, other, [
      { names: ["m"], source: "a page", change: { input_mtok: 3, web_searches_kcount: null } },
    ]);
    expect(corrected.model).toEqual({ prices: { input_mtok: 3, output_mtok: 2 }, source: "a page; litellm" });
    expect(corrected.disagreements).toEqual([["input_mtok", "correction"]]);
    expect(merged(first, other, [{ names: ["m"], source: "a page", prices: [] }])).toMatchObject({
      model: undefined,
      unpriced: ["m"],
    });
  });

  test("with thresholds of 272,000 and 271,999 agree", () => {
    const tiered = (start: number): TableRow => ({
      prices: [{ input_mtok: { base: 1, tiers: [{ start, price: 2 }] } }],
    });
    expect(merged(tiered(272_000), tiered(271_999)).disagreements).toEqual([]);
    expect(merged(undefined, tiered(271_999)).model?.prices).toEqual({
      input_mtok: { base: 1, tiers: [{ start: 272_000, price: 2 }] },
    });
  });

  test("of which one knows cheaper hours disagree, at whatever hour they are compared", () => {
    const [flat, byHour]: [TableRow, TableRow] = [
      { prices: [{ input_mtok: 4 }] },
      { prices: [{ input_mtok: 1 }, { input_mtok: 4, daily: ["08:00", "20:00"] }] },
    ];
    for (const hour of [0, 12]) {
      const made = merged(flat, byHour, [], Date.UTC(2026, 10, 27, hour));
      expect(made.model?.prices).toEqual({ input_mtok: 4 });
      expect(made.disagreements).toHaveLength(1);
    }
  });

  test("with a service tier that is a multiple have its factor", () => {
    const row: TableRow = {
      prices: [
        {
          input_mtok: 1,
          output_mtok: 4,
          service_tiers: { flex: { input_mtok: 0.5, output_mtok: 2 }, odd: { input_mtok: 2 } },
        },
      ],
    };
    expect(merged(row, undefined).model?.prices).toEqual({
      input_mtok: 1,
      output_mtok: 4,
      service_tiers: { flex: 0.5, odd: { input_mtok: 2 } },
    });
  });

  test("with a service tier whose factor is no decimal keep its prices", () => {
    const prices = {
      input_mtok: 0.15,
      output_mtok: 0.6,
      service_tiers: { priority: { input_mtok: 0.25, output_mtok: 1 }, fast: { input_mtok: 0.27, output_mtok: 1.08 } },
    };
    expect(merged({ prices: [prices] }, undefined).model?.prices).toEqual({
      ...prices,
      service_tiers: { ...prices.service_tiers, fast: 1.8 },
    });
  });

  test("without any price are reported", () => {
    expect(merged({ prices: [] }, undefined)).toEqual({ model: undefined, disagreements: [], unpriced: ["m"] });
  });
});

test("names of one model are one row, with the undated one first", () => {
  const model = (input: number): NamedModel => ({ prices: { input_mtok: input }, source: "s" });
  const names = new Map([
    ["a-2026-01-01", model(1)],
    ["a-latest", model(1)],
    ["a", model(1)],
    ["a-2025-01-01", model(2)],
    ["b", model(1)],
  ]);
  const rows: Record<string, CatalogModel> = groupNames(names, () => undefined);
  expect(Object.entries(rows).map(([name, { aliases = [] }]) => [name, ...aliases])).toEqual([
    ["a", "a-latest", "a-2026-01-01"],
    ["a-2025-01-01"],
    ["b"],
  ]);
});
