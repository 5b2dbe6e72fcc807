/** The image operations against running simulators: what they send is taken, and what comes back is read. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { CallFile, JsonObject, Operation, Usage } from "../core/index.ts";
import { edited } from "./shared/__fixtures__/edited.ts";
import type { UpstreamOperation } from "./provider.ts";
import { createProvider } from "./registry.ts";
import { imageFile } from "./shared/__fixtures__/image-file.ts";

const AT = 1_764_000_000;

type Kind = "openai" | "xai" | "byteplus" | "google";
type ImageOperation = Extract<Operation, "image_generation" | "image_edit">;

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
  /** As the client gets it. */
  shown: JsonObject;
  usages: (Usage | undefined)[];
}

function operationOf(kind: Kind, name: ImageOperation): UpstreamOperation {
  const operation = createProvider({ kind, baseUrl: "" }).operations[name];
  if (operation === undefined) throw new Error(`${kind} has no ${name}`);
  return operation;
}

/** What the pipeline does of a call, as far as the operation decides it. */
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
  return edited(JSON.stringify(body), [named, ...operation.edits(body)]);
}

const filled = (usage: Usage | undefined) =>
  usage && Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== 0));
const imagesOf = ({ data }: JsonObject) => (Array.isArray(data) ? (data as JsonObject[]) : []);

/** Width and height by the head of a PNG or the frame of a JPEG. */
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
    // Nine letters are three tokens; two squares of medium quality 1,056 each.
    expect(filled(usages[0])).toEqual({ input: 3, outputImage: 2_112, requests: 1 });
  });

  test("an older model names no usage", async () => {
    const { statuses, usages } = await ask({ kind: "openai", model: "dall-e-3", body: { size: "1792x1024" } });
    expect(statuses).toEqual([200]);
    expect(usages).toEqual([undefined]);
  });

  test("an edit in JSON is charged by what went in as well", async () => {
    const images = [{ file_id: "file-1" }];
    const { usages } = await ask({ kind: "openai", operation: "image_edit", model: "gpt-image-1", body: { images } });
    // An image of 1024 pixels is shrunk to one tile: 65 and 129.
    expect(filled(usages[0])).toEqual({ input: 3, inputImage: 194, outputImage: 1_056, requests: 1 });
  });
});

describe("xai", () => {
  const model = "grok-imagine-image";

  test("a size is asked for in its words", async () => {
    const body = { size: "1792x1024", response_format: "b64_json", moderation: "low", n: 2 };
    const { statuses, shown, usages } = await ask({ kind: "xai", model, body });
    expect(statuses).toEqual([200]);
    expect(imagesOf(shown)).toHaveLength(2);
    const [width = 0, height = 1] = sizeOf(imagesOf(shown)[0]?.["b64_json"]).split("x").map(Number);
    expect(Math.abs(width / height / (16 / 9) - 1)).toBeLessThan(0.02);
    expect(usages).toEqual([{ requests: 1 }]);
  });

  test("edits as a form, in OpenAI's JSON and as an address are taken", async () => {
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

  test("what was withheld is told, with its price", async () => {
    const { shown, usages } = await ask({ kind: "xai", model, body: { prompt: "refuse:violence" } });
    expect(imagesOf(shown)).toMatchObject([{ respect_moderation: false }]);
    expect(usages).toEqual([{ requests: 1 }]);
  });
});

describe("byteplus", () => {
  const model = "seedream-5-0-260128";

  test("OpenAI's fields are no hindrance", async () => {
    const body = { n: 1, quality: "high", user: "u", size: "2048x2048", watermark: false };
    const { statuses, usages } = await ask({ kind: "byteplus", model, body });
    expect(statuses).toEqual([200]);
    // 2048 by 2048 pixels, 256 a token.
    expect(filled(usages[0])).toEqual({ images: 1, outputImage: 16_384, requests: 1 });
  });

  test("several images are several calls, told as one", async () => {
    const { statuses, shown, usages } = await ask({ kind: "byteplus", model, body: { n: 3 } });
    expect(statuses).toEqual([200, 200, 200]);
    expect(imagesOf(shown)).toHaveLength(3);
    expect(shown["usage"]).toMatchObject({ generated_images: 3, output_tokens: 49_152 });
    expect(usages.map((usage) => usage?.images)).toEqual([1, 1, 1]);
  });

  test("what failed of a sequence is told and not counted", async () => {
    const body = { prompt: "3 images fail:2", sequential_image_generation: "auto" };
    const { shown, usages } = await ask({ kind: "byteplus", model, body });
    expect(imagesOf(shown).map((entry) => "error" in entry)).toEqual([false, true, false]);
    expect(usages[0]?.images).toBe(2);
    const none = await ask({ kind: "byteplus", model, body: { prompt: "fail:1" } });
    expect(filled(none.usages[0])).toEqual({});
  });

  test("an edit as a form goes along with a generation", async () => {
    const edit = { kind: "byteplus", operation: "image_edit", model } as const;
    const { statuses, usages } = await ask({ ...edit, files: [imageFile("image"), imageFile("image")] });
    expect(statuses).toEqual([200]);
    expect(filled(usages[0])).toEqual({ images: 1, inputImages: 2, outputImage: 16_384, requests: 1 });
  });
});

describe("google", () => {
  const model = "gemini-nano-banana-2.1";

  test("the size that was asked for is made", async () => {
    const { statuses, shown, usages } = await ask({ kind: "google", model, body: { size: "2048x2048" } });
    expect(statuses).toEqual([200]);
    expect(sizeOf(imagesOf(shown)[0]?.["b64_json"])).toBe("2048x2048");
    expect(shown).toMatchObject({
      created: AT,
      output_format: "png",
      usage: { input_tokens: 3, output_tokens: 1_808 },
    });
    // 1,680 for 2K, and 128 thoughts; nine letters are three tokens.
    expect(filled(usages[0])).toEqual({ input: 3, outputImage: 1_680, reasoning: 128, requests: 1 });
  });

  test("the first model knows one resolution, in any ratio", async () => {
    const asked = { kind: "google", model: "gemini-2.5-flash-image", body: { size: "1536x1024" } } as const;
    const { statuses, usages } = await ask(asked);
    expect(statuses).toEqual([200]);
    expect(filled(usages[0])).toEqual({ input: 3, outputImage: 1_290, requests: 1 });
  });

  test("an edit as a form counts what went in", async () => {
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
