import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { inputTokens, type JsonObject, outputTokens, type Usage } from "../../core/index.ts";
import { imageEdit, imageGeneration } from "./images.ts";

const read = (usage: JsonObject) => imageGeneration.readUsage({ data: [], usage })?.usage;
const filled = (usage: Usage | undefined) =>
  usage && Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== 0));

const plain = {
  input_tokens: 244,
  input_tokens_details: { text_tokens: 50, image_tokens: 194 },
  output_tokens: 1_056,
  total_tokens: 1_300,
};

describe("tokens", () => {
  test.each<[string, JsonObject, Usage]>([
    ["of text and of images", plain, { input: 50, inputImage: 194, outputImage: 1_056 }],
    ["without details", { input_tokens: 9, output_tokens: 272 }, { input: 9, outputImage: 272 }],
    [
      "of output text",
      { ...plain, output_tokens_details: { text_tokens: 100, image_tokens: 956 } },
      { input: 50, inputImage: 194, output: 100, outputImage: 956 },
    ],
    [
      "of output whose details list only images",
      { ...plain, output_tokens_details: { image_tokens: 1_000 } },
      { input: 50, inputImage: 194, outputImage: 1_056 },
    ],
    [
      "from the cache, by kind",
      {
        ...plain,
        input_tokens_details: {
          ...plain.input_tokens_details,
          cached_tokens: 70,
          cached_tokens_details: { text_tokens: 40, image_tokens: 30 },
        },
      },
      { input: 10, cacheRead: 40, inputImage: 164, cacheImageRead: 30, outputImage: 1_056 },
    ],
    [
      "from the cache, without a kind: text first",
      { ...plain, input_tokens_details: { ...plain.input_tokens_details, cached_tokens: 70 } },
      { cacheRead: 50, inputImage: 174, cacheImageRead: 20, outputImage: 1_056 },
    ],
    [
      "of images that exceed the total",
      { input_tokens: 9, input_tokens_details: { image_tokens: 20 }, output_tokens: 1 },
      { inputImage: 9, outputImage: 1 },
    ],
  ])("%s", (_title, usage, buckets) => {
    expect(filled(read(usage))).toEqual({ ...buckets, requests: 1 });
  });

  test("always add up to the input and the output", () => {
    const count = fc.nat(5_000);
    const details = fc.record({ text_tokens: count, image_tokens: count, cached_tokens: count }, { requiredKeys: [] });
    const cached = fc.option(fc.record({ text_tokens: count, image_tokens: count }), { nil: undefined });
    const property = fc.property(count, count, details, cached, details, (input, output, ins, kinds, outs) => {
      const usage = read({
        input_tokens: input,
        input_tokens_details: { ...ins, cached_tokens_details: kinds },
        output_tokens: output,
        output_tokens_details: outs,
      });
      expect(inputTokens(usage ?? {})).toBe(input);
      expect(outputTokens(usage ?? {})).toBe(output);
      expect(Math.min(...Object.values(usage ?? {}))).toBeGreaterThanOrEqual(0);
    });
    fc.assert(property, { numRuns: 300 });
  });

  test("are not reported by the older models", () => {
    expect(
      imageGeneration.readUsage({ created: 1, data: [{ url: "https://pictures.example/1.png" }] }),
    ).toBeUndefined();
  });
});

test("both routes pass the client's body through", () => {
  for (const [operation, path] of [
    [imageGeneration, "/images/generations"],
    [imageEdit, "/images/edits"],
  ] as const) {
    expect(operation.path).toBe(path);
    expect(operation.edits({ model: "openai/m", n: 2, user: "u" }, "m")).toEqual([]);
    expect("reshape" in operation).toBe(false);
    expect(operation.isFailure({ error: { message: "overloaded" } })).toBe(true);
    expect(operation.isFailure({ data: [] })).toBe(false);
  }
});

describe("the most tokens of an image", () => {
  test.each<[JsonObject, number]>([
    [{ size: "1024x1024", quality: "low" }, 272],
    [{ size: "1024x1024", quality: "medium" }, 1_056],
    [{ size: "1024x1024", quality: "high" }, 4_160],
    [{ size: "1024x1536", quality: "high" }, 6_240],
    [{ size: "1024x1024", quality: "auto" }, 4_160],
    [{ size: "auto" }, 6_240],
    [{}, 6_240],
    [{ size: "2048x2048", quality: "low", partial_images: 3 }, 4 * 272 + 300],
  ])("%j", (body, outputImage) => {
    expect(imageGeneration.imageUsageMax?.(body, "gpt-image-1.5")).toEqual({ outputImage });
  });

  test("does not apply to models that are priced by the image", () => {
    expect(imageGeneration.imageUsageMax?.({}, "dall-e-3")).toBeUndefined();
  });
});
