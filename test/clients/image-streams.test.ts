/** Streams of images with the official SDK: events of each kind, their charges, and the charges of broken streams. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import {
  type Charged,
  decoded,
  EventReader,
  expectCharged,
  faultPrices,
  newClient,
  post,
  type Rig,
  type ScriptedUpstream,
  type ShownImage,
  simulatedKey,
  startRig,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";

const path = "/v1/images/generations";

let rig: Rig;
let scripted: ScriptedUpstream;
/** Ended by a test in the middle of an answer. */
let falling: ScriptedUpstream;
beforeAll(async () => {
  [scripted, falling] = [startScriptedUpstream(), startScriptedUpstream()];
  const drawn = { input_mtok: 5, output_mtok: 40 };
  rig = await startRig({
    config: {
      upstream: { retries: 0, idle_timeout: "1s" },
      pricing: { models: { ...faultPrices, "odd/*": drawn, "falling/*": drawn } },
    },
    providers: () => ({
      odd: { kind: "openai", base_url: scripted.url, api_key: simulatedKey },
      falling: { kind: "openai", base_url: falling.url, api_key: simulatedKey },
    }),
  });
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await scripted.stop();
});

/** Three tokens. */
const prompt = "one red fox";
const gpt = "openai/gpt-image-1";
const seedream = "byteplus/seedream-5-0-260128";
const banana = "google/gemini-nano-banana-2.1";

/** Missing in the SDK's own types, because only other upstreams send it. */
type ImageEvent = ShownImage & { type: string; error?: { code: string }; usage?: object; [more: string]: unknown };

interface Streamed {
  events: ImageEvent[];
  /** Of a stream that ends with an error. */
  thrown: unknown;
  response: Response;
}

async function streamed(client: OpenAI, body: object): Promise<Streamed> {
  const asked = { prompt, ...body, stream: true } as OpenAI.ImageGenerateParamsStreaming;
  const { data, response } = await client.images.generate(asked).withResponse();
  const events: ImageEvent[] = [];
  try {
    for await (const event of data) events.push({ ...event });
  } catch (thrown) {
    return { events, thrown, response };
  }
  return { events, thrown: undefined, response };
}

const typesOf = (events: readonly ImageEvent[]): string[] =>
  events.map(({ type }) => type.replace(/^image_generation\./, ""));

function gptCharge(tokens: number, images: number): Charged {
  const usage = { input: 3, output_image: tokens, images, requests: 1 };
  return { nano: 3n * 5_000n + BigInt(tokens) * 40_000n, usage };
}

/** Of images of 2048 by 2048 pixels. */
function seedreamCharge(images: number): Charged {
  const usage = { output_image: images * 16_384, images, requests: 1 };
  return { nano: BigInt(images) * 35_000_000n, usage };
}

function bananaCharge(images: number): Charged {
  const usage = { input: 3 * images, reasoning: 128 * images, output_image: 1_120 * images, images, requests: 1 };
  return { nano: BigInt(images) * (3n * 1_500n + 128n * 7_500n + 1_120n * 30_000n), usage };
}

interface Whole {
  body: object;
  types: string[];
  /** Of all events that hold an image, previews included. */
  images: string[];
  charged: Charged;
}

const square = "png 1024x1024";
const wide = "jpeg 2048x2048";
const sequence = (count: number) => ({
  sequential_image_generation: "auto",
  sequential_image_generation_options: { max_images: count },
});

const wholes: Record<string, Whole> = {
  "openai, with previews, which count as well": {
    body: { model: gpt, partial_images: 2, quality: "low" },
    types: ["partial_image", "partial_image", "completed"],
    images: [square, square, square],
    charged: gptCharge(272 + 2 * 100, 1),
  },
  "openai, without previews": {
    body: { model: gpt, size: "1024x1536" },
    types: ["completed"],
    images: ["png 1024x1536"],
    charged: gptCharge(1_584, 1),
  },
  "openai, two, each with its preview and its usage": {
    body: { model: gpt, n: 2, partial_images: 1, output_format: "webp" },
    types: ["partial_image", "completed", "partial_image", "completed"],
    images: ["webp 1024x1024", "webp 1024x1024", "webp 1024x1024", "webp 1024x1024"],
    charged: gptCharge(2 * (1_056 + 100), 2),
  },
  "xai, which knows no streams": {
    body: { model: "xai/grok-imagine-image", partial_images: 3, n: 2 },
    types: ["completed", "completed"],
    images: ["jpeg 1024x1024", "jpeg 1024x1024"],
    charged: { nano: 40_000_000n, usage: { input: 3, images: 2, requests: 1 } },
  },
  "google, which knows no previews": {
    body: { model: banana, partial_images: 1, n: 3 },
    types: ["completed", "completed", "completed"],
    images: [square, square, square],
    charged: bananaCharge(3),
  },
  "byteplus, one": {
    body: { model: seedream, partial_images: 2 },
    types: ["completed"],
    images: [wide],
    charged: seedreamCharge(1),
  },
  "byteplus, a sequence": {
    body: { model: seedream, ...sequence(3) },
    types: ["completed", "completed", "completed"],
    images: [wide, wide, wide],
    charged: seedreamCharge(3),
  },
  "byteplus, two by two calls": {
    body: { model: seedream, n: 2 },
    types: ["completed", "completed"],
    images: [wide, wide],
    charged: seedreamCharge(2),
  },
};

describe("a whole stream", () => {
  test.each(Object.entries(wholes))("%s", async (_what, { body, types, images, charged }) => {
    const { client, caller } = await newClient(rig);
    const { events, thrown, response } = await streamed(client, body);
    expect(thrown).toBeUndefined();
    expect(typesOf(events)).toEqual(types);
    const shown = events.filter(({ b64_json, url }) => (b64_json ?? url) !== undefined);
    expect(await decoded(shown)).toEqual(images);
    // The last event contains the usage, by which the SDK's users bill their own.
    if (!("model" in body && String(body.model).startsWith("xai/"))) expect(events.at(-1)?.usage).toBeDefined();
    await expectCharged(rig, caller, response, charged);
  });

  test.each([gpt, seedream])("%s: the events' bytes are the upstream's", async (model) => {
    const caller = await rig.caller();
    const body = JSON.stringify({ model, prompt, stream: true });
    const answer = await post(rig, path, caller.token, body);
    expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
    const kind = model.startsWith("openai/") ? "openai" : "byteplus";
    const direct = await fetch(`${rig.simulators.providers[kind]}/images/generations`, {
      method: "POST",
      headers: { authorization: `Bearer ${simulatedKey}`, "content-type": "application/json" },
      body: body.replace(`${kind}/`, ""),
    });
    expect(await answer.text()).toBe(await direct.text());
  });
});

/** Streams without the SDK, which goes away at the first event that holds an error. */
async function openStream(body: object, signal?: AbortSignal) {
  const caller = await rig.caller();
  const answer = await post(rig, path, caller.token, { prompt, stream: true, ...body }, { ...(signal && { signal }) });
  return { caller, reader: new EventReader(answer), response: answer };
}

const previews = { quality: "low", partial_images: 2 };
/** A preview was sent: its image counts as drawn, as far as anybody can know. */
const begun = (outcome: string): Charged => ({
  nano: 3n * 5_000n + 272n * 40_000n,
  usage: { input: 3, output_image: 272, requests: 1 },
  outcome,
});
const free = (outcome: string): Charged => ({ nano: 0n, usage: {}, outcome });
/** Images of a sequence without a final count. */
const counted = (images: number, outcome: string): Charged => ({
  nano: BigInt(images) * 35_000_000n,
  usage: { input: 3, images, requests: 1 },
  outcome,
});

interface Broken {
  body: object;
  types: string[];
  /** Of the error event that ends it. */
  code: string | null;
  charged: Charged;
}

describe("a stream that breaks off", () => {
  const silent: Record<string, Broken> = {
    "before anything came: free": {
      body: { model: `${gpt}+stall-0`, ...previews },
      types: [],
      code: "upstream_timeout",
      charged: free("failed"),
    },
    "behind a preview: the image that was begun": {
      body: { model: `${gpt}+stall-1`, ...previews },
      types: ["partial_image"],
      code: "upstream_timeout",
      charged: begun("interrupted"),
    },
    "between two images: the one that came, which the client gets": {
      body: { model: `${gpt}+stall-1`, quality: "low", n: 2 },
      types: ["completed"],
      code: "upstream_timeout",
      charged: { ...gptCharge(272, 1), outcome: "interrupted" },
    },
    "behind two images of a sequence: those": {
      body: { model: `${seedream}+stall-2`, ...sequence(3) },
      types: ["completed", "completed"],
      code: "upstream_timeout",
      charged: counted(2, "interrupted"),
    },
    "at once, in silence: free": {
      body: { model: `${gpt}+empty`, ...previews },
      types: [],
      code: "upstream_interrupted",
      charged: free("failed"),
    },
  };

  // Side by side, since they wait for a time-out.
  test("is charged for the received images", async () => {
    const checks = Object.entries(silent).map(async ([what, { body, types, code, charged }]) => {
      const { client, caller } = await newClient(rig);
      const { events, thrown, response } = await streamed(client, body);
      expect([what, typesOf(events)]).toEqual([what, types]);
      expect(thrown).toBeInstanceOf(OpenAI.APIError);
      expect(thrown).toMatchObject({ code });
      await expectCharged(rig, caller, response, charged);
    });
    await Promise.all(checks);
  });

  test("by a cut behind a preview: the image that was begun", async () => {
    const preview = { type: "image_generation.partial_image", b64_json: "AAAA", size: "1024x1024", quality: "low" };
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) =>
        controller.enqueue(Buffer.from(`event: ${preview.type}\ndata: ${JSON.stringify(preview)}\n\n`)),
    });
    falling.answerWith(() => new Response(stream, { headers: { "content-type": "text/event-stream" } }));
    const { caller, reader, response } = await openStream({ model: "falling/draws", ...previews });
    expect(await reader.next()).toContain(preview.type);
    await falling.stop();
    expect(await reader.next()).toContain('"code":"upstream_interrupted"');
    expect(await reader.next()).toBeUndefined();
    await expectCharged(rig, caller, response, begun("interrupted"));
  });
});

describe("Seedream's streams", () => {
  const failing = { model: seedream, prompt: "fail:2 3 images", ...sequence(3) };

  test("for OpenAI's SDKs have the images that failed behind the last one", async () => {
    const { client, caller } = await newClient(rig);
    const { events, thrown, response } = await streamed(client, failing);
    expect(thrown).toBeUndefined();
    expect(typesOf(events)).toEqual(["completed", "completed"]);
    expect(await decoded(events)).toEqual([wide, wide]);
    expect(events.map(({ usage, failed }) => [usage === undefined, failed === undefined])).toEqual([
      [true, true],
      [false, false],
    ]);
    expect(events.at(-1)).toMatchObject({ failed: [{ index: 1, error: {} }], output_format: "jpeg" });
    await expectCharged(rig, caller, response, seedreamCharge(2));
  });

  test("in which all images failed end with an error", async () => {
    const { client, caller } = await newClient(rig);
    const { events, thrown, response } = await streamed(client, { model: seedream, prompt: "fail:1" });
    expect(events).toEqual([]);
    expect(thrown).toMatchObject({ code: "OutputImageSensitiveContentDetected" });
    await expectCharged(rig, caller, response, { nano: 0n, usage: {} });
  });

  test.each([
    ["the AI SDK", "/v1", { "user-agent": "ai/7 ai-sdk/openai/4" }, true],
    ["any other client", "/v1", {}, false],
    ["BytePlus's group", "/v1/byteplus", { "x-stainless-lang": "js" }, false],
  ])("for %s", async (_who, base, headers, isOpenai) => {
    const { token } = await rig.caller();
    const response = await fetch(`${rig.gateway.url}${base}/images/generations`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      body: JSON.stringify({ ...failing, stream: true }),
    });
    const text = await response.text();
    expect(text.includes("partial_succeeded")).toBe(!isOpenai);
    expect(text.includes("partial_failed")).toBe(!isOpenai);
    expect(text.includes('"failed":[')).toBe(isOpenai);
  });
});

describe("a stream with a failure", () => {
  const failing: Record<string, Broken> = {
    "behind a preview: free": {
      body: { model: `${gpt}+error-1`, ...previews },
      types: ["partial_image"],
      code: null,
      charged: free("failed"),
    },
    "behind one of three images: free, and that one is recorded": {
      body: { model: `${seedream}+error-1`, ...sequence(3) },
      types: ["completed"],
      code: "InternalServiceError",
      charged: { ...counted(1, "failed"), nano: 0n },
    },
  };

  test.each(Object.entries(failing))("%s", async (_what, { body, types, code, charged }) => {
    const { client, caller } = await newClient(rig);
    const { events, thrown, response } = await streamed(client, body);
    expect(typesOf(events)).toEqual(types);
    expect(thrown).toMatchObject({ code });
    await expectCharged(rig, caller, response, charged);
  });

  test.each<[string, object, string[], Charged]>([
    [
      "one of three images: relayed, and not charged",
      { prompt: "fail:2 3 images", ...sequence(3) },
      ["partial_succeeded", "partial_failed", "partial_succeeded", "completed"],
      seedreamCharge(2),
    ],
    ["all of them: free", { prompt: "fail:1" }, ["partial_failed", "completed"], { nano: 0n, usage: {} }],
    [
      "one of two calls: behind what came",
      { prompt: "fail:1", n: 2 },
      ["partial_failed", "partial_failed"],
      { nano: 0n, usage: {} },
    ],
  ])("byteplus, of %s", async (_what, body, types, charged) => {
    const { caller, reader, response } = await openStream({ model: seedream, ...body });
    const names = [...(await reader.rest()).matchAll(/^event: image_generation\.(\w+)$/gm)].map(([, name]) => name);
    expect(names).toEqual(types);
    await expectCharged(rig, caller, response, charged);
  });

  test("of one image makes the SDK throw", async () => {
    const { client, caller } = await newClient(rig);
    const { thrown } = await streamed(client, { model: seedream, prompt: "fail:1" });
    expect(thrown).toMatchObject({ code: "OutputImageSensitiveContentDetected" });
    expect(await caller.closed()).toBe(0n);
  });

  test("in an event that is no JSON passes it, and reads the others", async () => {
    const { caller, reader, response } = await openStream({ model: `${gpt}+malformed`, ...previews });
    const text = await reader.rest();
    expect(text.match(/^event: /gm)).toHaveLength(3);
    await expectCharged(rig, caller, response, gptCharge(272 + 200, 1));
  });
});

describe("a client that hangs up", () => {
  test("after a preview pays for the started image, once, and the upstream is aborted", async () => {
    const abort = new AbortController();
    const body = { model: `${gpt}+stall-1`, ...previews };
    const { caller, reader, response } = await openStream(body, abort.signal);
    expect(await reader.next()).toContain("event: image_generation.partial_image");
    abort.abort();
    await expectCharged(rig, caller, response, begun("abandoned"));
    await until("the upstream is left", () => rig.simulators.requests().at(-1)?.outcome === "aborted");
    expect(rig.simulators.total()).toBe(1);
  });

  test("within a sequence pays for the images that came", async () => {
    const abort = new AbortController();
    const body = { model: `${seedream}+stall-2`, ...sequence(4) };
    const { caller, reader, response } = await openStream(body, abort.signal);
    expect(await reader.next()).toContain('"image_index":0');
    expect(await reader.next()).toContain('"image_index":1');
    abort.abort();
    await expectCharged(rig, caller, response, counted(2, "abandoned"));
    expect(rig.simulators.total()).toBe(1);
  });
});

test("events of many megabytes pass in one piece each, and are charged by the last one's count", async () => {
  // No image compresses like the simulators' pictures of one colour: these are as long as real ones are.
  const image = Buffer.alloc(3 * 1024 * 1024, 0xa5).toString("base64");
  const event = (type: string, more: object): string =>
    `event: image_generation.${type}\ndata: ${JSON.stringify({ type: `image_generation.${type}`, b64_json: image, ...more })}\n\n`;
  const usage = { input_tokens: 3, output_tokens: 372, total_tokens: 375 };
  const text = event("partial_image", { partial_image_index: 0 }) + event("completed", { usage });
  scripted.answerWith(() => new Response(text, { headers: { "content-type": "text/event-stream" } }));
  const { caller, reader, response } = await openStream({ model: "odd/draws", partial_images: 1 });
  expect((await reader.rest()) === text).toBe(true);
  await expectCharged(rig, caller, response, gptCharge(372, 1));
});
