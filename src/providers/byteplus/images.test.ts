import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../core/index.ts";
import { edited } from "../shared/__fixtures__/edited.ts";
import type { CallInput } from "../provider.ts";
import { imageFile, pixel } from "../shared/__fixtures__/image-file.ts";
import { imageEdit, imageGeneration } from "./images.ts";

const address = "https://pictures.example/cat.png";
const dataUrl = `data:image/png;base64,${pixel}`;
const model = "seedream-5-0-260128";

const generation = async (body: JsonObject) => await imageGeneration.toUpstream?.({ body, files: [] }, model);
const edit = async (body: JsonObject, files: CallInput["files"] = []) => {
  const reshaped = await imageEdit.toUpstream?.({ body, files }, model);
  return reshaped?.requests.map((request) => request.json);
};

describe("a generation", () => {
  test.each<[string, string, string]>([
    [
      "its own fields are passed through",
      `{ "size":"2K", "watermark":false,"response_format":"url","sequential_image_generation":"auto","stream":true,"seed":1}`,
      `{ "size":"2K", "watermark":false,"response_format":"url","sequential_image_generation":"auto","stream":true,"seed":1}`,
    ],
    ["an input image is passed through", `{"image":["${address}"],"n":1}`, `{"image":["${address}"]}`],
    ["OpenAI's size is passed through and checked upstream", `{"size":"1024x1024"}`, `{"size":"1024x1024"}`],
    ["an automatic size is dropped", `{"size":"auto","prompt":"x"}`, `{"prompt":"x"}`],
    [
      "an automatic size is retained if an image is decomposed",
      `{"size":"auto","layer_decomposition":{}}`,
      `{"size":"auto","layer_decomposition":{}}`,
    ],
    [
      "unsupported fields without an effect are dropped",
      `{"n":1,"quality":"high","user":"u","background":"opaque","moderation":"low","partial_images":1,"style":null,"prompt":"x"}`,
      `{"prompt":"x"}`,
    ],
  ])("%s", (_title, text, expected) => {
    expect(edited(text, imageGeneration.edits(JSON.parse(text) as JsonObject, "m"))).toBe(expected);
  });

  test.each<[JsonObject, string]>([
    [{ background: "transparent" }, "background"],
    [{ style: "vivid" }, "style"],
  ])("%j is refused: %s", (body, param) => {
    expect(() => imageGeneration.edits(body, "m")).toThrow(expect.objectContaining({ status: 422, param }));
  });

  test("of one image is passed through", async () => {
    for (const n of [undefined, null, 1]) expect(await generation({ prompt: "x", n })).toBeUndefined();
  });
});

describe("several images", () => {
  test("need several calls", async () => {
    const reshaped = await generation({ model: "byteplus/m", prompt: "x", n: 3, watermark: false, user: "u" });
    const json = { model: "byteplus/m", prompt: "x", watermark: false };
    expect(reshaped?.requests).toEqual([{ json }, { json }, { json }]);
  });

  test("in a stream are requested without one, with the images in the answer", async () => {
    const [request] = (await generation({ prompt: "x", n: 2, stream: true }))?.requests ?? [];
    expect(request?.json).toEqual({ prompt: "x", response_format: "b64_json" });
    const [addresses] = (await generation({ n: 2, stream: true, response_format: "url" }))?.requests ?? [];
    expect(addresses?.json).toEqual({ response_format: "url" });
  });

  test("can't be requested in two ways at once", async () => {
    const both = { prompt: "x", n: 2, sequential_image_generation: "auto" };
    const refused = await generation(both).catch((reason: unknown) => reason);
    expect(refused).toMatchObject({ status: 422, param: "n" });
    expect((await generation({ ...both, sequential_image_generation: "disabled" }))?.requests).toHaveLength(2);
  });

  test("are merged into one answer", async () => {
    const answers = [
      {
        model,
        created: 5,
        data: [{ url: "a", size: "2048x2048" }],
        usage: { generated_images: 1, output_tokens: 16_384, tool_usage: { web_search: 1 } },
      },
      { model, created: 6, data: [{ error: { code: "x" } }], usage: { generated_images: 0, output_tokens: 0 } },
      {
        model,
        created: 7,
        data: [{ url: "c" }],
        usage: { generated_images: 1, input_images: 2, output_tokens: 100, tool_usage: { web_search: 2 } },
      },
    ];
    const reshaped = await generation({ n: 3 });
    expect(reshaped?.answer?.(answers, 0)).toEqual({
      model,
      created: 5,
      data: [{ url: "a", size: "2048x2048" }, { error: { code: "x" } }, { url: "c" }],
      usage: { generated_images: 2, input_images: 2, output_tokens: 16_484, tool_usage: { web_search: 3 } },
    });
    expect(reshaped?.answer?.([{ data: [] }, { data: [] }], 0)).toEqual({ data: [] });
  });
});

describe("an edit", () => {
  test("is a generation with images", async () => {
    expect(imageEdit.path).toBe("/images/generations");
    expect(await edit({ prompt: "x", images: [{ image_url: address }], user: "u" })).toEqual([
      { prompt: "x", image: address },
    ]);
    expect(await edit({ image: [address, { url: dataUrl }], size: "4K", stream: true })).toEqual([
      { size: "4K", stream: true, image: [address, dataUrl] },
    ]);
  });

  test("in a form becomes JSON, with its files as data URLs", async () => {
    const files = [imageFile("image"), imageFile("image")];
    const json = { prompt: "x", watermark: false, image: [dataUrl, dataUrl] };
    expect(await edit({ prompt: "x", watermark: false, n: 2 }, files)).toEqual([json, json]);
  });

  test.each<[JsonObject, CallInput["files"], string]>([
    [{ image: address, mask: { image_url: address } }, [], "mask"],
    [{}, [imageFile("image"), imageFile("mask")], "mask"],
    [{ images: [{ file_id: "file-1" }] }, [], "images.0"],
  ])("%j is refused", async (body, files, param) => {
    expect(await edit(body, files).catch((reason: unknown) => reason)).toMatchObject({ status: 422, param });
  });
});

describe("an answer", () => {
  test("counts the generated images", () => {
    const usage = { generated_images: 2, input_images: 1, output_tokens: 32_768, total_tokens: 32_768 };
    expect(imageGeneration.readUsage({ data: [], usage })?.usage).toEqual({
      images: 2,
      inputImages: 1,
      outputImage: 32_768,
      requests: 1,
    });
  });

  test("with only failures counts nothing, not even the call", () => {
    const usage = { generated_images: 0, output_tokens: 0, total_tokens: 0 };
    expect(imageGeneration.readUsage({ data: [], usage })?.usage).toEqual({
      images: 0,
      inputImages: 0,
      outputImage: 0,
      requests: 0,
    });
    expect(imageGeneration.readUsage({ data: [] })).toBeUndefined();
  });

  test("is a failure if it has no list of images", () => {
    expect(imageEdit.isFailure({ error: { code: "InternalServiceError" } })).toBe(true);
    expect(imageEdit.isFailure({ data: [{ error: { code: "x" } }] })).toBe(false);
  });
});
