import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { WorkBound } from "../core/index.ts";
import type { ModelPrice } from "../pricing/index.ts";
import { credits, priceOf, refusalOf, WorkScene } from "./__fixtures__/work-scene.ts";
import { type OutputHold, outputHold, type RequestedAnswer } from "./output-hold.ts";

const price: ModelPrice = { ...priceOf("up"), contextWindow: 200_000, maxOutputTokens: 64_000 };
const bound: WorkBound = { inputTokens: 100, outputTokens: undefined, choices: 1 };

const holdOf = (answer: Partial<RequestedAnswer>): OutputHold =>
  outputHold({ price, bound, streamed: false, hidesThought: true, isAnswerOnly: false, limitMin: 1, ...answer });

const limited = (outputTokens: number): WorkBound => ({ ...bound, outputTokens });

describe("of a stream whose output all passes by", () => {
  test.each<[string, Partial<RequestedAnswer>, OutputHold]>([
    ["little is held", { hidesThought: false }, { wanted: 2_048, least: 256, most: 64_000, limits: "never" }],
    [
      "no more is held than it is limited to",
      { hidesThought: false, bound: limited(100) },
      { wanted: 100, least: 100, most: 100, limits: "never", ownLimit: 100 },
    ],
    [
      "no more is held than the model can write",
      { hidesThought: false, price: { ...price, maxOutputTokens: 500 } },
      { wanted: 500, least: 256, most: 500, limits: "never" },
    ],
  ])("%s", (_title, answer, hold) => {
    expect(holdOf({ streamed: true, ...answer })).toEqual(hold);
  });
});

describe("of any other answer", () => {
  test.each<[string, Partial<RequestedAnswer>, OutputHold]>([
    ["a request without a limit gets one", {}, { wanted: 32_768, least: 256, limits: "always" }],
    ["so does a stream that may hide thought", { streamed: true }, { wanted: 32_768, least: 256, limits: "always" }],
    [
      "it is at most the model's own",
      { price: { ...price, maxOutputTokens: 8_192 } },
      { wanted: 8_192, least: 256, limits: "always" },
    ],
    [
      "it is at most the context window",
      { price: { ...price, contextWindow: 4_000 } },
      { wanted: 4_000, least: 256, limits: "always" },
    ],
    [
      "the request's own limit is held",
      { bound: limited(5_000) },
      { wanted: 5_000, least: 256, limits: "if-fewer", ownLimit: 5_000 },
    ],
    ["a low one is held whole", { bound: limited(20) }, { wanted: 20, least: 20, limits: "if-fewer", ownLimit: 20 }],
    [
      "a limit above the model's is held as the model's",
      { bound: limited(1_000_000) },
      { wanted: 64_000, least: 256, limits: "if-fewer", ownLimit: 1_000_000 },
    ],
    [
      "a limit that leaves thought unlimited is held as the model's",
      { bound: limited(200), isAnswerOnly: true },
      { wanted: 64_000, least: 256, limits: "if-fewer" },
    ],
    [
      "more than the budget for thinking is held",
      { bound: { ...limited(20_000), outputTokensMin: 10_064 } },
      { wanted: 20_000, least: 10_064, limits: "if-fewer", ownLimit: 20_000 },
    ],
    [
      "no less is held than the upstream accepts as a limit",
      { limitMin: 300 },
      { wanted: 32_768, least: 300, limits: "always" },
    ],
    [
      "a model without a known maximum is assumed to write less",
      { price: priceOf("up") },
      { wanted: 8_192, least: 256, limits: "always" },
    ],
    [
      "unless the request's own limit says otherwise",
      { price: priceOf("up"), bound: limited(1_000_000) },
      { wanted: 1_000_000, least: 256, limits: "if-fewer", ownLimit: 1_000_000 },
    ],
    [
      "a model of which only the window is known gets what that leaves",
      { price: { ...priceOf("up"), contextWindow: 1_000 } },
      { wanted: 900, least: 256, limits: "always" },
    ],
    [
      "at least a quarter of the window, because the input is bounded generously",
      { price: { ...priceOf("up"), contextWindow: 1_000 }, bound: { ...bound, inputTokens: 990 } },
      { wanted: 250, least: 250, limits: "always" },
    ],
  ])("%s", (_title, answer, hold) => {
    expect(holdOf(answer)).toEqual(hold);
  });

  test("a free one is never limited", () => {
    const { rates } = price;
    const free = { ...rates.output, base: 0n, highest: 0n };
    const hold = holdOf({ price: { ...price, rates: { ...rates, output: free, reasoning: free } } });
    expect(hold.limits).toBe("never");
  });
});

describe("opening", () => {
  let scene: WorkScene;
  beforeEach(async () => {
    scene = await WorkScene.start();
  });
  afterEach(() => scene.stop());

  /** 100 tokens of input at 1,000 nano-credits, and output at 2,000 each. */
  const order = (output: OutputHold, choices = 1) => ({
    bound: { inputTokens: 100, outputTokens: undefined, choices },
    output,
  });
  const all: OutputHold = { wanted: 32_768, least: 256, limits: "always" };
  const input = 100_000n;

  test("holds the output that is wanted if the credits suffice", async () => {
    const work = await scene.open(order({ ...all, wanted: 300 }));
    expect(await scene.held()).toBe(input + 600_000n);
    expect(work.limits.outputTokens).toBe(300);
  });

  test("holds as much as the credits suffice for, and limits the request to that", async () => {
    const work = await scene.open(order(all));
    expect(work.limits.outputTokens).toBe(450);
    expect(await scene.held()).toBe(credits);
  });

  test("counts the tokens of each choice", async () => {
    const work = await scene.open(order({ ...all, least: 100 }, 3));
    expect(work.limits.outputTokens).toBe(150);
    expect(await scene.held()).toBe(credits);
  });

  test("leaves a limit of the request that fits, and lowers one that does not", async () => {
    expect((await scene.open(order({ ...all, wanted: 450, limits: "if-fewer" }))).limits.outputTokens).toBeUndefined();
    await scene.stop();
    scene = await WorkScene.start();
    expect((await scene.open(order({ ...all, wanted: 451, limits: "if-fewer" }))).limits.outputTokens).toBe(450);
  });

  test("never limits a stream that is topped up", async () => {
    const work = await scene.open(order({ ...all, limits: "never" }));
    expect(work.limits.outputTokens).toBeUndefined();
    expect(await scene.held()).toBe(credits);
  });

  test("is refused if the least does not fit, stating what is needed and what there is", async () => {
    const error = await refusalOf(scene.open(order({ ...all, least: 451 })));
    expect(error).toMatchObject({ code: "insufficient_credits", status: 402 });
    expect(error.message).toBe(
      "Not enough credits: this call needs 0.001002 for its input and 451 tokens of output, 0.001 are left.",
    );
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  });

  test("by many at once never holds more than there is, and uses all of it", async () => {
    const opened = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) => scene.open({ ...order({ ...all, least: 10 }), id: `req_${index}` })),
    );
    const open = opened.filter(({ status }) => status === "fulfilled");
    expect(open.length).toBeGreaterThan(0);
    const { held = 0n } = await scene.balances();
    expect(held).toBeLessThanOrEqual(credits);
    // Nobody else could have begun with the rest.
    expect(credits - held).toBeLessThan(input + 10n * 2_000n);
    for (const each of opened) {
      if (each.status === "rejected") expect(each.reason).toMatchObject({ code: "insufficient_credits" });
    }
  });
});
