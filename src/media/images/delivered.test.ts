import { describe, expect, test } from "bun:test";
import type { MediaVariant, JsonObject, Usage } from "../../core/index.ts";
import { countImages, expectedImageTokens } from "./delivered.ts";
import { imageGenerationRequest } from "./request.ts";

const { prompt } = imageGenerationRequest.parse({ model: "m", prompt: "a cat" });
const counted = (answer: JsonObject, body: object = {}, each?: Usage) =>
  countImages({ prompt, ...body }, answer, {
    inputTokens: 0,
    outputTokens: undefined,
    choices: 1,
    outputImages: { count: 1, variant: {}, ...(each && { each }) },
  });
const image = { b64_json: "AAAA" };
const address = { url: "https://pictures.example/1.png" };

describe("only delivered images count", () => {
  test.each<[string, unknown, number]>([
    ["base64 and addresses", [image, address], 2],
    ["an image that failed", [address, { error: { code: "OutputImageSensitiveContentDetected" } }], 1],
    ["an error beside an address", [{ ...address, error: { code: "x" } }], 0],
    ["no error", [{ ...address, error: null }], 1],
    ["an image that was withheld", [{ respect_moderation: false, revised_prompt: "" }, address], 1],
    ["one that was withheld and has an address", [{ ...address, respect_moderation: false }], 0],
    ["one that was let through", [{ ...address, respect_moderation: true }], 1],
    ["empty texts", [{ url: "" }, { b64_json: "" }], 0],
    ["nothing of the kind", [null, 7, "x", {}], 0],
    ["no list", "none", 0],
    ["nothing", undefined, 0],
  ])("%s", (_title, data, images) => {
    expect(counted({ data }).usage).toEqual({ images });
  });
});

describe("the variant", () => {
  test.each<[string, JsonObject, object, MediaVariant]>([
    [
      "is what the answer says",
      { data: [image], size: "1536x1024", quality: "high" },
      { size: "auto", quality: "auto" },
      { size: "1536x1024", quality: "high" },
    ],
    ["is what its image says", { data: [{ ...address, size: "2048x2048" }] }, { size: "2K" }, { size: "2048x2048" }],
    [
      "is what was asked for",
      { data: [address] },
      { size: "1792x1024", quality: "hd" },
      { size: "1792x1024", quality: "hd" },
    ],
    ["is OpenAI's own choice", { data: [address] }, {}, { size: "1024x1024", quality: "standard" }],
    [
      "has no size where there are several",
      {
        data: [
          { ...address, size: "2048x2048" },
          { ...address, size: "1024x1024" },
        ],
      },
      { quality: "low" },
      { size: undefined, quality: "low" },
    ],
    [
      "is not that of an image that failed",
      {
        data: [
          { error: {}, size: "1x1" },
          { ...address, size: "2048x2048" },
        ],
      },
      { quality: "low" },
      { size: "2048x2048", quality: "low" },
    ],
  ])("%s", (_title, answer, body, variant) => {
    expect(counted(answer, body).variant).toEqual({ quality: "standard", ...variant });
  });
});

describe("tokens that should have been named and were not", () => {
  const described = { data: [image, image], output_format: "png", size: "1536x1024", quality: "low" };
  test.each<[string, JsonObject, Usage]>([
    // 272 for a square, one and a half times as many pixels, twice.
    ["are estimated", described, { images: 2, outputImage: 816 }],
    ["but not where they are", { ...described, usage: { output_tokens: 5 } }, { images: 2 }],
    ["nor where a model has none", { data: [image, address] }, { images: 2 }],
  ])("%s", (_title, answer, usage) => {
    expect(counted(answer).usage).toEqual(usage);
  });

  test.each<[MediaVariant, number]>([
    [{}, 1_056],
    [{ size: "1024x1024", quality: "medium" }, 1_056],
    [{ size: "1024x1024", quality: "standard" }, 1_056],
    [{ size: "1024x1536", quality: "high" }, 6_240],
    [{ size: "512x512", quality: "low" }, 68],
    [{ size: "1024x1024", quality: "max" }, 4_160],
    [{ size: "auto", quality: "low" }, 272],
  ])("%j: %p", (variant, tokens) => {
    expect(expectedImageTokens(variant)).toBe(tokens);
  });
});

test("images of a model that is priced by tokens have tokens, also in an answer that tells nothing about them", () => {
  const each = { outputImage: 6_240 };
  expect(counted({ data: [image] }, {}, each).usage).toEqual({ images: 1, outputImage: 1_056 });
  expect(counted({ data: [image] }, { quality: "high" }, each).usage).toEqual({ images: 1, outputImage: 4_160 });
  expect(counted({ data: [image], usage: {} }, {}, each).usage).toEqual({ images: 1, outputImage: 1_056 });
  expect(counted({ data: [image], usage: { output_tokens: 7 } }, {}, each).usage).toEqual({ images: 1 });
  expect(counted({ data: [image] }).usage).toEqual({ images: 1 });
});
