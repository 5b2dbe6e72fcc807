import { describe, expect, test } from "bun:test";
import type { CallFile, JsonObject } from "../../../core/index.ts";
import { encodeFile, imageSources, maskSource, urlsOf } from "./image-sources.ts";

const address = "https://pictures.example/cat.png";
const data = "data:image/png;base64,AAAA";

function file(field: string, bytes: string, contentType?: string): CallFile {
  const content = Buffer.from(bytes, "latin1");
  return {
    field,
    filename: "a",
    contentType,
    size: content.length,
    milliseconds: undefined,
    read: async () => content,
  };
}

describe("the images of a call", () => {
  test.each<[JsonObject, object[]]>([
    [{}, []],
    [{ image: null, images: null }, []],
    [{ image: address }, [{ param: "image", url: address }]],
    [{ image: data }, [{ param: "image", url: data }]],
    [{ image: { url: address, type: "image_url" } }, [{ param: "image", url: address }]],
    [{ image: { image_url: address } }, [{ param: "image", url: address }]],
    [{ image: { image_url: { url: address } } }, [{ param: "image", url: address }]],
    [
      { image: [address, { file_id: "file-1" }] },
      [
        { param: "image.0", url: address },
        { param: "image.1", fileId: "file-1" },
      ],
    ],
    [{ images: [{ image_url: address }] }, [{ param: "images.0", url: address }]],
  ])("%j", (body, sources) => {
    expect(imageSources({ body, files: [] })).toEqual(sources as ReturnType<typeof imageSources>);
  });

  test.each<[JsonObject, string]>([
    [{ image: {} }, "image"],
    [{ image: 7 }, "image"],
    [{ images: [address, { url: 7 }] }, "images.1"],
  ])("%j is refused: %s", (body, param) => {
    expect(() => imageSources({ body, files: [] })).toThrow(expect.objectContaining({ status: 422, param }));
  });

  test("are in the order of body and form, without the mask", () => {
    const [first, second, mask] = [file("image", "1"), file("image", "2"), file("mask", "3")];
    const input = { body: { image: address }, files: [first, mask, second] };
    expect(imageSources(input)).toEqual([
      { param: "image", url: address },
      { param: "image", file: first },
      { param: "image", file: second },
    ]);
    expect(maskSource(input)).toEqual({ param: "mask", file: mask });
    expect(maskSource({ body: { mask: { image_url: data } }, files: [] })).toEqual({ param: "mask", url: data });
    expect(maskSource({ body: {}, files: [first] })).toBeUndefined();
  });
});

describe("a file", () => {
  test.each<[string, string, string | undefined, string]>([
    ["PNG", "\u0089PNG\r\n\u001a\n", "application/octet-stream", "image/png"],
    ["JPEG", "\u00ff\u00d8\u00ff\u00e0", undefined, "image/jpeg"],
    ["WebP", "RIFF\u0001\u0002\u0003\u0004WEBPVP8 ", "image/png", "image/webp"],
    ["GIF", "GIF89a", undefined, "image/gif"],
    ["the client's type otherwise", "ftypheic", "image/heic", "image/heic"],
    ["an unknown type", "text", undefined, "application/octet-stream"],
  ])("has its type by its bytes: %s", async (_title, bytes, contentType, mimeType) => {
    const encoded = { mimeType, data: Buffer.from(bytes, "latin1").toString("base64") };
    expect(await encodeFile(file("image", bytes, contentType))).toEqual(encoded);
  });

  test("becomes a data URL; a URL is unchanged, and a stored file is refused", async () => {
    const sources = imageSources({ body: { image: address }, files: [file("image", "GIF89a")] });
    expect(await urlsOf(sources)).toEqual([address, "data:image/gif;base64,R0lGODlh"]);
    const stored = imageSources({ body: { images: [{ file_id: "file-1" }] }, files: [] });
    expect(await urlsOf(stored).catch((reason: unknown) => reason)).toMatchObject({ status: 422, param: "images.0" });
  });
});
