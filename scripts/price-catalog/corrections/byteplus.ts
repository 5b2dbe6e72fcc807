import type { CatalogRate } from "../../../src/pricing/index.ts";
import type { Prices } from "../table-row.ts";
import type { ProviderCorrections } from "./correction.ts";

const pricing = "https://docs.byteplus.com/en/docs/ModelArk/1544106";
const modelList = "https://docs.byteplus.com/en/docs/ModelArk/1330310";
const lasBilling = "https://docs.byteplus.com/en/docs/Byteplus_LAS/Large_model_billing";

/** Prices roughly double for prompts over 128K tokens. */
function seedPrices(input: [number, number], cacheRead: number | undefined, output: [number, number]): Prices {
  return {
    input_mtok: overLong(...input),
    ...(cacheRead === undefined ? {} : { cache_read_mtok: cacheRead }),
    output_mtok: overLong(...output),
  };
}

function overLong(base: number, long: number): CatalogRate {
  return { base, tiers: [{ start: 128_000, price: long }] };
}

const text = { contextWindow: 256_000, reasoning: true } as const;
const video = { kind: "video" } as const;

/** BytePlus's models are in none of the tables. */
export const byteplus: ProviderCorrections = {
  corrections: [
    {
      ...text,
      names: ["seed-1-8", "seed-1-8-251228"],
      source: lasBilling,
      maxOutputTokens: 64_000,
      prices: seedPrices([0.25, 0.5], 0.05, [2, 4]),
    },
    {
      ...text,
      names: ["seed-1-6-flash", "seed-1-6-flash-250715", "seed-1-6-flash-250615"],
      source: pricing,
      maxOutputTokens: 32_000,
      prices: seedPrices([0.075, 0.1], 0.015, [0.3, 0.8]),
    },
    {
      ...text,
      names: ["seed-1-6", "seed-1-6-250915", "seed-1-6-250615"],
      source: pricing,
      maxOutputTokens: 32_000,
      prices: seedPrices([0.25, 0.5], 0.05, [2, 4]),
    },
    // The page with its prices lists no price of cached input, which therefore costs as much as other input.
    {
      ...text,
      names: ["seed-2-0-lite-260228"],
      source: `https://help.apiyi.com/en/seed-2-0-lite-260228-byteplus-api-pricing-guide-en.html and ${modelList}`,
      maxOutputTokens: 128_000,
      prices: seedPrices([0.25, 0.5], undefined, [2, 4]),
    },
    {
      names: ["gpt-oss-120b-250805"],
      source: "https://docs.byteplus.com/docs/ModelArk/1099320",
      prices: { input_mtok: 0.1, output_mtok: 0.5 },
    },
    {
      names: ["kimi-k2-250905", "kimi-k2-250711"],
      source: "https://docs.byteplus.com/docs/ModelArk/1099320",
      prices: { input_mtok: 0.6, cache_read_mtok: 0.12, output_mtok: 2.5 },
    },
    {
      names: ["deepseek-v3-1-250821"],
      source: "https://docs.byteplus.com/docs/ModelArk/1099320",
      prices: { input_mtok: 0.56, cache_read_mtok: 0.112, output_mtok: 1.68 },
    },
    // Per image, whatever its size.
    {
      names: ["seedream-4-0", "seedream-4-0-250828"],
      source: lasBilling,
      kind: "image",
      prices: { image: 0.03 },
    },
    {
      names: ["seedream-4-5", "seedream-4-5-251128"],
      source: lasBilling,
      kind: "image",
      prices: { image: 0.04 },
    },
    {
      names: ["seedream-5-0-260128", "seedream-5-0-lite", "seedream-5-0-lite-260128"],
      source: "resellers of Seedream 5.0, which agree",
      kind: "image",
      prices: { image: 0.035 },
    },
    // A video's tokens are its width × height × frame rate × seconds / 1024.
    {
      ...video,
      names: ["seedance-1-5-pro-251215"],
      source: "https://docs.comfy.org/tutorials/partner-nodes/pricing (506.4 and 253.2 credits at 211 a dollar)",
      // Offline inference costs half (`docs/wire/byteplus.md`).
      prices: { output_video_mtok: { audio: 2.4, silent: 1.2 }, service_tiers: { flex: 0.5 } },
    },
    {
      ...video,
      names: ["dreamina-seedance-2-0-260128"],
      source:
        "https://docs.comfy.org/tutorials/partner-nodes/pricing (until its markup of May 2026: 7.0, with a video as input 4.3)",
      prices: { output_video_mtok: { "from-video": 4.3, "from-text": 7 } },
    },
    {
      ...video,
      names: ["dreamina-seedance-2-0-fast-260128"],
      source:
        "https://docs.comfy.org/tutorials/partner-nodes/pricing (until its markup of May 2026: 5.6, with a video as input 3.3)",
      prices: { output_video_mtok: { "from-video": 3.3, "from-text": 5.6 } },
    },
  ],
};
