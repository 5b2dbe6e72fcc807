import { describe, expect, test } from "bun:test";
import { decodedSizeOf } from "../../bodies/index.ts";
import { IMAGE_TOKENS_MAX, type CallFile, MESSAGE_TOKENS_MAX } from "../../core/index.ts";
import { boundImageEdit, boundImages } from "./bound.ts";
import { imageEditRequest, imageGenerationRequest } from "./request.ts";

const generation = (more: object) =>
  boundImages(imageGenerationRequest.parse({ model: "up/m", prompt: "größer", ...more }), decodedSizeOf, []);
const edit = (more: object, files: readonly CallFile[] = []) =>
  boundImageEdit(imageEditRequest.parse({ model: "up/m", prompt: "a hat", ...more }), decodedSizeOf, files);

function file(field: string): CallFile {
  return {
    field,
    filename: "a.png",
    contentType: "image/png",
    size: 3,
    milliseconds: undefined,
    read: async () => Buffer.from("abc"),
  };
}

describe("of a generation", () => {
  test("the prompt's bytes go in, and one image comes out", () => {
    expect(generation({})).toEqual({
      inputTokens: 8 + MESSAGE_TOKENS_MAX,
      inputParts: { inputImage: 0 },
      outputTokens: undefined,
      outputBuckets: ["outputImage"],
      choices: 1,
      inputs: 1,
      expectedInput: { input: 2, inputImage: 0 },
      inputUnits: { inputImages: 0 },
      outputImages: { count: 1, variant: {} },
    });
  });

  test.each<[object, number]>([
    [{ n: 4 }, 4],
    [{ n: null }, 1],
    [{ sequential_image_generation: "disabled", sequential_image_generation_options: { max_images: 9 } }, 1],
    [{ sequential_image_generation: "auto" }, 15],
    [{ sequential_image_generation: "auto", sequential_image_generation_options: {} }, 15],
    [{ sequential_image_generation: "auto", sequential_image_generation_options: { max_images: 6 } }, 6],
    [{ sequential_image_generation: "auto", sequential_image_generation_options: { max_images: 6 }, n: 2 }, 12],
  ])("%j makes up to %p images", (more, count) => {
    expect(generation(more).outputImages?.count).toBe(count);
    expect(generation(more).choices).toBe(count);
  });

  test("the input is read once for each call that an upstream may need", () => {
    expect(generation({ n: 3 })).toMatchObject({ inputTokens: 3 * (8 + MESSAGE_TOKENS_MAX), inputs: 3 });
  });

  test.each<[object, object]>([
    [
      { size: "1024x1024", quality: "hd" },
      { size: "1024x1024", quality: "hd" },
    ],
    [{ size: "2K" }, { size: "2K" }],
    [{ size: "auto", quality: "low" }, { quality: "low" }],
    [{ size: null, quality: "auto" }, {}],
  ])("%j asks for the variant %j", (more, variant) => {
    expect(generation(more).outputImages?.variant).toEqual(variant);
  });
});

describe("of an edit", () => {
  const address = "https://pictures.example/cat.png";
  test.each<[string, object, readonly CallFile[], number, number]>([
    ["OpenAI's list", { images: [{ image_url: address }, { file_id: "file-1" }] }, [], 2, 0],
    ["an address", { image: address }, [], 1, 0],
    ["xAI's object", { image: { url: address } }, [], 1, 0],
    ["a list of addresses", { image: [address, address] }, [], 2, 0],
    ["a mask in JSON", { images: [{ image_url: address }], mask: { image_url: address } }, [], 1, 1],
    ["files", {}, [file("image"), file("image")], 2, 0],
    ["a file and a mask", {}, [file("image"), file("mask")], 1, 1],
    ["a file and an address", { image: address }, [file("image")], 2, 0],
  ])("%s", (_title, more, files, images, masks) => {
    const { inputTokens, expectedInput, inputUnits } = edit(more, files);
    expect(inputTokens).toBe(5 + (images + masks) * IMAGE_TOKENS_MAX + MESSAGE_TOKENS_MAX);
    expect(expectedInput).toEqual({ input: 2, inputImage: (images + masks) * 1_000 });
    expect(inputUnits).toEqual({ inputImages: images });
  });

  test.each<[object, readonly CallFile[]]>([
    [{}, []],
    [{ images: [] }, []],
    [{ image: "" }, []],
    [{ image: null }, []],
    [{}, [file("mask")]],
  ])("of nothing is refused: %j", (more, files) => {
    expect(() => edit(more, files)).toThrow(expect.objectContaining({ code: "validation_failed", param: "image" }));
  });
});
