import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../core/index.ts";
import type { CallInput, UpstreamRequestBody } from "../provider.ts";
import { imageFile, pixel } from "../shared/__fixtures__/image-file.ts";
import { imageEdit, imageGeneration } from "./images.ts";

const AT = 1_764_000_000;
const address = "https://pictures.example/cat.png";
const current = "gemini-nano-banana-2.1";
const oldest = "gemini-2.5-flash-image";

const reshape = async (body: JsonObject, files: CallInput["files"] = [], model = current) =>
  await imageEdit.toUpstream?.({ body: { model: "google/m", prompt: "a cat", ...body }, files }, model);
const first = async (...input: Parameters<typeof reshape>): Promise<UpstreamRequestBody | undefined> =>
  (await reshape(...input))?.requests[0];
const failure = async (...input: Parameters<typeof reshape>): Promise<unknown> =>
  await reshape(...input).catch((reason: unknown) => reason);

const contents = (...parts: object[]) => [{ role: "user", parts: [{ text: "a cat" }, ...parts] }];
const config = (imageConfig?: object) => ({
  responseModalities: ["IMAGE"],
  ...(imageConfig === undefined ? {} : { imageConfig }),
});

describe("a generation", () => {
  test("is a call of the model's path, without the model in the body", async () => {
    expect(await first({})).toEqual({
      subpath: "gemini-nano-banana-2.1:generateContent",
      json: { contents: contents(), generationConfig: config() },
    });
    expect((await first({}, [], "models/a/../b"))?.subpath).toBe("a%2F..%2Fb:generateContent");
  });

  test.each<[unknown, string, object | undefined]>([
    [undefined, current, undefined],
    ["auto", current, undefined],
    ["1024x1024", current, { aspectRatio: "1:1" }],
    ["1536x1024", current, { aspectRatio: "3:2" }],
    ["1792x1024", oldest, { aspectRatio: "16:9" }],
    ["2048x2048", current, { aspectRatio: "1:1", imageSize: "2K" }],
    ["512x512", current, { aspectRatio: "1:1", imageSize: "512" }],
    ["3840x2160", current, { aspectRatio: "16:9", imageSize: "4K" }],
    ["21:9", current, { aspectRatio: "21:9" }],
    ["2k", current, { imageSize: "2K" }],
    ["1K", oldest, undefined],
  ])("size %j for %s", async (size, model, imageConfig) => {
    expect((await first({ size }, [], model))?.json?.["generationConfig"]).toEqual(config(imageConfig));
  });

  test("unsupported fields without an effect are dropped", async () => {
    const hints = { quality: "high", user: "u", moderation: "low", stream: true, partial_images: 2, n: 1 };
    const same = { background: "opaque", response_format: "b64_json", output_format: "png", style: null };
    expect(await first({ ...hints, ...same, watermark: false })).toEqual(await first({}));
  });

  test.each<[JsonObject, string, string]>([
    [{ size: "100x100" }, current, "size"],
    [{ size: "2048x2048" }, oldest, "size"],
    [{ size: "4K" }, oldest, "size"],
    [{ response_format: "url" }, current, "response_format"],
    [{ output_format: "webp" }, current, "output_format"],
    [{ background: "transparent" }, current, "background"],
    [{ style: "vivid" }, current, "style"],
  ])("%j is refused for %s: %s", async (body, model, param) => {
    expect(await failure(body, [], model)).toMatchObject({ code: "validation_failed", status: 422, param });
  });

  test("of several images needs as many calls", async () => {
    const { requests } = (await reshape({ n: 3 })) ?? {};
    expect(requests).toHaveLength(3);
    expect(new Set(requests).size).toBe(1);
  });
});

describe("an edit", () => {
  const png = { inlineData: { mimeType: "image/png", data: pixel } };

  test.each<[string, JsonObject, CallInput["files"], object[]]>([
    ["files", {}, [imageFile("image"), imageFile("image")], [png, png]],
    ["a data URL", { images: [{ image_url: `data:image/png;base64,${pixel}` }] }, [], [png]],
    ["a data URL with a parameter", { image: `data:image/png;name=a.png;base64,${pixel}` }, [], [png]],
    ["a URL", { image: address }, [], [{ fileData: { fileUri: address, mimeType: "image/png" } }]],
    [
      "a URL with a file extension",
      { image: { url: "https://x.example/A.JPG?sig=1" } },
      [],
      [{ fileData: { fileUri: "https://x.example/A.JPG?sig=1", mimeType: "image/jpeg" } }],
    ],
    ["a URL without a file extension", { image: "gs://bucket/a" }, [], [{ fileData: { fileUri: "gs://bucket/a" } }]],
  ])("of %s", async (_title, body, files, parts) => {
    expect((await first(body, files))?.json?.["contents"]).toEqual(contents(...parts));
  });

  test.each<[JsonObject, CallInput["files"], string]>([
    [{ image: address, mask: address }, [], "mask"],
    [{}, [imageFile("image"), imageFile("mask")], "mask"],
    [{ images: [{ file_id: "file-1" }] }, [], "images.0"],
    [{ image: pixel }, [], "image"],
    [{ image: "data:image/svg+xml,<svg/>" }, [], "image"],
  ])("%j is refused", async (body, files, param) => {
    expect(await failure(body, files)).toMatchObject({ status: 422, param });
  });
});

const part = (data: string, more: object = {}) => ({ inlineData: { mimeType: "image/png", data }, ...more });
const answer = (parts: object[], usageMetadata?: object, finishReason = "STOP"): JsonObject => ({
  candidates: [{ content: { role: "model", parts }, finishReason, index: 0 }],
  ...(usageMetadata === undefined ? {} : { usageMetadata }),
});
const counted = {
  promptTokenCount: 266,
  promptTokensDetails: [
    { modality: "TEXT", tokenCount: 8 },
    { modality: "IMAGE", tokenCount: 258 },
  ],
  candidatesTokenCount: 1_124,
  candidatesTokensDetails: [
    { modality: "TEXT", tokenCount: 4 },
    { modality: "IMAGE", tokenCount: 1_120 },
  ],
  thoughtsTokenCount: 128,
};
const shown = async (...answers: JsonObject[]) => (await reshape({}))?.answer?.(answers, AT);

describe("an answer", () => {
  test("is converted to OpenAI's format, with its usage", async () => {
    expect(await shown(answer([{ text: "Here." }, part("AAAA", { thoughtSignature: "s" })], counted))).toEqual({
      created: AT,
      data: [{ b64_json: "AAAA" }],
      background: "opaque",
      output_format: "png",
      usage: {
        input_tokens: 266,
        output_tokens: 1_252,
        total_tokens: 1_518,
        input_tokens_details: { text_tokens: 8, image_tokens: 258 },
        output_tokens_details: { text_tokens: 132, image_tokens: 1_120 },
      },
    });
  });

  test("omits drafts among the thoughts", async () => {
    const drafts = answer([part("DRAFT", { thought: true }), { text: "hm", thought: true }, part("AAAA")]);
    expect(await shown(drafts)).toMatchObject({ data: [{ b64_json: "AAAA" }] });
  });

  test("merges several calls, without those that have no image", async () => {
    const refused = answer([{ text: "I would rather not." }], counted);
    const all = await shown(answer([part("AAAA")], counted), refused, answer([part("BBBB")], counted));
    expect(all).toMatchObject({
      data: [{ b64_json: "AAAA" }, { b64_json: "BBBB" }],
      usage: { input_tokens: 532, output_tokens: 2_504, total_tokens: 3_036 },
    });
  });

  test("contains the format of the images", async () => {
    const jpeg = answer([{ inlineData: { mimeType: "image/jpeg", data: "AAAA" } }]);
    expect(await shown(jpeg)).toEqual({
      created: AT,
      data: [{ b64_json: "AAAA" }],
      background: "opaque",
      output_format: "jpeg",
    });
  });

  test.each<[string, JsonObject, string]>([
    ["a blocked prompt", { promptFeedback: { blockReason: "OTHER" }, usageMetadata: counted }, "moderation_blocked"],
    ["a blocked image", answer([], counted, "IMAGE_SAFETY"), "moderation_blocked"],
    ["an answer without parts", { candidates: [{ finishReason: "IMAGE_PROHIBITED_CONTENT" }] }, "moderation_blocked"],
    ["a text", answer([{ text: "A cat is an animal." }], counted), "image_missing"],
    ["drafts only", answer([part("DRAFT", { thought: true })], counted, "NO_IMAGE"), "image_missing"],
    ["an odd reason", answer([], counted, "<b>SAFETY</b>"), "image_missing"],
  ])("without an image is an error, and free: %s", async (_title, without, code) => {
    const thrown = await shown(without).catch((reason: unknown) => reason);
    expect(thrown).toMatchObject({ code, status: 400 });
    expect(String(thrown)).not.toContain("animal");
    expect(imageGeneration.isFailure(without)).toBe(false);
    expect(imageGeneration.readUsage(without)).toEqual({ usage: {} });
  });

  test("with an image is charged by its buckets", () => {
    expect(imageGeneration.readUsage(answer([part("AAAA")], counted))?.usage).toEqual({
      input: 8,
      cacheRead: 0,
      inputImage: 258,
      cacheImageRead: 0,
      output: 4,
      outputImage: 1_120,
      reasoning: 128,
      requests: 1,
    });
    expect(imageGeneration.readUsage(answer([part("AAAA")]))).toBeUndefined();
  });

  test("of an unknown format is a failure", () => {
    expect(imageGeneration.isFailure({ error: { code: 500, status: "INTERNAL" } })).toBe(true);
    expect(imageGeneration.isFailure({})).toBe(true);
  });
});

test.each<[JsonObject, string, number]>([
  [{}, "gemini-2.5-flash-image", 1_290],
  [{ size: "1024x1024" }, "gemini-3-pro-image", 1_290],
  [{ size: "4K" }, "gemini-3-pro-image", 2_520],
])("the most tokens of an image, %j by %s", (body, model, outputImage) => {
  expect(imageGeneration.imageUsageMax?.(body, model)).toEqual({ outputImage, output: 4_096 });
});
