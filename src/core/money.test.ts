import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  applyMarkup,
  costOf,
  creditsNumber,
  formatCredits,
  NANO_PER_CREDIT,
  parseCredits,
  parseMarkup,
  parseRate,
  roundUpToNano,
} from "./money.ts";

describe("amounts of credits", () => {
  test.each<[number | string, bigint]>([
    ["0", 0n],
    ["1", 1_000_000_000n],
    ["12.5", 12_500_000_000n],
    [" 0.1 ", 100_000_000n],
    ["0.000000001", 1n],
    ["1.100000000000", 1_100_000_000n],
    ["007", 7_000_000_000n],
    ["-0.25", -250_000_000n],
    [0.1, 100_000_000n],
    [1e-7, 100n],
    [1e-9, 1n],
    [1e20, 10n ** 29n],
    ["123456789012.123456789", 123_456_789_012_123_456_789n],
  ])("reads %p as %p nano-credits", (written, nano) => {
    expect(parseCredits(written)).toBe(nano);
  });

  test.each(["", " ", "abc", "1e3", "1.", ".5", "1,5", "0x10", "--1", "+1", "1 2", "NaN", "Infinity", "١"])(
    "refuses %p",
    (written) => {
      expect(() => parseCredits(written)).toThrow(RangeError);
    },
  );

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])("refuses the number %p", (written) => {
    expect(() => parseCredits(written)).toThrow(RangeError);
  });

  test("refuses digits below one nano-credit instead of rounding them", () => {
    expect(() => parseCredits("0.0000000001")).toThrow("at most 9 decimals");
    expect(() => parseCredits(1e-10)).toThrow("at most 9 decimals");
  });

  test.each<[bigint, string]>([
    [0n, "0"],
    [1n, "0.000000001"],
    [1_500_000_000n, "1.5"],
    [-1n, "-0.000000001"],
    [-2_000_000_000n, "-2"],
    [10n ** 27n + 10n, "1000000000000000000.00000001"],
  ])("writes %p as %p", (nano, written) => {
    expect(formatCredits(nano)).toBe(written);
  });

  test("a written amount is read back and has no superfluous digits", () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 24n), 10n ** 24n), (nano) => {
        const written = formatCredits(nano);
        expect(parseCredits(written)).toBe(nano);
        expect(written).not.toMatch(/\.\d*0$|\.$/);
      }),
    );
  });

  test("numbers are exact up to eight million credits", () => {
    fc.assert(
      fc.property(fc.bigInt(-8_000_000n * NANO_PER_CREDIT, 8_000_000n * NANO_PER_CREDIT), (nano) => {
        expect(parseCredits(creditsNumber(nano))).toBe(nano);
      }),
    );
  });
});

describe("rates", () => {
  test.each<[number, number, bigint]>([
    [1, 1_000_000, 1_000_000_000n],
    [0.15, 1_000_000, 150_000_000n],
    [1, 1_000, 1_000_000_000_000n],
    [0, 1_000_000, 0n],
    [1e-7, 1_000_000, 100n],
    [0.0000000005, 1_000_000, 1n],
    [0.0000000004, 1_000_000, 0n],
  ])("%p credits per %p units are %p femto-credits a unit", (price, per, femto) => {
    expect(parseRate(price, per)).toBe(femto);
  });

  test.each([-0.01, Number.NaN, Number.POSITIVE_INFINITY])("refuses the price %p", (price) => {
    expect(() => parseRate(price, 1_000_000)).toThrow(RangeError);
  });

  test("a million tokens cost the price of a million tokens", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000 }), (millicents) => {
        const price = millicents / 100_000;
        expect(roundUpToNano(costOf(1_000_000, parseRate(price, 1_000_000)))).toBe(parseCredits(price));
      }),
    );
  });

  test("a fraction of a nano-credit is rounded up once, never down", () => {
    expect(roundUpToNano(0n)).toBe(0n);
    expect(roundUpToNano(1n)).toBe(1n);
    expect(roundUpToNano(1_000_000n)).toBe(1n);
    expect(roundUpToNano(1_000_001n)).toBe(2n);
  });

  test("a cost needs whole units", () => {
    expect(costOf(3, 7n)).toBe(21n);
    expect(() => costOf(1.5, 7n)).toThrow(RangeError);
  });
});

describe("markup", () => {
  test.each<[number, bigint]>([
    [1, 1_000_000n],
    [1.25, 1_250_000n],
    [0.5, 500_000n],
    [1e-6, 1n],
    [100, 100_000_000n],
  ])("%p is %p millionths", (markup, millionths) => {
    expect(parseMarkup(markup)).toBe(millionths);
  });

  test("rounds up to one nano-credit", () => {
    expect(applyMarkup(10n, 1_000_000n)).toBe(10n);
    expect(applyMarkup(10n, 1_250_000n)).toBe(13n);
    expect(applyMarkup(1n, 1n)).toBe(1n);
    expect(applyMarkup(0n, 9_000_000n)).toBe(0n);
  });
});
