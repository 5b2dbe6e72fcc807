import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { inputTokens, type JsonObject, outputTokens } from "../../core/index.ts";
import { type ChatUsageRules, openaiUsageRules, readChatUsage } from "./chat-usage.ts";

const outside: ChatUsageRules = { ...openaiUsageRules, reasoningInCompletion: false };
const fromRemainder: ChatUsageRules = { ...openaiUsageRules, remainderIsReasoning: true };

const read = (usage: JsonObject, rules = openaiUsageRules) => readChatUsage({ usage }, rules)?.usage;

/** All fields in which upstreams report the cached tokens of the prompt. */
const spellings: [string, JsonObject][] = [
  ["prompt_tokens_details.cached_tokens", { prompt_tokens_details: { cached_tokens: 40 } }],
  ["prompt_token_details.cached_tokens", { prompt_token_details: { cached_tokens: 40 } }],
  ["prompt_cache_hit_tokens", { prompt_cache_hit_tokens: 40, prompt_cache_miss_tokens: 60 }],
  ["num_cached_tokens", { num_cached_tokens: 40 }],
  ["cached_tokens", { cached_tokens: 40 }],
];

test.each(spellings)("cached tokens are read from %s", (_spelling, cached) => {
  expect(read({ prompt_tokens: 100, completion_tokens: 1, ...cached })).toMatchObject({ input: 60, cacheRead: 40 });
});

test("cached tokens under several spellings are counted once", () => {
  const usage = Object.assign({}, ...spellings.map(([, cached]) => cached)) as JsonObject;
  expect(read({ prompt_tokens: 100, completion_tokens: 1, ...usage })).toMatchObject({ input: 60, cacheRead: 40 });
});

describe("figures that contradict each other never count a token twice", () => {
  const contradictions: [string, JsonObject, JsonObject][] = [
    [
      "more reasoning than completion",
      { completion_tokens: 10, completion_tokens_details: { reasoning_tokens: 15 } },
      { output: 0, reasoning: 10 },
    ],
    [
      "reasoning and audio beyond the completion",
      { completion_tokens: 10, completion_tokens_details: { reasoning_tokens: 8, audio_tokens: 8 } },
      { output: 0, reasoning: 8, outputAudio: 2 },
    ],
  ];
  test.each(contradictions)("%s", (_title, usage, buckets) => {
    expect(read(usage)).toMatchObject(buckets);
  });
});

describe("counts beside the prompt", () => {
  const rows: [string, JsonObject, JsonObject][] = [
    [
      "cached tokens of Grok on Azure (recording 1633)",
      { prompt_tokens: 10, completion_tokens: 213, total_tokens: 223, prompt_tokens_details: { cached_tokens: 161 } },
      { input: 10, cacheRead: 161, output: 213 },
    ],
    [
      "cache writes of OpenRouter (recording 841)",
      {
        prompt_tokens: 2_168,
        completion_tokens: 100,
        total_tokens: 2_268,
        prompt_tokens_details: { cached_tokens: 2_161, cache_write_tokens: 2_161, audio_tokens: 0 },
      },
      { input: 7, cacheRead: 2_161, cacheWrite5m: 2_161, output: 100 },
    ],
    [
      "audio of Mistral (recording 1622)",
      {
        prompt_tokens: 9,
        completion_tokens: 248,
        total_tokens: 632,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 375 },
      },
      { input: 9, inputAudio: 375, output: 248 },
    ],
    [
      "audio that is part of the prompt is not, although it would fit beside it",
      { prompt_tokens: 400, completion_tokens: 10, total_tokens: 410, prompt_tokens_details: { audio_tokens: 375 } },
      { input: 25, inputAudio: 375, output: 10 },
    ],
  ];
  test.each(rows)("%s", (_title, usage, buckets) => {
    expect(read(usage)).toMatchObject(buckets);
  });
});

test("image tokens have buckets of their own, on both sides (recording 2820)", () => {
  const usage = {
    prompt_tokens: 112,
    completion_tokens: 1_300,
    prompt_tokens_details: { image_tokens: 100 },
    completion_tokens_details: { image_tokens: 1_290, reasoning_tokens: 4 },
  };
  expect(read(usage)).toMatchObject({ input: 12, inputImage: 100, output: 6, outputImage: 1_290, reasoning: 4 });
});

describe("reasoning", () => {
  const usage = {
    prompt_tokens: 5,
    completion_tokens: 30,
    total_tokens: 135,
    completion_tokens_details: { reasoning_tokens: 20 },
  };

  test("that is included in the completion is subtracted from it", () => {
    expect(read(usage)).toMatchObject({ output: 10, reasoning: 20 });
  });

  test("that is excluded from the completion is not subtracted", () => {
    expect(read(usage, outside)).toMatchObject({ output: 30, reasoning: 20 });
  });

  test("that only the total includes is the remainder of the total", () => {
    expect(read(usage, fromRemainder)).toMatchObject({ output: 30, reasoning: 100 });
  });

  test("is included in the completion if the total has no remainder", () => {
    expect(read({ ...usage, total_tokens: 35 }, fromRemainder)).toMatchObject({ output: 10, reasoning: 20 });
    expect(read({ ...usage, total_tokens: 3 }, fromRemainder)).toMatchObject({ output: 10, reasoning: 20 });
    expect(read({ ...usage, total_tokens: Number.NaN }, fromRemainder)).toMatchObject({ output: 10, reasoning: 20 });
  });

  test("may be listed next to the counts instead of in the details", () => {
    expect(read({ completion_tokens: 30, reasoning_tokens: 20 }, outside)).toMatchObject({ output: 30, reasoning: 20 });
  });
});

test("the usage of an answer takes precedence over that of its choice, and both over Groq's own field", () => {
  const of = (tokens: number) => ({ prompt_tokens: tokens, completion_tokens: 0 });
  const everywhere = { usage: of(1), choices: [{ usage: of(2) }], x_groq: { usage: of(3) } };
  const { usage: _, ...inChoice } = everywhere;
  expect(readChatUsage(everywhere, openaiUsageRules)?.usage.input).toBe(1);
  expect(readChatUsage(inChoice, openaiUsageRules)?.usage.input).toBe(2);
  expect(readChatUsage({ ...inChoice, choices: [] }, openaiUsageRules)?.usage.input).toBe(3);
});

describe("a count that is none leaves its side uncounted, and the other one as it is", () => {
  test.each([undefined, null, "12", 1.5, -3, 1e18, Number.NaN, [[]], {}].map((none) => [none]))("%p", (none) => {
    const prompt = { prompt_tokens: none, completion_tokens: 7, total_tokens: 90 };
    const google = readChatUsage({ usage: prompt }, fromRemainder);
    expect(google).toMatchObject({ usage: { input: 0, output: 7, reasoning: 0 }, uncounted: ["input"] });
    const completion = { prompt_tokens: 7, completion_tokens: none, total_tokens: 90 };
    expect(readChatUsage({ usage: completion }, fromRemainder)).toMatchObject({
      usage: { input: 7, reasoning: 0 },
      uncounted: ["output"],
    });
    expect(read({ prompt_tokens: none, completion_tokens: none, total_tokens: 90 })).toBeUndefined();
  });

  test("parts that are counted beside it stay", () => {
    const details = {
      prompt_tokens_details: { cached_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 30 },
    };
    expect(read({ prompt_tokens: 100, completion_tokens: null, ...details })).toMatchObject({ reasoning: 30 });
    expect(read({ prompt_tokens: null, completion_tokens: 50, ...details })).toMatchObject({
      cacheRead: 40,
      output: 20,
    });
  });
});

test("the buckets always add up to the prompt and the completion", () => {
  const count = fc.nat(10_000);
  const counts = fc.record(
    {
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: fc.record(
        { cached_tokens: count, audio_tokens: count, cache_write_tokens: count },
        { requiredKeys: [] },
      ),
      completion_tokens_details: fc.record({ reasoning_tokens: count, audio_tokens: count }, { requiredKeys: [] }),
      prompt_cache_hit_tokens: count,
    },
    { requiredKeys: ["prompt_tokens", "completion_tokens"] },
  );
  const property = fc.property(counts, (usage) => {
    const buckets = read(usage) ?? {};
    const { cacheRead = 0, cacheWrite5m = 0, inputAudio = 0 } = buckets;
    // Counts that do not fit into the prompt stand beside it.
    if (cacheRead + cacheWrite5m + inputAudio <= usage.prompt_tokens) {
      expect(inputTokens(buckets)).toBe(usage.prompt_tokens);
    } else expect(inputTokens(buckets)).toBeGreaterThan(usage.prompt_tokens);
    expect(outputTokens(buckets)).toBe(usage.completion_tokens);
    expect(Math.min(...Object.values(buckets))).toBeGreaterThanOrEqual(0);
  });
  fc.assert(property, { numRuns: 300 });
});
