import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../core/index.ts";
import { edited } from "../shared/__fixtures__/edited.ts";
import type { CallInput, UpstreamOperation } from "../provider.ts";
import { imageFile, pixel } from "../shared/__fixtures__/image-file.ts";
import { imageEdit, imageGeneration } from "./images.ts";

const address = "https://pictures.example/cat.png";
const dataUrl = `data:image/png;base64,${pixel}`;

function sent(operation: UpstreamOperation, text: string): string {
  return edited(text, operation.edits(JSON.parse(text) as JsonObject, "m"));
}

const reshaped = async (body: JsonObject, files: CallInput["files"] = []) =>
  await imageEdit.toUpstream?.({ body, files }, "grok-imagine-image");
const json = async (body: JsonObject, files: CallInput["files"] = []) =>
  (await reshaped(body, files))?.requests[0].json;

describe("a generation", () => {
  test.each<[string, string, string]>([
    [
      "its own fields are passed through",
      `{ "n":2, "quality":"low","aspect_ratio":"1:1"}`,
      `{ "n":2, "quality":"low","aspect_ratio":"1:1"}`,
    ],
    ["a user is passed through", `{"prompt":"a cat","user":"u"}`, `{"prompt":"a cat","user":"u"}`],
    ["a size becomes a ratio and a resolution", `{"size":"1536x1024"}`, `{"aspect_ratio":"3:2","resolution":"1k"}`],
    [
      "two thousand pixels become the higher resolution",
      `{"size":"2048x2048"}`,
      `{"aspect_ratio":"1:1","resolution":"2k"}`,
    ],
    ["a size in xAI's terms", `{"size":"9:19.5"}`, `{"aspect_ratio":"9:19.5"}`],
    [
      "a ratio together with a resolution",
      `{"size":"2:1","resolution":"2k"}`,
      `{"resolution":"2k","aspect_ratio":"2:1"}`,
    ],
    ["an automatic size is dropped", `{"size":"auto","n":1}`, `{"n":1}`],
    [
      "unsupported fields without an effect are dropped",
      `{"moderation":"low","safety_identifier":"s","background":"auto","output_format":"jpeg","output_compression":80,"quality":"auto","n":1}`,
      `{"n":1}`,
    ],
    ["null is dropped", `{"size":null,"background":null,"style":null,"n":null}`, `{"n":null}`],
    ["a stream is requested as a whole answer", `{"stream":true,"partial_images":2}`, `{"response_format":"b64_json"}`],
    ["a stream of URLs", `{"stream":true,"response_format":"url"}`, `{"response_format":"url"}`],
  ])("%s", (_title, text, expected) => {
    expect(sent(imageGeneration, text)).toBe(expected);
  });

  test.each<[JsonObject, string]>([
    [{ size: "512x512" }, "size"],
    [{ size: "1320x1024" }, "size"],
    [{ size: "1024x1024", aspect_ratio: "1:1" }, "size"],
    [{ size: "1024x1024", resolution: "2k" }, "size"],
    [{ style: "vivid" }, "style"],
    [{ background: "transparent" }, "background"],
    [{ output_format: "png" }, "output_format"],
  ])("%j is refused: %s", (body, param) => {
    expect(() => imageGeneration.edits(body, "m")).toThrow(expect.objectContaining({ status: 422, param }));
  });

  test("is passed through, but its answer is converted for a stream", async () => {
    expect(await imageGeneration.toUpstream?.({ body: { n: 2 }, files: [] }, "m")).toBeUndefined();
    const streamed = await imageGeneration.toUpstream?.({ body: { stream: true }, files: [] }, "m");
    expect(streamed?.requests).toEqual([{}]);
    expect(streamed?.answer?.([{ data: [] }], 7)).toEqual({ created: 7, data: [] });
  });
});

describe("an edit", () => {
  test.each<[JsonObject]>([
    [{ images: [{ image_url: address }, { file_id: "file-1" }] }],
    [{ image: { url: address, type: "image_url" }, mask: { url: address } }],
  ])("with objects is passed through: %j", async (body) => {
    expect(await reshaped(body)).toBeUndefined();
    expect(imageEdit.edits(body, "m")).toEqual([]);
  });

  test("in other forms is converted to objects", async () => {
    expect(await json({ prompt: "x", image: address, size: "auto" })).toEqual({ prompt: "x", image: { url: address } });
    expect(await json({ image: [address, { file_id: "file-1" }] })).toEqual({
      images: [{ url: address }, { file_id: "file-1" }],
    });
    expect(await json({ images: [address], mask: address })).toEqual({
      image: { url: address },
      mask: { url: address },
    });
  });

  test("in a form becomes JSON, with its files as data URLs", async () => {
    const fields = { model: "xai/m", prompt: "a hat", n: 2, stream: false };
    expect(await json(fields, [imageFile("image")])).toEqual({
      model: "xai/m",
      prompt: "a hat",
      n: 2,
      image: { url: dataUrl },
    });
    const files = [imageFile("image"), imageFile("mask"), imageFile("image")];
    expect(await json({ size: "1024x1024" }, files)).toEqual({
      aspect_ratio: "1:1",
      resolution: "1k",
      images: [{ url: dataUrl }, { url: dataUrl }],
      mask: { url: dataUrl },
    });
  });

  test("of one image has that image's size", async () => {
    const singleImage = { images: [{ image_url: address }] };
    expect(() => imageEdit.edits({ ...singleImage, size: "1024x1024" }, "m")).toThrow(
      expect.objectContaining({ param: "size" }),
    );
    expect(imageEdit.edits({ ...singleImage, size: "2k" }, "m")).toEqual([
      { remove: "size" },
      { set: "resolution", value: '"2k"' },
    ]);
    const refused = await reshaped({ size: "1:1" }, [imageFile("image")]).catch((reason: unknown) => reason);
    expect(refused).toMatchObject({ status: 422, param: "size" });
  });

  test("with a stream is answered by the gateway as a stream", async () => {
    expect(await reshaped({ images: [{ image_url: address }], stream: true })).toMatchObject({ requests: [{}] });
    const form = await reshaped({ stream: true }, [imageFile("image")]);
    expect(form?.requests).toEqual([{ json: { response_format: "b64_json", image: { url: dataUrl } } }]);
    expect(form?.answer?.([{ data: [] }], 7)).toEqual({ created: 7, data: [] });
    expect("answer" in ((await reshaped({}, [imageFile("image")])) ?? {})).toBe(false);
  });
});

describe("an answer", () => {
  test("contains its real price: 2 cents are 200,000,000 ticks and 20,000,000 nano-credits", () => {
    const observed = imageGeneration.readUsage({ data: [], usage: { cost_in_usd_ticks: 200_000_000 } });
    expect(observed).toEqual({ usage: { requests: 1 }, reportedCost: 20_000_000n });
  });

  test("without a price has no usage", () => {
    for (const usage of [undefined, {}, { cost_in_usd_ticks: -1 }]) {
      expect(imageGeneration.readUsage({ data: [], usage })).toBeUndefined();
    }
  });

  test("of an unknown format is an error, one that withholds its images is not", () => {
    expect(imageEdit.isFailure({ code: "Some error", error: "text" })).toBe(true);
    expect(imageEdit.isFailure({ data: [{ respect_moderation: false }] })).toBe(false);
  });
});
