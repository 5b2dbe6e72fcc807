/** Edits of images by the official SDK, which sends forms, and as JSON; the charges are worked out by hand. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type OpenAI from "openai";
import { imageFile } from "../../simulators/testing/media.ts";
import {
  creditsText,
  decoded,
  expectCharged,
  expectRefusal,
  faultPrices,
  lastReceived,
  newClient,
  post,
  type Refusal,
  type Rig,
  sha256,
  type ShownImage,
  simulatedKey,
  startRig,
} from "../kit/index.ts";

const path = "/v1/images/edits";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    config: { upstream: { retries: 1 }, pricing: { models: { ...faultPrices, "local/*": { image: 0.01 } } } },
    providers: ({ providers }) => ({
      openai: { kind: "openai", base_url: providers.openai, api_key: simulatedKey, shared_stores: true },
      local: { kind: "openai-compatible", base_url: providers["openai-compatible"], api_key: simulatedKey },
    }),
  });
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

/** Three tokens. */
const prompt = "one red fox";
const gpt = "openai/gpt-image-1";
const grok = "xai/grok-imagine-image";
const seedream = "byteplus/seedream-5-0-260128";
const banana = "google/gemini-nano-banana-2.1";

const hashOf = async (file: File): Promise<string> => sha256(await file.bytes());

/** A picture of 512 by 512 pixels with bytes behind it that no text holds, and some that look like a form's. */
async function picture(format: "png" | "jpeg" | "webp", mark: number): Promise<File> {
  const noise = Buffer.from(Array.from({ length: 2_000 }, (_, index) => (index * mark) % 256));
  const head = await imageFile(512, 512, format).bytes();
  return new File([head, noise, "\r\n--\r\n\r\n----form\r\n"], `größe ${mark} "x".${format}`, {
    type: `image/${format}`,
  });
}

const [red, green, mask] = await Promise.all([picture("png", 7), picture("jpeg", 11), picture("png", 13)]);

interface Edit {
  model: string;
  asked: Omit<Partial<OpenAI.ImageEditParamsNonStreaming>, "image"> & { image: File | File[] };
  images: string[];
  nano: bigint;
  usage: Record<string, number>;
}

/** An image of one tile counts 194 tokens, a mask as well. */
function gptEdit(asked: Edit["asked"], images: string[], sources: number, tokens: number): Edit {
  return {
    model: gpt,
    asked,
    images,
    nano: 3n * 5_000n + BigInt(194 * sources) * 10_000n + BigInt(tokens) * 40_000n,
    usage: {
      input: 3,
      input_image: 194 * sources,
      output_image: tokens,
      images: images.length,
      input_images: [asked.image].flat().length,
      requests: 1,
    },
  };
}

/** Two cents per image, 0.2 cents per input image; uncounted tokens are estimated, and have no price. */
function grokEdit(asked: Edit["asked"], images: string[], pictures = [asked.image].flat().length): Edit {
  const sources = [asked.image].flat().length;
  return {
    model: grok,
    asked,
    images,
    nano: BigInt(images.length) * 20_000_000n + BigInt(sources) * 2_000_000n,
    usage: { input: 3, input_image: 1_000 * pictures, images: images.length, input_images: sources, requests: 1 },
  };
}

function seedreamEdit(asked: Edit["asked"], images: string[]): Edit {
  const sources = [asked.image].flat().length * images.length;
  return {
    model: seedream,
    asked,
    images,
    nano: BigInt(images.length) * 35_000_000n,
    usage: { output_image: 16_384 * images.length, images: images.length, input_images: sources, requests: 1 },
  };
}

function bananaEdit(asked: Edit["asked"], images: string[]): Edit {
  const count = images.length;
  const sources = [asked.image].flat().length;
  const tokensIn = 3 + 258 * sources;
  return {
    model: banana,
    asked,
    images,
    nano: BigInt(count) * (BigInt(tokensIn) * 1_500n + 128n * 7_500n + 1_120n * 30_000n),
    usage: {
      input: 3 * count,
      input_image: 258 * sources * count,
      reasoning: 128 * count,
      output_image: 1_120 * count,
      images: count,
      input_images: sources,
      requests: 1,
    },
  };
}

const square = "png 1024x1024";
const wide = "jpeg 2048x2048";

const edits: Record<string, Edit> = {
  "openai: one": gptEdit({ image: red }, [square], 1, 1_056),
  "openai: several": gptEdit({ image: [red, green], quality: "low" }, [square], 2, 272),
  "openai: with a mask": gptEdit(
    { image: [red], mask, n: 2, size: "1536x1024" },
    ["png 1536x1024", "png 1536x1024"],
    2,
    3_168,
  ),
  "xai: one, which keeps its size": grokEdit({ image: red, n: 2 }, ["jpeg 512x512", "jpeg 512x512"]),
  "xai: several": grokEdit({ image: [red, green], size: "1536x1024" }, ["jpeg 1248x832"]),
  "xai: with a mask": grokEdit({ image: red, mask, response_format: "b64_json" }, ["jpeg 512x512"], 2),
  "byteplus: one": seedreamEdit({ image: red }, [wide]),
  "byteplus: several": seedreamEdit({ image: [red, green], response_format: "b64_json" }, [wide]),
  "byteplus: one, twice": seedreamEdit({ image: red, n: 2 }, [wide, wide]),
  "google: one": bananaEdit({ image: red }, [square]),
  "google: several": bananaEdit({ image: [green, red], size: "1024x1024" }, [square]),
  "google: one, three times": bananaEdit({ image: red, n: 3 }, [square, square, square]),
};

/** The files that an upstream got, by their hashes, masks last: parts of a form, or data within JSON. */
function receivedFiles(): string[][] {
  return rig.simulators
    .requests()
    .filter(({ method }) => method === "POST")
    .map(({ parts, body }) => {
      if (parts !== null) return parts.filter(({ filename }) => filename !== null).map((part) => part.sha256);
      const data = [...body.matchAll(/"(?:data:image\/\w+;base64,|data":")([A-Za-z0-9+/=]+)"/g)];
      return data.map(([, base64 = ""]) => sha256(Buffer.from(base64, "base64")));
    });
}

describe("an edit by the SDK, its images and its charge", () => {
  test.each(Object.entries(edits))("%s", async (_what, { model, asked, images, ...charged }) => {
    const { client, caller } = await newClient(rig);
    const { data, response } = await client.images.edit({ model, prompt, ...asked }).withResponse();
    expect(await decoded(data.data)).toEqual(images);
    expect(response.headers.get("x-tollgate-credits")).toBe(creditsText(charged.nano));
    await expectCharged(rig, caller, response, charged);
    // Every byte of every file has come through.
    const files = await Promise.all([asked.image, asked.mask ?? []].flat().map((file) => hashOf(file as File)));
    const received = receivedFiles();
    expect(received.length).toBeGreaterThan(0);
    for (const hashes of received) expect(hashes).toEqual(files);
  });

  test("openai's form has the parts that the SDK sent, names and types included", async () => {
    const { client } = await newClient(rig);
    await client.images.edit({ model: gpt, prompt, image: [red, green], mask, quality: "high" });
    const { parts, headers } = lastReceived(rig);
    expect(headers["content-type"]).toStartWith("multipart/form-data; boundary=");
    const shown = (parts ?? []).map(({ name, filename, contentType, text }) => ({ name, filename, contentType, text }));
    const file = (name: string, { type }: File, filename: string) => ({
      name,
      filename,
      contentType: type,
      text: null,
    });
    const field = (name: string, text: string) => ({ name, filename: null, contentType: null, text });
    expect(shown).toEqual([
      field("model", "gpt-image-1"),
      field("prompt", prompt),
      file("image[]", red, "größe 7 %22x%22.png"),
      file("image[]", green, "größe 11 %22x%22.jpeg"),
      file("mask", mask, "größe 13 %22x%22.png"),
      field("quality", "high"),
    ]);
  });

  test.each<[string, string[], string]>([
    [gpt, ["image_edit.partial_image", "image_edit.completed"], square],
    [grok, ["image_edit.completed"], "jpeg 512x512"],
    [banana, ["image_edit.completed"], square],
  ])("%s, streamed", async (model, types, last) => {
    const { client, caller } = await newClient(rig);
    const events: (ShownImage & { type: string })[] = [];
    const stream = await client.images.edit({ model, prompt, image: red, stream: true, partial_images: 1 });
    for await (const event of stream) events.push({ ...event });
    expect(events.map(({ type }) => type)).toEqual(types);
    expect(await decoded(events.slice(-1))).toEqual([last]);
    const preview = model === gpt ? 100n * 40_000n : 0n;
    const whole = Object.values(edits).find((candidate) => candidate.model === model);
    // The first of each kind but xai's, which makes two.
    const nano = model === grok ? 22_000_000n : (whole?.nano ?? 0n) + preview;
    expect(await caller.closed()).toBe(nano);
  });
});

function edit(token: string, body: string | object): Promise<Response> {
  return post(rig, path, token, body);
}

async function dataUrl(file: File): Promise<string> {
  return `data:${file.type};base64,${Buffer.from(await file.bytes()).toString("base64")}`;
}

describe("an edit as JSON", () => {
  test.each<[string, (url: string) => object]>([
    [gpt, (url) => ({ images: [{ image_url: url }, { file_id: "file-1" }] })],
    [grok, (url) => ({ image: { url, type: "image_url" } })],
    [grok, (url) => ({ images: [{ image_url: url }, { image_url: "https://pictures.example/cat.png" }] })],
  ])("%s: the client's own bytes, without the prefix", async (model, imagesOf) => {
    const caller = await rig.caller();
    const [prefix = ""] = model.split("/");
    const more = JSON.stringify(imagesOf(await dataUrl(red))).slice(1, -1);
    const body = `{ "prompt" : "gr\\u00f6\\u00dfer", ${more} , "model":"${model}"}`;
    const answer = await edit(caller.token, body);
    expect(answer.status).toBe(200);
    expect(lastReceived(rig).body).toBe(body.replace(`${prefix}/`, ""));
    expect(await caller.closed()).toBeGreaterThan(0n);
  });

  test.each<[string, bigint]>([
    [gpt, 3n * 5_000n + 194n * 10_000n + 1_056n * 40_000n],
    [grok, 22_000_000n],
    [seedream, 35_000_000n],
    [banana, 261n * 1_500n + 128n * 7_500n + 1_120n * 30_000n],
  ])("%s: OpenAI's form of it is understood and charged", async (model, nano) => {
    const caller = await rig.caller();
    const answer = await edit(caller.token, { model, prompt, images: [{ image_url: await dataUrl(red) }] });
    expect(await decoded(((await answer.json()) as { data: ShownImage[] }).data)).toHaveLength(1);
    expect(receivedFiles()).toEqual([[await hashOf(red)]]);
    expect(await caller.closed()).toBe(nano);
  });

  test.each([
    [seedream, '"image":"https://pictures.example/cat.png"'],
    [banana, '"fileUri":"https://pictures.example/cat.png"'],
  ])("%s: an address is the upstream's to fetch", async (model, told) => {
    const caller = await rig.caller();
    const answer = await edit(caller.token, { model, prompt, image: "https://pictures.example/cat.png" });
    expect(answer.status).toBe(200);
    expect(lastReceived(rig).body).toContain(told);
  });
});

describe("refused before anything is sent", () => {
  const images = [{ image_url: "https://pictures.example/cat.png" }];
  const invalid = (param: string, message = ""): Refusal => ({
    status: 422,
    code: "validation_failed",
    param,
    message,
  });
  const none = (model: string): [string, object, Refusal] => [
    `${model}: its provider has none`,
    { model, images },
    {
      status: 404,
      code: "unsupported_operation",
      param: "model",
      message: `The provider ${model.split("/")[0]} has no image_edit operation.`,
    },
  ];

  test.each<[string, object, Refusal]>([
    none("anthropic/claude-haiku-4-5"),
    none("deepseek/deepseek-chat"),
    none("mistral/mistral-small-latest"),
    none("local/local-draw"),
    ["no image", { model: gpt }, invalid("image", "an edit needs an image")],
    ["no images", { model: gpt, images: [] }, invalid("image", "an edit needs an image")],
    ["an image that is none", { model: seedream, images: [{}] }, invalid("images.0")],
    ["byteplus: a mask", { model: seedream, images, mask: images[0] }, invalid("mask", "without masks")],
    ["google: a mask", { model: banana, images, mask: images[0] }, invalid("mask", "without masks")],
    [
      "google: a stored file",
      { model: banana, images: [{ file_id: "file-1" }] },
      invalid("images.0", "no stored files"),
    ],
    ["google: data of no type", { model: banana, image: "data:,x" }, invalid("image", "expected an address")],
    ["google: a size", { model: banana, images, size: "1x9000" }, invalid("size", "this upstream makes images of")],
    ["xai: the size of a single image", { model: grok, images, size: "1024x1024" }, invalid("size", "leave it out")],
  ])("%s", async (_what, body, refusal) => {
    const caller = await rig.caller();
    const answer = await edit(caller.token, { prompt, ...body });
    expectRefusal(answer, await answer.text(), refusal);
    expect(rig.simulators.total()).toBe(0);
    expect(await caller.closed()).toBe(0n);
  });

  test.each<[string, bigint]>([
    [grok, 22_000_000n],
    [seedream, 35_000_000n],
  ])("%s: without the credits for all that it will cost", async (model, nano) => {
    const asked = { model, prompt, image: await dataUrl(red) };
    const poor = await rig.gateway.token({ user: `poor-${model}`, credits: nano - 1n });
    expect((await edit(poor, asked)).status).toBe(402);
    expect(rig.simulators.total()).toBe(0);
    const rich = await rig.gateway.token({ user: `rich-${model}`, credits: nano });
    expect((await edit(rich, asked)).status).toBe(200);
    // The charge did not exceed the hold.
    await rig.expectBalancedBooks();
  });

  test.each<[string, string, string]>([
    ["byteplus", seedream, "mask"],
    ["google", banana, "mask"],
  ])("%s: a mask in a form", async (_kind, model, param) => {
    const { client, caller } = await newClient(rig);
    const thrown: unknown = await client.images
      .edit({ model, prompt, image: red, mask })
      .catch((reason: unknown) => reason);
    expect(thrown).toMatchObject({ status: 422, code: "validation_failed", param });
    expect(rig.simulators.total()).toBe(0);
    expect(await caller.closed()).toBe(0n);
  });
});

describe("an upstream that refuses or fails", () => {
  const broken = new File(["no picture"], "cat.png", { type: "image/png" });

  test.each([gpt, grok, seedream, banana])("%s: a file that is no picture: its own refusal, free", async (model) => {
    const { client, caller } = await newClient(rig);
    const thrown: unknown = await client.images
      .edit({ model, prompt, image: broken })
      .catch((reason: unknown) => reason);
    expect(thrown).toMatchObject({ status: 400 });
    expect(rig.simulators.total()).toBe(1);
    expect(await caller.closed()).toBe(0n);
  });

  test("is asked again with the whole form", async () => {
    const { client, caller } = await newClient(rig);
    await client.images.edit({ model: `${gpt}+status-500+times-1`, prompt, image: [red, green] });
    const hashes = [await hashOf(red), await hashOf(green)];
    expect(receivedFiles()).toEqual([hashes, hashes]);
    expect(await caller.closed()).toBe(3n * 5_000n + 2n * 194n * 10_000n + 1_056n * 40_000n);
  });

  test("permanently is reported, and free", async () => {
    const { client, caller } = await newClient(rig);
    for (const [model, status] of [
      [`${gpt}+connect-reset`, 502],
      [`${banana}+malformed`, 502],
      [`${seedream}+status-400`, 400],
    ] as const) {
      const thrown: unknown = await client.images
        .edit({ model, prompt, image: red })
        .catch((reason: unknown) => reason);
      expect(thrown).toMatchObject({ status });
    }
    expect(await caller.closed()).toBe(0n);
  });
});
