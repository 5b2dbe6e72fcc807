import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { WorkBound, Usage, UsageSide } from "../core/index.ts";
import { boundFor, chargeFor, type ModelPrice } from "../pricing/index.ts";
import { orderOf, priceOf } from "./__fixtures__/work-scene.ts";
import {
  abandonedUsage,
  type CountedWork,
  expectedTokens,
  resolveUsage,
  sumOf,
  usageBound,
  withEstimate,
  withPassed,
} from "./estimate.ts";

/** The upstream reported no usage. */
const estimatedUsage = (price: ModelPrice, bound: WorkBound, outputBytes: number): Usage =>
  resolveUsage({ order: { price, bound } }, { upstream: undefined, outputBytes: () => outputBytes }).usage;

test("output far beyond the limit that was sent is no count", () => {
  const bound = { inputTokens: 50, outputTokens: undefined, choices: 1 };
  const output = { wanted: 300, least: 1, limits: "if-fewer", ownLimit: 300 } as const;
  const answer = { upstream: { usage: { input: 9, output: 500, requests: 1 } }, outputBytes: () => 40 };
  const order = { price: priceOf("up"), bound, output };
  expect(resolveUsage({ order, limits: { outputTokens: 200 } }, answer)).toMatchObject({
    usage: { input: 9, output: 10 },
    estimated: ["output"],
  });
  expect(resolveUsage({ order, limits: { outputTokens: 250 } }, answer).usage.output).toBe(500);
});

describe("the most that a call can use", () => {
  const asked = { inputTokens: 50, outputTokens: 20, choices: 1 };
  const rows: [string, "up" | "window" | "dear", Partial<WorkBound>, Usage][] = [
    ["is what the request says", "up", asked, { input: 50, output: 20, requests: 1 }],
    ["is so much a choice", "up", { ...asked, choices: 3 }, { input: 50, output: 60, requests: 1 }],
    ["counts the most expensive way", "dear", asked, { input: 50, reasoning: 20, requests: 1 }],
    [
      "counts the most expensive way, also of a cache",
      "dear",
      { ...asked, inputBuckets: ["cacheWrite5m"] },
      { cacheWrite5m: 50, reasoning: 20, requests: 1 },
    ],
    [
      "counts images and sound apart",
      "up",
      { ...asked, inputParts: { inputImage: 10, inputAudio: 5 } },
      // The prices are equal.
      { input: 50, output: 20, requests: 1 },
    ],
    [
      "is the model's cap where the request says nothing",
      "window",
      { ...asked, outputTokens: undefined },
      { input: 50, output: 100, requests: 1 },
    ],
    [
      "is assumed where nobody says",
      "up",
      { ...asked, outputTokens: undefined },
      { input: 50, output: 32_768, requests: 1 },
    ],
    [
      "lies within the window",
      "window",
      { ...asked, inputTokens: 5_000, outputTokens: 7_000 },
      { input: 1_000, output: 1_000, requests: 1 },
    ],
    [
      "lies within the window of each input that is read by itself",
      "window",
      { ...asked, inputTokens: 5_000, outputTokens: 0, inputs: 3 },
      { input: 3_000, requests: 1 },
    ],
  ];
  test.each(rows)("%s", (_title, prefix, bound, usage) => {
    expect(usageBound(priceOf(prefix), { ...asked, ...bound })).toEqual(usage);
  });

  test("costs at least as much as anything within the request", () => {
    const tokens = fc.nat(100_000);
    const bound = fc.record({ inputTokens: tokens, outputTokens: tokens, choices: fc.integer({ min: 1, max: 8 }) });
    const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 });
    const property = fc.property(
      bound,
      shares,
      fc.constantFrom("up", "dear"),
      (each, [inAll = 0, cached = 0, outAll = 0, thought = 0], prefix) => {
        const input = Math.floor(each.inputTokens * inAll);
        const output = Math.floor(each.outputTokens * each.choices * outAll);
        const usage = {
          input: input - Math.floor(input * cached),
          cacheWrite5m: Math.floor(input * cached),
          output: output - Math.floor(output * thought),
          reasoning: Math.floor(output * thought),
          requests: 1,
        };
        const price = priceOf(prefix);
        expect(boundFor(price, usageBound(price, { ...each, inputBuckets: ["cacheWrite5m"] }))).toBeGreaterThanOrEqual(
          chargeFor(price, { usage }),
        );
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  test("is estimated from lengths if an upstream reports no usage", () => {
    const bound = { inputTokens: 41, outputTokens: undefined, choices: 1 };
    expect(estimatedUsage(priceOf("up"), bound, 9)).toEqual({ input: 11, output: 3, requests: 1 });
    expect(estimatedUsage(priceOf("up"), { ...bound, inputTokens: 0 }, 0)).toEqual({
      input: 0,
      output: 0,
      requests: 1,
    });
  });
});

test("a minute counts the expected input and all requested output", () => {
  const bound = { inputTokens: 41, outputTokens: 100, choices: 2 };
  const price = priceOf("up");
  expect(expectedTokens(price, bound)).toBe(11 + 200);
  expect(expectedTokens(price, { ...bound, outputTokens: undefined })).toBe(11 + 2_000);
  expect(expectedTokens(price, { ...bound, outputTokens: 2 ** 53 })).toBe(1_000_000_000);
});

test("a part of unknown size counts as an average one, not as the amount held for it", () => {
  const bound = { inputTokens: 1_000_041, outputTokens: 0, choices: 1, unsizedParts: { parts: 1, tokens: 1_000_000 } };
  expect(estimatedUsage(priceOf("up"), bound, 0)).toMatchObject({ input: 1_011 });
  expect(expectedTokens({ ...priceOf("up"), contextWindow: 500 }, bound)).toBe(500);
});

describe("the usage of a call", () => {
  const price = priceOf("up");
  const bound = {
    inputTokens: 40,
    outputTokens: undefined,
    choices: 1,
    inputUnits: { inputAudioMs: 61_000 },
    expectedInput: {},
  };
  const none = (): number => 0;

  test("is the upstream's report", () => {
    const upstream = { usage: { input: 3, output: 4, requests: 1 }, reportedCost: 7n };
    expect(
      resolveUsage(
        { order: { price, bound: { inputTokens: 40, outputTokens: 9, choices: 1 } } },
        { upstream: upstream, outputBytes: none },
      ),
    ).toEqual(upstream);
  });

  test("is the gateway's own count, in units that the upstream does not report", () => {
    expect(
      resolveUsage({ order: { price, bound } }, { upstream: { usage: { output: 4, requests: 1 } }, outputBytes: none })
        .usage,
    ).toEqual({
      inputAudioMs: 61_000,
      output: 4,
      requests: 1,
    });
  });

  test("is counted in the answer, by its variant", () => {
    const counted = { usage: { images: 2 }, variant: { size: "1024x1024" } };
    const images = { inputTokens: 40, outputTokens: 0, choices: 2, expectedInput: { input: 9 } };
    expect(
      resolveUsage({ order: { price, bound: images } }, { upstream: undefined, outputBytes: none, counted }),
    ).toEqual({
      usage: { input: 9, output: 0, images: 2, requests: 1 },
      estimated: ["input"],
      variant: { size: "1024x1024" },
    });
    expect(
      resolveUsage(
        { order: { price, bound: images } },
        { upstream: { usage: { images: 1 } }, outputBytes: none, counted },
      ).usage,
    ).toEqual({
      images: 1,
      requests: 1,
    });
  });

  test("is the sum of several answers; a cost only if each reports one", () => {
    const one = { usage: { input: 1, outputImage: 5, requests: 1 }, reportedCost: 3n };
    const two = { usage: { input: 2, reasoning: 4, requests: 1 }, reportedCost: 4n };
    const usage = { input: 3, outputImage: 5, reasoning: 4, requests: 1 };
    expect(sumOf([one, two])).toEqual({ usage, reportedCost: 7n });
    expect(sumOf([one, { usage: two.usage }])).toEqual({ usage });
    expect(sumOf([undefined, undefined])).toBeUndefined();
    expect(sumOf([one])).toBe(one);
  });

  test("counts an answer without usage like the others, except for its images", () => {
    const one = { usage: { input: 1, images: 1, requests: 1 }, reportedCost: 3n };
    const estimated: UsageSide[] = ["input", "output"];
    expect(sumOf([one, undefined, one])).toEqual({ usage: { input: 3, requests: 1 }, estimated });
    expect(sumOf([undefined, one])).toEqual({ usage: { input: 2, requests: 1 }, estimated });
    expect(one.usage).toEqual({ input: 1, images: 1, requests: 1 });
  });

  test("is zero if each answer failed", () => {
    const failed = { usage: { images: 0, requests: 0 } };
    expect(sumOf([failed, failed])).toEqual(failed);
    expect(sumOf([failed, { usage: { images: 1, requests: 1 } }])).toEqual({ usage: { images: 1, requests: 1 } });
  });
});

describe("text whose tokens nobody counts", () => {
  const bound: WorkBound = { inputTokens: 400, outputTokens: 50, choices: 2 };
  const output = { wanted: 50, least: 50, limits: "never", ownLimit: 50 } as const;
  const written = (work: Partial<CountedWork>, outputBytes: number): number | undefined =>
    resolveUsage(
      { order: { price: priceOf("up"), bound, output }, ...work },
      { upstream: undefined, outputBytes: () => outputBytes },
    ).usage.output;

  test("is estimated by its bytes, within the limit of each choice, unless there is more than that can be", () => {
    expect(written({}, 360)).toBe(90);
    expect(written({}, 404)).toBe(100);
    // 16 bytes a token are the most.
    expect(written({}, 1_600)).toBe(100);
    expect(written({}, 1_601)).toBe(401);
  });

  test("is limited by what was sent, and by the model", () => {
    expect(written({ limits: { outputTokens: 30 } }, 404)).toBe(60);
    const order = { price: priceOf("window"), bound, output: { ...output, ownLimit: undefined } };
    expect(written({ order }, 1_200)).toBe(200);
    expect(written({ order: { ...order, price: priceOf("up") } }, 1_200)).toBe(300);
  });

  test("is counted on from the last count in the middle of a stream, within the limit too", () => {
    const work = { order: { price: priceOf("up"), bound, output } };
    const passed = (outputBytes: number) => withPassed(work, { usage: { output: 80 } }, outputBytes).usage.output;
    expect([0, 40, 200, 320, 321].map(passed)).toEqual([80, 90, 100, 100, 161]);
  });
});

describe("the usage of a part of a session", () => {
  const model = { contextWindow: 1_000, maxOutputTokens: 100 };
  const likely = {
    usage: { cacheRead: 50, inputAudio: 10, output: 20, outputAudio: 5, inputAudioMs: 1_000, requests: 1 },
  };
  const completed = (usage: Usage) => withEstimate({ usage }, likely, model);

  test("is estimated if its upstream reports nothing", () => {
    expect(withEstimate(undefined, likely, model)).toEqual({ ...likely, estimated: ["input", "output"] });
  });

  test("has the units that its upstream does not count: tokens or time", () => {
    expect(completed({ inputAudio: 90, input: 10, output: 30 })).toEqual({
      usage: { inputAudio: 90, input: 10, output: 30, inputAudioMs: 1_000, requests: 1 },
    });
    expect(completed({ inputAudioMs: 1_500 }).usage).toEqual({ ...likely.usage, inputAudioMs: 1_500 });
  });

  test.each<[string, Usage, Usage, UsageSide[]]>([
    ["none read", { input: 0, output: 30 }, { cacheRead: 50, inputAudio: 10, output: 30 }, ["input"]],
    ["none written", { input: 70, output: 0, outputAudio: 0 }, { input: 70, output: 20, outputAudio: 5 }, ["output"]],
    ["more than two windows", { input: 2_001, output: 1 }, { cacheRead: 50, inputAudio: 10, output: 1 }, ["input"]],
    [
      "more than twice the model's most",
      { input: 1, output: 201 },
      { input: 1, output: 20, outputAudio: 5 },
      ["output"],
    ],
    ["as much as there can be", { input: 2_000, output: 200 }, { input: 2_000, output: 200 }, []],
  ])("is estimated side by side: %s", (_title, told, used, estimated) => {
    const { usage, estimated: named = [] } = completed(told);
    expect([usage, [...named]]).toEqual([{ ...used, inputAudioMs: 1_000, requests: 1 }, estimated]);
  });

  test("of nothing is nothing", () => {
    const told = { usage: { input: 0, output: 0, requests: 1 } };
    expect(withEstimate(told, { usage: { requests: 1 } }, model)).toEqual(told);
  });
});

describe("a text whose client left before an answer began", () => {
  const order = orderOf({
    bound: { inputTokens: 400, outputTokens: 50, choices: 2 },
    output: { wanted: 50, least: 50, limits: "never", ownLimit: 50 },
  });
  test("costs its input, and of a whole answer what can have been written, at most its limit", () => {
    expect(abandonedUsage({ order }, 0).usage).toEqual({ input: 100, output: 0, requests: 1 });
    expect(abandonedUsage({ order }, 210)).toMatchObject({
      usage: { input: 100, output: 22 },
      estimated: ["input", "output"],
    });
    expect(abandonedUsage({ order }, 60_000).usage).toMatchObject({ output: 100 });
    expect(abandonedUsage({ order, limits: { outputTokens: 20 } }, 60_000).usage).toMatchObject({ output: 40 });
  });

  test("costs its input alone if it was to be streamed, or is no text", () => {
    expect(abandonedUsage({ order: { ...order, streamed: true } }, 60_000).usage).toMatchObject({
      input: 100,
      output: 0,
    });
    expect(abandonedUsage({ order: { ...order, output: undefined } }, 60_000).usage).toMatchObject({
      input: 100,
      output: 0,
    });
  });
});

describe("an upstream that reports only some counts", () => {
  const bound: WorkBound = {
    inputTokens: 100,
    outputTokens: undefined,
    choices: 1,
    expectedInput: { inputAudio: 90, input: 3 },
    inputUnits: { inputAudioMs: 9_000 },
  };
  test.each<[string, Partial<WorkBound>, Usage, Usage, UsageSide[] | undefined]>([
    [
      "tokens: the time is the file's",
      {},
      { input: 4, inputAudio: 80, output: 5 },
      { input: 4, inputAudio: 80, output: 5, inputAudioMs: 9_000, requests: 1 },
      undefined,
    ],
    [
      "time: tokens are the likely ones, and those of the text",
      {},
      { inputAudioMs: 8_000, requests: 1 },
      { inputAudioMs: 8_000, inputAudio: 90, input: 3, output: 3, requests: 1 },
      ["input", "output"],
    ],
    [
      "tokens, of a file that can't be read: the likely time",
      { expectedInput: { inputAudio: 90, inputAudioMs: 2_000 } },
      { input: 4 },
      { input: 4, inputAudioMs: 2_000, requests: 1 },
      undefined,
    ],
    [
      "everything: nothing is added",
      {},
      { input: 1, output: 3, inputAudioMs: 1, requests: 2 },
      { input: 1, output: 3, inputAudioMs: 1, requests: 2 },
      undefined,
    ],
    ["nothing but tokens are counted", { inputUnits: {} }, { output: 7 }, { output: 7, requests: 1 }, undefined],
  ])("%s", (_title, more, usage, completed, estimated) => {
    const reportedCost = 5n;
    expect(
      resolveUsage(
        { order: { price: priceOf("up"), bound: { ...bound, ...more } } },
        { upstream: { usage, reportedCost }, outputBytes: () => 12 },
      ),
    ).toEqual({
      usage: completed,
      reportedCost,
      ...(estimated && { estimated }),
    });
  });
});
