import { describe, expect, test } from "bun:test";
import { byteSize, duration, parseDuration } from "./units.ts";

describe("sizes", () => {
  test.each<[string | number, number]>([
    ["1B", 1],
    ["512KiB", 524_288],
    ["32MiB", 33_554_432],
    ["2GiB", 2_147_483_648],
    [1000, 1000],
  ])("%p is %p bytes", (text, bytes) => {
    expect(byteSize.parse(text)).toBe(bytes);
  });

  test.each([
    "",
    "0B",
    "032MiB",
    "32",
    "32MB",
    "32 MiB",
    "-1MiB",
    "1.5MiB",
    "MiB",
    "32mib",
    0,
    -1,
    1.5,
    true,
    null,
    "1MiB\n",
  ])("%p is not a size", (text) => {
    expect(byteSize.safeParse(text).success).toBe(false);
  });
});

describe("durations", () => {
  test.each<[string | number, number]>([
    ["250ms", 250],
    ["30s", 30_000],
    ["5m", 300_000],
    ["12h", 43_200_000],
    ["30d", 2_592_000_000],
    [1500, 1500],
  ])("%p is %p milliseconds", (text, milliseconds) => {
    expect(duration.parse(text)).toBe(milliseconds);
  });

  test.each(["", "0s", "05m", "30", "30sec", "1.5h", "-1s", "s", "1h30m", 0, -5, 0.5, false, "1s "])(
    "%p is not a duration",
    (text) => {
      expect(duration.safeParse(text).success).toBe(false);
    },
  );

  test("an invalid duration is refused with examples", () => {
    expect(parseDuration("90m")).toBe(5_400_000);
    expect(() => parseDuration("soon")).toThrow('"soon" is no duration: write 30d, 12h, 15m or 30s');
  });
});
