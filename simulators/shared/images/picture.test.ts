import { describe, expect, test } from "bun:test";
import { inflateSync } from "node:zlib";

import type { ImageFormat, Picture } from "./formats.ts";
import { encodePicture, parseSize, sizeOfRatio } from "./picture.ts";
import { readImage } from "./read-image.ts";

const formats: readonly ImageFormat[] = ["png", "jpeg", "webp"];
const sizes = ["1x1", "17x33", "1024x1536", "3840x2160"];
const colour = [200, 60, 90] as const;

function picture(size: string): Picture {
  return { ...(parseSize(size) ?? { width: 0, height: 0 }), colour, transparent: false };
}

/** The first pixel, out of a PNG that the runtime's own codec wrote. */
async function pixelOf(bytes: Uint8Array): Promise<number[]> {
  const png = Buffer.from(await new Bun.Image(bytes).resize(1, 1).png().bytes());
  const data = png.indexOf("IDAT");
  return [...inflateSync(png.subarray(data + 4, data + 4 + png.readUInt32BE(data - 4))).subarray(1, 4)];
}

describe.each(formats)("%s", (format) => {
  test.each(sizes)("of %s is decoded at its size", async (size) => {
    const bytes = encodePicture(picture(size), format);
    const { width, height } = picture(size);
    expect(await new Bun.Image(bytes).metadata()).toEqual({ width, height, format });
    expect(readImage(bytes)).toEqual({ width, height, format });
    expect(bytes.length).toBeLessThan(60_000);
  });

  test("has its colour all over", async () => {
    const pixel = await pixelOf(encodePicture(picture("64x48"), format));
    for (const [index, shade] of colour.entries()) expect(Math.abs((pixel[index] ?? 0) - shade)).toBeLessThanOrEqual(4);
  });
});

test("transparency is included if the format supports it", async () => {
  const clear = { ...picture("16x16"), transparent: true };
  expect(encodePicture(clear, "png").includes("tRNS")).toBe(true);
  expect(encodePicture(clear, "webp").equals(encodePicture(picture("16x16"), "webp"))).toBe(false);
  expect(await new Bun.Image(encodePicture(clear, "webp")).metadata()).toMatchObject({ width: 16 });
});

test("other bytes are no image", () => {
  for (const text of ["", "hello", "GIF89a".padEnd(64), "RIFF".padEnd(64)]) {
    expect(readImage(Buffer.from(text))).toBeNull();
  }
});

test("a ratio has about the pixels of its square, in steps of 16", () => {
  expect(sizeOfRatio("1:1", 1_024)).toEqual({ width: 1_024, height: 1_024 });
  expect(sizeOfRatio("16:9", 1_024)).toEqual({ width: 1_360, height: 768 });
  expect(sizeOfRatio("9:19.5", 2_048)).toEqual({ width: 1_392, height: 3_008 });
});
