/** Image generations by the official SDK, of each kind of upstream that has them; the charges are worked out by hand. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import {
  creditsText,
  decoded,
  expectCharged,
  expectRefusal,
  newClient,
  post,
  type Refusal,
  type Rig,
  sendRaw,
  type ShownImage,
  simulatedKey,
  startRig,
  userBooks,
} from "../kit/index.ts";

const path = "/v1/images/generations";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    config: {
      pricing: {
        models: {
          // Less than its answers report.
          "xai/grok-imagine-image-pro": { image: 0.05 },
          "local/*": { image: 0.01 },
        },
      },
    },
    providers: ({ providers }) => ({
      local: { kind: "openai-compatible", base_url: providers["openai-compatible"], api_key: simulatedKey },
    }),
  });
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

/** Nine letters and two blanks are three tokens at four characters each, as in the simulators. */
const prompt = "one red fox";

/** Of gpt-image-1, in nano-credits: a token of a text that goes in, and one of an image that comes out. */
const [gptText, gptImage] = [5_000n, 40_000n];
/** Of Google's nano-banana: a text token, a thinking token, and an image token. */
const [bananaText, bananaThought, bananaImage] = [1_500n, 7_500n, 30_000n];
const thoughts = 128;

type Asked = Partial<OpenAI.ImageGenerateParamsNonStreaming> & Record<string, unknown>;

interface Generation {
  model: string;
  asked: Asked;
  images: string[];
  nano: bigint;
  usage: Record<string, number>;
  /** The requests to the upstream. */
  told: object;
  /** The number of requests; one by default. */
  times?: number;
}

const seedream = "byteplus/seedream-5-0-260128";
const banana = "google/gemini-nano-banana-2.1";

function gptGeneration(asked: Asked, images: string[], tokens: number): Generation {
  return {
    model: "openai/gpt-image-1",
    asked,
    images,
    nano: 3n * gptText + BigInt(tokens) * gptImage,
    usage: { input: 3, output_image: tokens, images: images.length, requests: 1 },
    told: asked,
  };
}

function bananaGeneration(asked: Asked, images: string[], tokensEach: number, told: object): Generation {
  const count = images.length;
  const drawn = count * tokensEach;
  const thought = count * thoughts;
  const text = 3 * count;
  return {
    model: banana,
    asked,
    images,
    nano: BigInt(text) * bananaText + BigInt(thought) * bananaThought + BigInt(drawn) * bananaImage,
    usage: { input: text, reasoning: thought, output_image: drawn, images: count, requests: 1 },
    told: { contents: [{ role: "user", parts: [{ text: prompt }] }], ...told },
    times: count,
  };
}

function dallE(model: string, asked: Asked, images: string[], nanoEach: bigint): Generation {
  // Uncounted text tokens are estimated; they have no price here.
  const usage = { input: 3, images: images.length, requests: 1 };
  return { model, asked, images, nano: BigInt(images.length) * nanoEach, usage, told: asked };
}

function grok(model: string, asked: Asked, images: string[], nanoEach: bigint, told: object): Generation {
  return { ...dallE(model, asked, images, nanoEach), told };
}

function seedreamGeneration(asked: Asked, images: string[], pixels: number, told: object, times = 1): Generation {
  return {
    model: seedream,
    asked,
    images,
    // 0.035 credits an image; its tokens, 256 pixels each, have no price.
    nano: BigInt(images.length) * 35_000_000n,
    usage: { output_image: (images.length * pixels) / 256, images: images.length, requests: 1 },
    told,
    times,
  };
}

const square = "1024x1024";
const b64 = { response_format: "b64_json" } as const;

const generations: Record<string, Generation> = {
  "openai: medium, where nothing is said": gptGeneration({}, [`png ${square}`], 1_056),
  "openai: two of low quality": gptGeneration(
    { n: 2, quality: "low", size: square },
    [`png ${square}`, `png ${square}`],
    2 * 272,
  ),
  "openai: a wide one of high quality, as WebP": gptGeneration(
    { quality: "high", size: "1536x1024", output_format: "webp" },
    ["webp 1536x1024"],
    6_240,
  ),
  "openai: on glass, as jpeg can't be": gptGeneration(
    { background: "transparent", moderation: "low" },
    [`png ${square}`],
    1_056,
  ),
  "openai: dall-e-3, plain": dallE("openai/dall-e-3", {}, [`png ${square}`], 40_000_000n),
  "openai: dall-e-3 in HD": dallE("openai/dall-e-3", { quality: "hd", size: square }, [`png ${square}`], 80_000_000n),
  "openai: dall-e-3, wide and in HD, as base64": dallE(
    "openai/dall-e-3",
    { quality: "hd", size: "1792x1024", style: "natural", ...b64 },
    ["png 1792x1024"],
    120_000_000n,
  ),
  "openai: three of dall-e-2, small": dallE(
    "openai/dall-e-2",
    { n: 3, size: "256x256", response_format: "url" },
    ["png 256x256", "png 256x256", "png 256x256"],
    16_000_000n,
  ),
  "xai: by its address": grok("xai/grok-imagine-image", {}, [`jpeg ${square}`], 20_000_000n, { prompt }),
  "xai: two, wide, as base64": grok(
    "xai/grok-imagine-image",
    { n: 2, size: "1792x1024", quality: "high", ...b64 },
    ["jpeg 1360x768", "jpeg 1360x768"],
    20_000_000n,
    { prompt, n: 2, quality: "high", aspect_ratio: "16:9", resolution: "1k", ...b64 },
  ),
  "xai: the price that the answer names, not the list's": grok(
    "xai/grok-imagine-image-pro",
    { size: "2048x2048", ...b64 },
    ["jpeg 2048x2048"],
    70_000_000n,
    { prompt, aspect_ratio: "1:1", resolution: "2k", ...b64 },
  ),
  "byteplus: by its address": seedreamGeneration({}, ["jpeg 2048x2048"], 2_048 * 2_048, { prompt }),
  "byteplus: its own size, without a watermark, as base64": seedreamGeneration(
    { size: "2560x1440", watermark: false, quality: "high", user: "u", ...b64 },
    ["jpeg 2560x1440"],
    2_560 * 1_440,
    { prompt, size: "2560x1440", watermark: false, ...b64 },
  ),
  "byteplus: a size by its name, as PNG": seedreamGeneration(
    { size: "2K", output_format: "png", ...b64 },
    ["png 2048x2048"],
    2_048 * 2_048,
    { prompt, size: "2K", output_format: "png", ...b64 },
  ),
  "byteplus: two by two calls": seedreamGeneration(
    { n: 2 },
    ["jpeg 2048x2048", "jpeg 2048x2048"],
    2_048 * 2_048,
    { prompt },
    2,
  ),
  "byteplus: a sequence": seedreamGeneration(
    { sequential_image_generation: "auto", sequential_image_generation_options: { max_images: 3 } },
    ["jpeg 2048x2048", "jpeg 2048x2048", "jpeg 2048x2048"],
    2_048 * 2_048,
    { prompt, sequential_image_generation: "auto", sequential_image_generation_options: { max_images: 3 } },
  ),
  "google: one": bananaGeneration({}, [`png ${square}`], 1_120, {
    generationConfig: { responseModalities: ["IMAGE"] },
  }),
  "google: three by three calls": bananaGeneration(
    { n: 3, ...b64 },
    [`png ${square}`, `png ${square}`, `png ${square}`],
    1_120,
    { generationConfig: { responseModalities: ["IMAGE"] } },
  ),
  "google: wide, at 2K": bananaGeneration({ size: "1920x1080", quality: "high" }, ["png 2736x1536"], 1_680, {
    generationConfig: { responseModalities: ["IMAGE"], imageConfig: { aspectRatio: "16:9", imageSize: "2K" } },
  }),
  "google: a small one": bananaGeneration({ size: "512x512", output_format: "png" }, ["png 512x512"], 747, {
    generationConfig: { responseModalities: ["IMAGE"], imageConfig: { aspectRatio: "1:1", imageSize: "512" } },
  }),
  "google: the first model, which doesn't think": {
    model: "google/gemini-2.5-flash-image",
    asked: { size: "1536x1024" },
    images: ["png 1248x832"],
    nano: 3n * 300n + 1_290n * 30_000n,
    usage: { input: 3, output_image: 1_290, images: 1, requests: 1 },
    told: { generationConfig: { responseModalities: ["IMAGE"], imageConfig: { aspectRatio: "3:2" } } },
  },
};

describe("a generation by the SDK, its images and its charge", () => {
  test.each(Object.entries(generations))("%s", async (_what, { model, asked, images, told, times = 1, ...charged }) => {
    const { client, caller } = await newClient(rig);
    const body = { model, prompt, ...asked } as OpenAI.ImageGenerateParamsNonStreaming;
    const { data: answer, response } = await client.images.generate(body).withResponse();
    expect(await decoded(answer.data)).toEqual(images);
    expect(response.headers.get("x-tollgate-credits")).toBe(creditsText(charged.nano));
    await expectCharged(rig, caller, response, charged);
    const asks = rig.simulators.requests().filter(({ method }) => method === "POST");
    expect(asks).toHaveLength(times);
    for (const { body: sent } of asks) expect(JSON.parse(sent)).toMatchObject(told);
  });
});

function generate(token: string, body: string | object): Promise<Response> {
  return post(rig, path, token, body);
}

describe("the client's own fields", () => {
  const lastBody = (): string | undefined => rig.simulators.requests().at(-1)?.body;

  test.each<[string, string, string]>([
    ["openai", '{ "prompt":"gr\\u00f6\\u00dfer" , "n" :1,"model":"openai/gpt-image-1"}', "openai/"],
    ["xai", '{ "prompt":"gr\\u00f6\\u00dfer" , "n" :1,"model":"xai/grok-imagine-image"}', "xai/"],
    [
      "byteplus",
      '{ "watermark" :false,"prompt":"gr\\u00f6\\u00dfer" ,"model":"byteplus/seedream-5-0-260128"}',
      "byteplus/",
    ],
  ])("%s gets byte for byte, without the prefix, and the client its bytes", async (kind, body, prefix) => {
    const answer = await generate((await rig.caller()).token, body);
    const text = await answer.text();
    expect(lastBody()).toBe(body.replace(prefix, ""));
    const base = rig.simulators.providers[kind as "openai" | "xai" | "byteplus"];
    const again = await fetch(`${base}/images/generations`, {
      method: "POST",
      headers: { authorization: `Bearer ${simulatedKey}`, "content-type": "application/json" },
      body: body.replace(prefix, ""),
    });
    expect(text).toBe(await again.text());
  });

  test("google's answer is OpenAI's object, its usage taken apart", async () => {
    const answer = await generate((await rig.caller()).token, { model: banana, prompt, n: 2 });
    const { data, created, ...rest } = (await answer.json()) as { data: ShownImage[]; created: number };
    expect(rest).toEqual({
      background: "opaque",
      output_format: "png",
      usage: {
        input_tokens: 6,
        output_tokens: 2 * (1_120 + thoughts),
        total_tokens: 6 + 2 * (1_120 + thoughts),
        input_tokens_details: { text_tokens: 6, image_tokens: 0 },
        output_tokens_details: { text_tokens: 2 * thoughts, image_tokens: 2 * 1_120 },
      },
    } as never);
    expect(created).toBeInteger();
    expect(data.map((image) => Object.keys(image))).toEqual([["b64_json"], ["b64_json"]]);
  });
});

describe("refused before anything is sent", () => {
  const unmapped = (model: string, size: string): [string, object, Refusal] => [
    `${model}: the size ${size}`,
    { model, prompt, size },
    { status: 422, code: "validation_failed", param: "size", message: "this upstream makes images of 1:1" },
  ];
  const none = (model: string): [string, object, Refusal] => [
    `${model}: its provider has none`,
    { model, prompt },
    {
      status: 404,
      code: "unsupported_operation",
      param: "model",
      message: `The provider ${model.split("/")[0]} has no image_generation operation.`,
    },
  ];
  const invalid = (what: string, more: object, param: string): [string, object, Refusal] => [
    what,
    { model: banana, prompt, ...more },
    { status: 422, code: "validation_failed", param },
  ];

  test.each<[string, object, Refusal]>([
    unmapped("google/gemini-2.5-flash-image", "2048x2048"),
    unmapped(banana, "1000x300"),
    unmapped("xai/grok-imagine-image", "512x512"),
    unmapped("xai/grok-imagine-image", "huge"),
    none("anthropic/claude-haiku-4-5"),
    none("deepseek/deepseek-chat"),
    none("mistral/mistral-small-latest"),
    none("local/local-draw"),
    invalid("google: an address", { response_format: "url" }, "response_format"),
    invalid("google: glass", { background: "transparent" }, "background"),
    invalid("google: JPEG", { output_format: "jpeg" }, "output_format"),
    invalid("no prompt", { prompt: undefined }, "prompt"),
    invalid("eleven images", { n: 11 }, "n"),
    invalid("a size that is no text", { size: 1_024 }, "size"),
    [
      "byteplus: several sequences",
      { model: seedream, prompt, n: 2, sequential_image_generation: "auto" },
      { status: 422, code: "validation_failed", param: "n" },
    ],
    [
      "a model without a price",
      { model: "openai/unheard-of", prompt },
      { status: 404, code: "model_unpriced", param: "model" },
    ],
    [
      "a model that is priced for other work",
      { model: "openai/text-embedding-3-small", prompt },
      { status: 404, code: "model_unpriced", param: "model" },
    ],
  ])("%s", async (_what, body, refusal) => {
    const caller = await rig.caller();
    const answer = await generate(caller.token, body);
    expectRefusal(answer, await answer.text(), refusal);
    expect(rig.simulators.total()).toBe(0);
    expect(await caller.closed()).toBe(0n);
  });

  test("the SDK throws the error of its kind", async () => {
    const { client } = await newClient(rig);
    const thrown: unknown = await client.images
      .generate({ model: banana, prompt, size: "1024x1792", background: "transparent" })
      .catch((reason: unknown) => reason);
    expect(thrown).toBeInstanceOf(OpenAI.UnprocessableEntityError);
    expect(thrown).toMatchObject({ status: 422, code: "validation_failed", param: "background" });
  });
});

describe("models and credits of a token", () => {
  const ask = (token: string, model: string, more: object = {}) => generate(token, { model, prompt, ...more });

  test("a token with globs uses no other image model", async () => {
    const token = await rig.gateway.token({ user: "bound", models: ["xai/*", "openai/dall-e-2"] });
    for (const model of ["openai/dall-e-3", banana, seedream]) {
      const refused = await ask(token, model);
      expectRefusal(refused, await refused.text(), { status: 404, code: "model_not_routed", param: "model" });
    }
    expect(rig.simulators.total()).toBe(0);
    expect((await ask(token, "xai/grok-imagine-image")).status).toBe(200);
    expect((await ask(token, "openai/dall-e-2", { size: "256x256" })).status).toBe(200);
  });

  test.each<[string, object, bigint]>([
    ["openai/dall-e-3", { quality: "hd", size: square }, 80_000_000n],
    ["openai/dall-e-2", { n: 2, size: "256x256" }, 32_000_000n],
    ["xai/grok-imagine-image", { n: 3 }, 60_000_000n],
    [seedream, { n: 2 }, 70_000_000n],
    [seedream, { sequential_image_generation: "auto" }, 15n * 35_000_000n],
  ])("%s %o: without the credits nothing is sent, with them it is", async (model, more, nano) => {
    const user = `poor-${model}-${nano}`;
    const poor = await rig.gateway.token({ user, credits: nano - 1n });
    const refused = await ask(poor, model, more);
    expectRefusal(refused, await refused.text(), {
      status: 402,
      code: "insufficient_credits",
      type: "insufficient_credits",
      message: /needs up to [\d.]+, [\d.]+ are left\.$/,
    });
    expect(rig.simulators.total()).toBe(0);
    const rich = await rig.gateway.token({ user: `rich-${user}`, credits: nano });
    expect((await ask(rich, model, more)).status).toBe(200);
  });

  test("of a thousand at once, on a balance for ten, exactly ten", async () => {
    const token = await rig.gateway.token({ user: "ten", credits: 10n * 16_000_000n });
    const body = JSON.stringify({ model: "openai/dall-e-2", prompt, size: "256x256" });
    const head = [`POST ${path} HTTP/1.1`, "host: gateway", `authorization: Bearer ${token}`];
    // On connections of their own: `fetch` would make a few hundred wait.
    const call = [...head, `content-length: ${body.length}`, "", body].join("\r\n");
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => sendRaw(rig.gateway.url, call)));
    const of = (status: number) => answers.filter((answer) => answer?.status === status).length;
    expect([of(200), of(402)]).toEqual([10, 990]);
    expect(rig.simulators.total()).toBe(10);
    expect(await userBooks(rig.gateway, "ten")).toMatchObject({ spent: 160_000_000n, held: 0n });
  });
});
