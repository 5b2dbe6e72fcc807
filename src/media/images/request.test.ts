import { describe, expect, test } from "bun:test";
import type { z } from "zod";
import { fieldsBy } from "../../../test/kit/schemas.ts";
import { imageEditForm, imageEditRequest, imageGenerationRequest } from "./request.ts";

const asked = { model: "openai/gpt-image-1", prompt: "a cat" };
const address = "https://pictures.example/cat.png";
const wrongFields = (schema: z.ZodType, more: object) =>
  schema.safeParse({ ...asked, ...more }).error?.issues.map(({ path }) => path.join("."));

test.each<[object]>([
  [{}],
  [{ n: 10, size: "1024x1024", quality: "high", stream: true, partial_images: 3, user: "u" }],
  [{ n: null, size: null, quality: null, stream: null, partial_images: null, response_format: null }],
  [{ size: "2K", watermark: false, sequential_image_generation: "auto", seed: 7, tools: [{ type: "web_search" }] }],
  [{ image: [address], sequential_image_generation_options: { max_images: 15, more: 1 } }],
])("a generation may be %j", (more) => {
  const body = { ...asked, ...more };
  expect(imageGenerationRequest.parse(body) as object).toEqual(body);
});

const wrong: [object, string][] = [
  [{ model: 7 }, "model"],
  [{ prompt: undefined }, "prompt"],
  [{ prompt: ["a"] }, "prompt"],
  [{ n: 0 }, "n"],
  [{ n: 11 }, "n"],
  [{ n: 1.5 }, "n"],
  [{ n: "2" }, "n"],
  [{ size: 1024 }, "size"],
  [{ quality: {} }, "quality"],
  [{ stream: "true" }, "stream"],
  [{ partial_images: -1 }, "partial_images"],
  [{ watermark: 1 }, "watermark"],
  [{ image: 7 }, "image"],
  [{ image: [address, 7] }, "image"],
  [{ sequential_image_generation: true }, "sequential_image_generation"],
  [{ sequential_image_generation_options: { max_images: 16 } }, "sequential_image_generation_options.max_images"],
];

test.each(wrong)("%j is refused in both: %s", (more, field) => {
  expect(wrongFields(imageGenerationRequest, more)).toEqual([field]);
  expect(wrongFields(imageEditRequest, more)).toEqual([field]);
});

test.each<[object]>([
  [{ images: [{ image_url: address }, { file_id: "file-1" }], mask: { file_id: "file-2" } }],
  [{ image: { url: address, type: "image_url" }, mask: address }],
  [{ image: address, input_fidelity: "high" }],
])("an edit may be %j", (more) => {
  const body = { ...asked, ...more };
  expect(imageEditRequest.parse(body) as object).toEqual(body);
});

test.each<[object, string]>([
  [{ images: address }, "images"],
  [{ images: { image_url: address } }, "images"],
  [{ images: [null] }, "images"],
  [{ mask: [address] }, "mask"],
  [{ mask: 7 }, "mask"],
])("an edit may not be %j: %s", (more, field) => {
  expect(wrongFields(imageEditRequest, more)).toEqual([field]);
});

test("a list of wrong entries is one issue, however long", () => {
  expect(wrongFields(imageEditRequest, { images: Array.from({ length: 200_000 }, () => 7) })).toEqual(["images"]);
});

describe("a form's fields", () => {
  test("get the types of the JSON body", () => {
    const fields = { n: "2", stream: "true", partial_images: "0", output_compression: "80", watermark: "false" };
    const typed = { n: 2, stream: true, partial_images: 0, output_compression: 80, watermark: false };
    expect(imageEditForm.parse({ ...asked, ...fields }) as object).toEqual({ ...asked, ...typed });
  });

  test("keep text fields, and unknown ones", () => {
    const fields = { ...asked, prompt: "2", size: "1024x1024", user: "7", colour: "true", image: [address, address] };
    expect(imageEditForm.parse(fields) as object).toEqual(fields);
  });

  test.each<[object, string]>([
    [{ n: "two" }, "n"],
    [{ n: "" }, "n"],
    [{ n: "2.5" }, "n"],
    [{ n: "99" }, "n"],
    [{ n: ["1", "2"] }, "n"],
    [{ stream: "yes" }, "stream"],
    [{ prompt: ["a", "b"] }, "prompt"],
    [{ model: undefined }, "model"],
  ])("%j: %s", (fields, field) => {
    expect(wrongFields(imageEditForm, fields)).toEqual([field]);
  });
});

test("the known fields are OpenAI's, or of the listed providers", () => {
  const own = ["image", "watermark", "sequential_image_generation", "sequential_image_generation_options"];
  const openai = new Set([...fieldsBy("openai", "CreateImageRequest"), ...own]);
  expect(Object.keys(imageGenerationRequest.shape).filter((field) => !openai.has(field))).toEqual([]);
  const edits = new Set([...fieldsBy("openai", "EditImageBodyJsonParam"), "response_format", ...own]);
  expect(Object.keys(imageEditRequest.shape).filter((field) => !edits.has(field))).toEqual([]);
});
