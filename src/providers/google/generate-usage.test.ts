import { expect, test } from "bun:test";
import fc from "fast-check";
import { inputTokens, type JsonObject, type ObservedUsage, outputTokens, type Usage } from "../../core/index.ts";
import { readGenerateUsage } from "./generate-usage.ts";

const filled = (observed: ObservedUsage | undefined): Usage | undefined =>
  observed && Object.fromEntries(Object.entries(observed.usage).filter(([, count]) => count !== 0));
const of = (modality: string, tokenCount: number) => ({ modality, tokenCount });
const read = (usageMetadata: JsonObject, more: JsonObject = {}) => readGenerateUsage({ usageMetadata, ...more });

test.each<[string, JsonObject, Usage, string?]>([
  ["text", { promptTokenCount: 8, candidatesTokenCount: 3, totalTokenCount: 11 }, { input: 8, output: 3 }],
  [
    "thoughts beside the answer",
    { promptTokenCount: 8, candidatesTokenCount: 3, thoughtsTokenCount: 5, totalTokenCount: 16 },
    { input: 8, output: 3, reasoning: 5 },
  ],
  [
    "cached sound and pictures, each of them a part of the prompt",
    {
      promptTokenCount: 600,
      promptTokensDetails: [of("TEXT", 100), of("AUDIO", 200), of("IMAGE", 258), of("VIDEO", 42)],
      cachedContentTokenCount: 150,
      cacheTokensDetails: [of("TEXT", 20), of("AUDIO", 100), of("IMAGE", 30)],
    },
    { input: 122, cacheRead: 20, inputAudio: 100, cacheAudioRead: 100, inputImage: 228, cacheImageRead: 30 },
  ],
  [
    "input of tools, with its modalities",
    {
      promptTokenCount: 8,
      toolUsePromptTokenCount: 50,
      toolUsePromptTokensDetails: [of("TEXT", 20), of("IMAGE", 30)],
    },
    { input: 28, inputImage: 30 },
  ],
  [
    "pictures and sound that come out",
    {
      promptTokenCount: 1,
      candidatesTokenCount: 60,
      candidatesTokensDetails: [of("TEXT", 10), of("IMAGE", 30), of("AUDIO", 20)],
    },
    { input: 1, output: 10, outputImage: 30, outputAudio: 20 },
  ],
  [
    "an answer of a model that draws, without details",
    { promptTokenCount: 1, candidatesTokenCount: 1_290 },
    { input: 1, outputImage: 1_290 },
    "gemini-2.5-flash-image",
  ],
  [
    "an answer of a model that speaks, without details",
    { promptTokenCount: 1, candidatesTokenCount: 90 },
    { input: 1, outputAudio: 90 },
    "gemini-2.5-flash-preview-tts",
  ],
  [
    "the rest of the total",
    { promptTokenCount: 8, thoughtsTokenCount: 2, totalTokenCount: 15 },
    { input: 8, output: 5, reasoning: 2 },
  ],
])("%s", (_title, usageMetadata, buckets, modelVersion = "") => {
  expect(filled(read(usageMetadata, { modelVersion }))).toEqual({ ...buckets, requests: 1 });
});

test("sides without a count are named, and no count at all is none", () => {
  expect(read({ candidatesTokenCount: 3 })?.uncounted).toEqual(["input"]);
  expect(read({ promptTokenCount: 3, totalTokenCount: 3 })?.uncounted).toBeUndefined();
  expect(read({ promptTokenCount: 3 })?.uncounted).toEqual(["output"]);
  expect([read({}), readGenerateUsage({ candidates: [] }), readGenerateUsage({ usageMetadata: 7 })]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("the tier of the answer is its own", () => {
  expect(read({ promptTokenCount: 1, serviceTier: "PRIORITY" })?.terms).toEqual({ serviceTier: "priority" });
});

const searched = (...webSearchQueries: string[]) => [{ groundingMetadata: { webSearchQueries } }];

test.each([
  ["gemini-3-pro", 3],
  ["gemini-2.5-flash", 1],
])("searches of %s", (modelVersion, webSearches) => {
  const candidates = searched("a", "b", "", "c");
  expect(readGenerateUsage({ candidates, modelVersion })?.usage).toEqual({ webSearches });
  expect(readGenerateUsage({ candidates: searched(), modelVersion })).toBeUndefined();
});

test("the searches of several answers add up, except at models that are billed for the whole answer", () => {
  const candidates = [...searched("a", "b"), ...searched("c", "d", "e")];
  const count = (modelVersion: string) => readGenerateUsage({ candidates, modelVersion })?.usage.webSearches;
  expect([count("gemini-3-pro"), count("gemini-2.5-flash")]).toEqual([5, 1]);
});

test("the buckets always add up to the input and the output", () => {
  const count = fc.nat(5_000);
  const details = fc.array(
    fc.record({ modality: fc.constantFrom("TEXT", "IMAGE", "AUDIO", "VIDEO", "DOCUMENT"), tokenCount: count }),
  );
  const counts = fc.record(
    {
      promptTokenCount: count,
      promptTokensDetails: details,
      toolUsePromptTokenCount: count,
      toolUsePromptTokensDetails: details,
      cachedContentTokenCount: count,
      cacheTokensDetails: details,
      candidatesTokenCount: count,
      candidatesTokensDetails: details,
      thoughtsTokenCount: count,
    },
    { requiredKeys: ["promptTokenCount", "candidatesTokenCount"] },
  );
  fc.assert(
    fc.property(counts, (usageMetadata) => {
      const { usage = {} } = read(usageMetadata) ?? {};
      const {
        promptTokenCount,
        toolUsePromptTokenCount = 0,
        candidatesTokenCount,
        thoughtsTokenCount = 0,
      } = usageMetadata;
      expect(inputTokens(usage)).toBe(promptTokenCount + toolUsePromptTokenCount);
      expect(outputTokens(usage)).toBe(candidatesTokenCount + thoughtsTokenCount);
      expect(Object.values(usage).every((each) => each >= 0)).toBe(true);
    }),
  );
});
