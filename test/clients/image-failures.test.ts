/** Images that are refused, or that an upstream fails to generate: the error, and that nothing is charged. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import {
  type Charged,
  creditsText,
  decoded,
  expectCharged,
  faultPrices,
  newClient,
  type Rig,
  type ScriptedUpstream,
  simulatedKey,
  startRig,
  startScriptedUpstream,
} from "../kit/index.ts";

let rig: Rig;
let scripted: ScriptedUpstream;
beforeAll(async () => {
  scripted = startScriptedUpstream();
  rig = await startRig({
    config: { upstream: { retries: 1 }, pricing: { models: { ...faultPrices, "odd/*": { requests_kcount: 1_000 } } } },
    providers: () => ({ odd: { kind: "byteplus", base_url: scripted.url, api_key: simulatedKey } }),
  });
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await scripted.stop();
});

const prompt = "one red fox";
const gpt = "openai/gpt-image-1";
const grok = "xai/grok-imagine-image";
const seedream = "byteplus/seedream-5-0-260128";
const banana = "google/gemini-nano-banana-2.1";
const kinds = [gpt, grok, seedream, banana];

/** The cost of such a call with an image. */
const ofOne: Record<string, bigint> = {
  [gpt]: 3n * 5_000n + 1_056n * 40_000n,
  [grok]: 20_000_000n,
  [seedream]: 35_000_000n,
  [banana]: 3n * 1_500n + 128n * 7_500n + 1_120n * 30_000n,
};

type Whole = OpenAI.ImageGenerateParamsNonStreaming;

function generate(client: OpenAI, body: object) {
  return client.images.generate({ prompt, ...body } as Whole).withResponse();
}

/** The SDK's error of a call that fails, which has the answer's headers. */
async function failureOf(client: OpenAI, body: object) {
  const failed: unknown = await generate(client, body).catch((thrown: unknown) => thrown);
  if (failed instanceof OpenAI.APIError && failed.headers instanceof Headers) return failed;
  throw new Error(`no error by an answer: ${String(failed)}`);
}

const free = (outcome: string): Charged => ({ nano: 0n, usage: {}, outcome });

describe("refusals by an upstream's safety system", () => {
  test.each<[string, object, object]>([
    [
      "openai",
      { model: gpt, prompt: "refuse:violence" },
      { status: 400, code: "moderation_blocked", type: "image_generation_user_error" },
    ],
    [
      "openai's older models",
      { model: "openai/dall-e-3", prompt: "refuse:violence" },
      { status: 400, code: "content_policy_violation", type: "invalid_request_error" },
    ],
    [
      "byteplus",
      { model: seedream, prompt: "refuse:violence" },
      { status: 400, code: "InputTextSensitiveContentDetected", type: "BadRequest" },
    ],
    [
      "byteplus, of two calls",
      { model: seedream, prompt: "refuse:violence", n: 2 },
      { status: 400, code: "InputTextSensitiveContentDetected", type: "BadRequest" },
    ],
    [
      "google, the picture",
      { model: banana, prompt: "refuse:violence" },
      { status: 400, code: "moderation_blocked", type: "image_generation_user_error", param: null },
    ],
    [
      "google, the prompt",
      { model: banana, prompt: "refuse:prompt", n: 2 },
      { status: 400, code: "moderation_blocked", type: "image_generation_user_error", param: null },
    ],
    [
      "google, in words alone",
      { model: banana, prompt: "textonly" },
      { status: 400, code: "image_missing", type: "image_generation_user_error", param: null },
    ],
  ])("%s: reported in OpenAI's format, and free", async (_what, body, error) => {
    const { client, caller } = await newClient(rig);
    const failed = await failureOf(client, body);
    expect(failed).toMatchObject(error);
    await expectCharged(rig, caller, failed, free("failed"));
  });

  test("xai reports it in the image's place, with its cost", async () => {
    const { client, caller } = await newClient(rig);
    const { data, response } = await generate(client, { model: grok, prompt: "refuse:violence" });
    expect(data.data).toMatchObject([{ respect_moderation: false }]);
    expect(data.data?.[0]?.url).toBeUndefined();
    // 15 bytes of text; it charges for withheld images, as documented.
    const usage = { input: 4, requests: 1 };
    await expectCharged(rig, caller, response, { nano: 20_000_000n, usage });
  });
});

describe("images of byteplus that fail by themselves", () => {
  const sequence = {
    sequential_image_generation: "auto",
    sequential_image_generation_options: { max_images: 4 },
  };
  /** The places and codes of the images that failed, which the SDK's types do not have. */
  const failures = (answer: object) =>
    ((answer as { failed?: { index: number; error: { code: string } }[] }).failed ?? []).map(({ index, error }) => [
      index,
      error.code,
    ]);
  const code = "OutputImageSensitiveContentDetected";

  test("stand beside the others for the SDK, and are not charged", async () => {
    const { client, caller } = await newClient(rig);
    const body = { model: seedream, prompt: "4 images fail:1 fail:3", ...sequence };
    const { data, response } = await generate(client, body);
    expect(failures(data)).toEqual([
      [0, code],
      [2, code],
    ]);
    expect((await decoded(data.data ?? [])).length).toBe(2);
    expect(response.headers.get("x-tollgate-credits")).toBe("0.07");
    await expectCharged(rig, caller, response, {
      nano: 70_000_000n,
      usage: { output_image: 2 * 16_384, images: 2, requests: 1 },
    });
  });

  test("are relayed in their place to any other client, and in BytePlus's group", async () => {
    const { token } = await rig.caller();
    const ask = (base: string, headers: Record<string, string>) =>
      fetch(`${rig.gateway.url}${base}/images/generations`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
        body: JSON.stringify({ model: seedream, prompt: "4 images fail:1 fail:3", ...sequence }),
      });
    const answers = [await ask("/v1", {}), await ask("/v1/byteplus", { "x-stainless-lang": "js" })];
    for (const answer of answers) {
      const { data } = (await answer.json()) as { data: { error?: { code: string } }[] };
      expect(data.map(({ error }) => error?.code)).toEqual([code, undefined, code, undefined]);
    }
  });

  test.each([1, 3])("all of them, by %d calls: free", async (n) => {
    const { client, caller } = await newClient(rig);
    const { data, response } = await generate(client, { model: seedream, prompt: "fail:1", n });
    expect([data.data, failures(data)]).toEqual([[], Array.from({ length: n }, (_, index) => [index, code])]);
    expect(response.headers.get("x-tollgate-credits")).toBe("0");
    await expectCharged(rig, caller, response, { nano: 0n, usage: {} });
  });

  test("all of them are free even with a price per call", async () => {
    const failed = { data: [{ error: { code, message: "no" } }], usage: { generated_images: 0, output_tokens: 0 } };
    scripted.answerWith(() => Response.json(failed));
    const { client, caller } = await newClient(rig);
    await generate(client, { model: "odd/draws" });
    await generate(client, { model: "odd/draws", n: 2 });
    expect(await caller.closed()).toBe(0n);
  });
});

describe("an upstream that fails", () => {
  const faults: [fault: string, status: number, code: string | undefined][] = [
    ["status-500", 500, undefined],
    ["status-429", 429, undefined],
    ["connect-reset", 502, "upstream_unreachable"],
    ["malformed", 502, "upstream_invalid_answer"],
    ["empty", 502, "upstream_invalid_answer"],
    ["html-502", 502, undefined],
    ["cut-0", 502, "upstream_interrupted"],
    ["cut-1", 502, "upstream_interrupted"],
    ["truncate", 502, "upstream_interrupted"],
  ];

  // Side by side, since some of them wait for another attempt.
  test.each(kinds)("%s: nothing is charged, whichever way", async (model) => {
    const checks = faults.map(async ([fault, status, code]) => {
      const { client, caller } = await newClient(rig);
      const failed = await failureOf(client, { model: `${model}+${fault}`, ...(model === gpt ? {} : { n: 2 }) });
      expect([fault, failed]).toMatchObject([fault, { status, ...(code && { code }) }]);
      await expectCharged(rig, caller, failed, free("failed"));
    });
    await Promise.all(checks);
  });

  test.each([gpt, grok, seedream])("%s under a status of success, by its own answer: free", async (model) => {
    const { client, caller } = await newClient(rig);
    const { response } = await generate(client, { model: `${model}+error-200` });
    expect(response.headers.get("x-tollgate-credits")).toBe("0");
    await expectCharged(rig, caller, response, free("failed"));
  });

  test.each<[string, object]>([
    [banana, {}],
    [seedream, { n: 2 }],
    [grok, { stream: true }],
  ])("%s %o with a success status, if the answer would be converted: 502, and free", async (model, more) => {
    const { client, caller } = await newClient(rig);
    const failed = await failureOf(client, { model: `${model}+error-200`, ...more });
    expect(failed).toMatchObject({ status: 502 });
    await expectCharged(rig, caller, failed, free("failed"));
  });

  test.each(kinds)("%s once: another attempt follows, and is charged once", async (model) => {
    const { client, caller } = await newClient(rig);
    const { data, response } = await generate(client, { model: `${model}+status-500+times-1` });
    expect(await decoded(data.data)).toHaveLength(1);
    expect(rig.simulators.total()).toBeGreaterThanOrEqual(2);
    expect(response.headers.get("x-tollgate-credits")).toBe(creditsText(ofOne[model] ?? 0n));
    expect(await caller.closed()).toBe(ofOne[model] ?? 0n);
  });

  test.each(kinds)("%s to report usage: charged by the received images", async (model) => {
    const { client, caller } = await newClient(rig);
    const { response } = await generate(client, { model: `${model}+no-usage` });
    // An image of Google's is taken for one of OpenAI's, and no thoughts for any.
    const nano = model === banana ? 3n * 1_500n + 1_056n * 30_000n : (ofOne[model] ?? 0n);
    expect(response.headers.get("x-tollgate-credits")).toBe(creditsText(nano));
    expect(await caller.closed()).toBe(nano);
  });
});

describe("of several calls in place of one", () => {
  test.each([
    [banana, "status-400"],
    [banana, "malformed"],
    [banana, "cut-1"],
    [seedream, "status-400"],
    [seedream, "truncate"],
  ])("%s: one fails by %s, and the others are answered and charged", async (model, fault) => {
    const { client, caller } = await newClient(rig);
    const { data, response } = await generate(client, { model: `${model}+${fault}+times-1`, n: 3 });
    expect(await decoded(data.data)).toHaveLength(2);
    expect(rig.simulators.total()).toBeGreaterThanOrEqual(3);
    const nano = 2n * (ofOne[model] ?? 0n);
    expect(response.headers.get("x-tollgate-credits")).toBe(creditsText(nano));
    expect(await caller.closed()).toBe(nano);
  });

  test("all but the last fail: the last is reported", async () => {
    const { client, caller } = await newClient(rig);
    const { data } = await generate(client, { model: `${banana}+status-400+times-2`, n: 3 });
    expect(await decoded(data.data)).toHaveLength(1);
    expect(await caller.closed()).toBe(ofOne[banana] ?? 0n);
  });

  test("a stream contains all of them", async () => {
    const { client, caller } = await newClient(rig);
    const model = `${seedream}+status-400+times-1`;
    const stream = await client.images.generate({ model, prompt, n: 3, stream: true });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect(types).toEqual(["image_generation.completed", "image_generation.completed"]);
    expect(await caller.closed()).toBe(70_000_000n);
  });
});
