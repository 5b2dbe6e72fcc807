import { expect, test } from "bun:test";
import fc from "fast-check";
import { inputTokens, type JsonObject, outputTokens, type Usage } from "../../core/index.ts";
import { countContent, readContentUsage } from "./content-usage.ts";

const filled = (usage: Usage | undefined) =>
  usage && Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== 0));
const text = (tokenCount: number) => ({ modality: "TEXT", tokenCount });
const image = (tokenCount: number) => ({ modality: "IMAGE", tokenCount });

test.each<[string, JsonObject, Usage]>([
  [
    "an image generated from text",
    { promptTokenCount: 8, candidatesTokenCount: 1_290, candidatesTokensDetails: [image(1_290)] },
    { input: 8, outputImage: 1_290 },
  ],
  [
    "text besides the image, and thoughts, which are counted separately",
    {
      promptTokenCount: 8,
      promptTokensDetails: [text(8)],
      candidatesTokenCount: 1_124,
      candidatesTokensDetails: [text(4), image(1_120)],
      thoughtsTokenCount: 128,
      totalTokenCount: 1_260,
    },
    { input: 8, output: 4, outputImage: 1_120, reasoning: 128 },
  ],
  [
    "input images",
    { promptTokenCount: 524, promptTokensDetails: [text(8), image(258), image(258)], candidatesTokenCount: 1_290 },
    { input: 8, inputImage: 516, outputImage: 1_290 },
  ],
  [
    "cached tokens, which are included in the prompt",
    {
      promptTokenCount: 524,
      promptTokensDetails: [text(8), image(516)],
      cachedContentTokenCount: 262,
      cacheTokensDetails: [text(4), image(258)],
    },
    { input: 4, cacheRead: 4, inputImage: 258, cacheImageRead: 258 },
  ],
  ["input from a tool", { promptTokenCount: 8, toolUsePromptTokenCount: 20 }, { input: 28 }],
  ["output of text only", { candidatesTokenCount: 9, candidatesTokensDetails: [text(9)] }, { output: 9 }],
])("%s", (_title, usageMetadata, buckets) => {
  expect(filled(readContentUsage({ usageMetadata })?.usage)).toEqual({ ...buckets, requests: 1 });
});

test("absent usage is not read", () => {
  expect(readContentUsage({ candidates: [] })).toBeUndefined();
  expect(countContent({ usageMetadata: 7 })).toBeUndefined();
});

test("the buckets always add up to the input and the output", () => {
  const count = fc.nat(5_000);
  const details = fc.array(fc.record({ modality: fc.constantFrom("TEXT", "IMAGE", "AUDIO"), tokenCount: count }));
  const counts = fc.record(
    {
      promptTokenCount: count,
      toolUsePromptTokenCount: count,
      promptTokensDetails: details,
      cachedContentTokenCount: count,
      cacheTokensDetails: details,
      candidatesTokenCount: count,
      candidatesTokensDetails: details,
      thoughtsTokenCount: count,
    },
    { requiredKeys: [] },
  );
  const property = fc.property(counts, (usageMetadata) => {
    const { promptTokenCount = 0, toolUsePromptTokenCount = 0 } = usageMetadata;
    const { candidatesTokenCount = 0, thoughtsTokenCount = 0 } = usageMetadata;
    const usage = readContentUsage({ usageMetadata })?.usage ?? {};
    expect(inputTokens(usage)).toBe(promptTokenCount + toolUsePromptTokenCount);
    expect(outputTokens(usage)).toBe(candidatesTokenCount + thoughtsTokenCount);
    expect(Math.min(...Object.values(usage))).toBeGreaterThanOrEqual(0);
  });
  fc.assert(property, { numRuns: 300 });
});
