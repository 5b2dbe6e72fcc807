/** The image operations against running simulators: their requests are accepted and the answers are read. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { CallFile, JsonObject, ModelOperation, Usage } from "../core/index.ts";
import { edited } from "./shared/__fixtures__/edited.ts";
import type { UpstreamOperation } from "./provider.ts";
import { createProvider } from "./registry.ts";
import { imageFile } from "./shared/__fixtures__/image-file.ts";

const AT = 1_764_000_000;

type Kind = "openai" | "xai" | "byteplus" | "google";
type ImageOperation = Extract<ModelOperation, "image_generation" | "image_edit">;

let urls: Record<string, string> = {};
let simulators: Bun.Subprocess<"pipe", "pipe", "inherit"> | undefined;

beforeAll(async () => {
  const main = new URL("../../simulators/main.ts", import.meta.url).pathname;
  simulators = Bun.spawn([process.execPath, main, "--exit-with-parent"], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await simulators.stdout.getReader().read();
  urls = (JSON.parse(Buffer.from(value ?? []).toString()) as { providers: Record<string, string> }).providers;
});
afterAll(async () => {
  simulators?.kill();
  await simulators?.exited;
});

interface Asked {
  kind: Kind;
  operation?: ImageOperation;
  model: string;
  body?: JsonObject;
  files?: readonly CallFile[];
}

interface Answered {
  statuses: number[];
  answers: JsonObject[];
  /** The answer that the client receives. */
  shown: JsonObject;
  usages: (Usage | undefined)[];
}

function operationOf(kind: Kind, name: ImageOperation): UpstreamOperation {
  const operation = createProvider({ kind, baseUrl: "" }).operations[name];
  if (operation === undefined) throw new Error(`${kind} has no ${name}`);
  return operation;
}

/** The part of the pipeline's work on a call that depends on the operation. */
async function ask({
  kind,
  operation: name = "image_generation",
  model,
  body: more = {},
  files = [],
}: Asked): Promise<Answered> {
  const operation = operationOf(kind, name);
  const body: JsonObject = { model: `${kind}/${model}`, prompt: "a red fox", ...more };
  const reshaped = await operation.toUpstream?.({ body, files }, model);
  const requests = reshaped?.requests ?? [{}];
  const responses = await Promise.all(
    requests.map(({ subpath = "", json }) => {
      const text =
        json === undefined ? sent(operation, body, model) : JSON.stringify("model" in json ? { ...json, model } : json);
      const provider = createProvider({ kind, baseUrl: "" });
      const headers = { "content-type": "application/json", ...provider.headers("good-key", operation.path) };
      return fetch(`${urls[kind]}${operation.path}${subpath}`, { method: "POST", headers, body: text });
    }),
  );
  const answers = await Promise.all(responses.map(async (response) => (await response.json()) as JsonObject));
  const ok = responses.every((response) => response.ok);
  const merged = (ok ? reshaped?.answer?.(answers, AT) : undefined) ?? answers[0] ?? {};
  if ("bytes" in merged) throw new Error("images are JSON");
  return {
    statuses: responses.map(({ status }) => status),
    answers,
    shown: merged,
    usages: answers.map((answer) => operation.readUsage(answer)?.usage),
  };
}

function sent(operation: UpstreamOperation, body: JsonObject, model: string): string {
  const named = { set: "model", value: JSON.stringify(model) };
  return edited(JSON.stringify(body), [named, ...operation.edits(body, "m")]);
}

const filled = (usage: Usage | undefined) =>
  usage && Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== 0));
const imagesOf = ({ data }: JsonObject) => (Array.isArray(data) ? (data as JsonObject[]) : []);

/** Width and height from a PNG's header or a JPEG's frame. */
function sizeOf(base64: unknown): string {
  const bytes = Buffer.from(String(base64), "base64");
  if (bytes.toString("latin1", 1, 4) === "PNG") return `${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`;
  const frame = bytes.indexOf(Buffer.from([0xff, 0xc0]));
  return `${bytes.readUInt16BE(frame + 7)}x${bytes.readUInt16BE(frame + 5)}`;
}

describe("openai", () => {
  test("a generation is charged by its tokens", async () => {
    const { statuses, usages } = await ask({ kind: "openai", model: "gpt-image-1", body: { size: "1024x1024", n: 2 } });
    expect(statuses).toEqual([200]);
    // Nine letters are three tokens; two square images of medium quality have 1,056 each.
    expect(filled(usages[0])).toEqual({ input: 3, outputImage: 2_112, requests: 1 });
  });

  test("an older model reports no usage", async () => {
    const { statuses, usages } = await ask({ kind: "openai", model: "dall-e-3", body: { size: "1792x1024" } });
    expect(statuses).toEqual([200]);
    expect(usages).toEqual([undefined]);
  });

  test("an edit in JSON is also charged for its input images", async () => {
    const images = [{ file_id: "file-1" }];
    const { usages } = await ask({ kind: "openai", operation: "image_edit", model: "gpt-image-1", body: { images } });
    // An image of 1024 pixels is reduced to one tile: 65 and 129 tokens.
    expect(filled(usages[0])).toEqual({ input: 3, inputImage: 194, outputImage: 1_056, requests: 1 });
  });
});

describe("xai", () => {
  const model = "grok-imagine-image";

  test("a size is sent in xAI's terms", async () => {
    const body = { size: "1792x1024", response_format: "b64_json", moderation: "low", n: 2 };
    const { statuses, shown, usages } = await ask({ kind: "xai", model, body });
    expect(statuses).toEqual([200]);
    expect(imagesOf(shown)).toHaveLength(2);
    const [width = 0, height = 1] = sizeOf(imagesOf(shown)[0]?.["b64_json"]).split("x").map(Number);
    expect(Math.abs(width / height / (16 / 9) - 1)).toBeLessThan(0.02);
    expect(usages).toEqual([{ requests: 1 }]);
  });

  test("edits in a form, in OpenAI's JSON and with a URL are accepted", async () => {
    const edit = { kind: "xai", operation: "image_edit", model } as const;
    const { shown } = await ask({ kind: "xai", model });
    const url = String(imagesOf(shown)[0]?.["url"]);
    expect((await ask({ ...edit, files: [imageFile("image"), imageFile("mask")] })).statuses).toEqual([200]);
    expect(
      (await ask({ ...edit, files: [imageFile("image"), imageFile("image")], body: { size: "1024x1024" } })).statuses,
    ).toEqual([200]);
    expect((await ask({ ...edit, body: { images: [{ image_url: url }, { file_id: "file-1" }] } })).statuses).toEqual([
      200,
    ]);
    expect((await ask({ ...edit, body: { image: url, size: "auto" } })).statuses).toEqual([200]);
  });

  test("a withheld image is reported, with its price", async () => {
    const { shown, usages } = await ask({ kind: "xai", model, body: { prompt: "refuse:violence" } });
    expect(imagesOf(shown)).toMatchObject([{ respect_moderation: false }]);
    expect(usages).toEqual([{ requests: 1 }]);
  });
});

describe("byteplus", () => {
  const model = "seedream-5-0-260128";

  test("OpenAI's fields are accepted", async () => {
    const body = { n: 1, quality: "high", user: "u", size: "2048x2048", watermark: false };
    const { statuses, usages } = await ask({ kind: "byteplus", model, body });
    expect(statuses).toEqual([200]);
    // 2048 by 2048 pixels, 256 per token.
    expect(filled(usages[0])).toEqual({ images: 1, outputImage: 16_384, requests: 1 });
  });

  test("several images need several calls, which are merged into one answer", async () => {
    const { statuses, shown, usages } = await ask({ kind: "byteplus", model, body: { n: 3 } });
    expect(statuses).toEqual([200, 200, 200]);
    expect(imagesOf(shown)).toHaveLength(3);
    expect(shown["usage"]).toMatchObject({ generated_images: 3, output_tokens: 49_152 });
    expect(usages.map((usage) => usage?.images)).toEqual([1, 1, 1]);
  });

  test("failed images of a sequence are reported and not counted", async () => {
    const body = { prompt: "3 images fail:2", sequential_image_generation: "auto" };
    const { shown, usages } = await ask({ kind: "byteplus", model, body });
    expect(imagesOf(shown).map((entry) => "error" in entry)).toEqual([false, true, false]);
    expect(usages[0]?.images).toBe(2);
    const none = await ask({ kind: "byteplus", model, body: { prompt: "fail:1" } });
    expect(filled(none.usages[0])).toEqual({});
  });

  test("an edit in a form is sent as a generation", async () => {
    const edit = { kind: "byteplus", operation: "image_edit", model } as const;
    const { statuses, usages } = await ask({ ...edit, files: [imageFile("image"), imageFile("image")] });
    expect(statuses).toEqual([200]);
    expect(filled(usages[0])).toEqual({ images: 1, inputImages: 2, outputImage: 16_384, requests: 1 });
  });
});

describe("google", () => {
  const model = "gemini-nano-banana-2.1";

  test("the requested size is generated", async () => {
    const { statuses, shown, usages } = await ask({ kind: "google", model, body: { size: "2048x2048" } });
    expect(statuses).toEqual([200]);
    expect(sizeOf(imagesOf(shown)[0]?.["b64_json"])).toBe("2048x2048");
    expect(shown).toMatchObject({
      created: AT,
      output_format: "png",
      usage: { input_tokens: 3, output_tokens: 1_808 },
    });
    // 1,680 tokens for 2K, and 128 of reasoning; nine letters are three tokens.
    expect(filled(usages[0])).toEqual({ input: 3, outputImage: 1_680, reasoning: 128, requests: 1 });
  });

  test("the first model has one resolution, in any ratio", async () => {
    const call = { kind: "google", model: "gemini-2.5-flash-image", body: { size: "1536x1024" } } as const;
    const { statuses, usages } = await ask(call);
    expect(statuses).toEqual([200]);
    expect(filled(usages[0])).toEqual({ input: 3, outputImage: 1_290, requests: 1 });
  });

  test("an edit in a form counts its input", async () => {
    const { shown, usages } = await ask({
      kind: "google",
      operation: "image_edit",
      model,
      body: { n: 2 },
      files: [imageFile("image")],
    });
    expect(imagesOf(shown)).toHaveLength(2);
    expect(shown["usage"]).toMatchObject({ input_tokens_details: { text_tokens: 6, image_tokens: 516 } });
    expect(filled(usages[1])).toEqual({ input: 3, inputImage: 258, outputImage: 1_120, reasoning: 128, requests: 1 });
  });

  test.each([
    ["refuse:violence", "moderation_blocked"],
    ["refuse:prompt", "moderation_blocked"],
    ["textonly", "image_missing"],
  ])("%s: %s", async (prompt, code) => {
    expect(await ask({ kind: "google", model, body: { prompt } }).catch((reason: unknown) => reason)).toMatchObject({
      code,
    });
  });

  test("a directive in the model's name reaches the path", async () => {
    expect((await ask({ kind: "google", model: `${model}+status-429` })).statuses).toEqual([429]);
  });
});
