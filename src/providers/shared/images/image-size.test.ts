import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../core/index.ts";
import { type UpstreamSize, readImageSize } from "./image-size.ts";

const sizes = {
  ratios: ["1:1", "2:3", "3:2", "9:16", "16:9", "9:19.5"],
  resolutions: { "512": 512, "1K": 1_024, "2K": 2_048, "4K": 4_096 },
};

test.each<[unknown, UpstreamSize]>([
  [undefined, {}],
  [null, {}],
  ["auto", {}],
  ["16:9", { ratio: "16:9" }],
  ["2K", { resolution: "2K" }],
  ["2k", { resolution: "2K" }],
  ["512", { resolution: "512" }],
  ["512x512", { ratio: "1:1", resolution: "512" }],
  ["1024x1024", { ratio: "1:1", resolution: "1K" }],
  ["1536x1024", { ratio: "3:2", resolution: "1K" }],
  ["1024x1536", { ratio: "2:3", resolution: "1K" }],
  // 1.75 is 1.6% less than 16:9.
  ["1792x1024", { ratio: "16:9", resolution: "1K" }],
  ["1024x1792", { ratio: "9:16", resolution: "1K" }],
  ["1280x720", { ratio: "16:9", resolution: "1K" }],
  ["1920x1080", { ratio: "16:9", resolution: "2K" }],
  ["2048x2048", { ratio: "1:1", resolution: "2K" }],
  ["3840x2160", { ratio: "16:9", resolution: "4K" }],
  ["4096x4096", { ratio: "1:1", resolution: "4K" }],
  ["900x1950", { ratio: "9:19.5", resolution: "1K" }],
])("%j is %j", (size, converted) => {
  expect(readImageSize(size, sizes)).toEqual(converted);
});

describe("a size that is not close to any supported one is refused", () => {
  test.each<[unknown]>([
    ["256x256"],
    ["8192x8192"],
    // 1.29: neither 1:1 nor 3:2.
    ["1320x1024"],
    ["0x0"],
    ["1024x0"],
    ["1024"],
    ["1024x1024 "],
    ["-1024x1024"],
    ["3K"],
    ["large"],
    [""],
    [1_024],
    [{}],
  ])("%j", (size) => {
    expect(() => readImageSize(size, sizes)).toThrow(
      expect.objectContaining({ code: "validation_failed", status: 422, param: "size" }),
    );
  });

  test("with a message that lists the supported sizes", () => {
    expect(() => readImageSize("7x7", sizes)).toThrow("1:1, 2:3, 3:2, 9:16, 16:9, 9:19.5");
    expect(() => readImageSize("7x7", sizes)).toThrow("512 (512x512 pixels), 1K (1024x1024 pixels)");
  });
});

test("an accepted size differs by at most 2% in ratio and by less than a factor of about two in pixels", () => {
  const side = fc.integer({ min: 1, max: 6_000 });
  const property = fc.property(side, side, (width, height) => {
    let converted: UpstreamSize;
    try {
      converted = readImageSize(`${width}x${height}`, sizes);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(GatewayError);
      return;
    }
    const [ratioWidth = 0, ratioHeight = 1] = (converted.ratio ?? "").split(":").map(Number);
    expect(Math.abs(width / height / (ratioWidth / ratioHeight) - 1)).toBeLessThanOrEqual(0.02);
    const square = sizes.resolutions[converted.resolution as keyof typeof sizes.resolutions] ** 2;
    expect((width * height) / square).toBeLessThanOrEqual(1.9);
    expect((width * height) / square).toBeGreaterThan(0.475);
  });
  fc.assert(property, { numRuns: 500 });
});
