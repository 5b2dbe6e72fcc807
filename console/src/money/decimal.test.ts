import { expect, test } from "bun:test";
import { add, compare, decimalOf, partsOf, plainText, priceOf, roundUp, subtract, sum } from "./decimal.ts";

test.each([
  [0.1, "0.1"],
  [1e-9, "0.000000001"],
  [1.5e-7, "0.00000015"],
  [-0.02, "-0.02"],
  [900_719.925474099, "900719.925474099"],
  [1e21, "1000000000000000000000"],
  ["12.340", "12.34"],
])("%p is exactly %p", (value, text) => {
  expect(plainText(decimalOf(value))).toBe(text);
});

test("sums of decimals are those of their texts, not of floats", () => {
  expect(plainText(sum([0.1, 0.2, 1e-9].map(decimalOf)))).toBe("0.300000001");
  expect(plainText(subtract(decimalOf(0.3), decimalOf(0.1)))).toBe("0.2");
  expect(compare(add(decimalOf(0.1), decimalOf(0.2)), decimalOf(0.3))).toBe(0);
});

test("amounts are shown with two decimals at least, and all that they have", () => {
  const shown = [0, 12, 1234567.5, 0.000_012_5, -3.1].map((value) => {
    const { whole, fraction } = partsOf(decimalOf(value));
    return whole + fraction;
  });
  expect(shown).toEqual(["0.00", "12.00", "1,234,567.50", "0.0000125", "−3.10"]);
});

test("a price counts for a part of its units", () => {
  expect(plainText(priceOf(decimalOf(0.25), 17, 1_000_000))).toBe("0.00000425");
  expect(plainText(priceOf(decimalOf(0.36), 1_500, 3_600_000))).toBe("0.00015");
  expect(plainText(roundUp(decimalOf("0.0000000001"), 9))).toBe("0.000000001");
});

test("no number is no decimal", () => {
  expect(() => decimalOf(Number.NaN)).toThrow("no decimal");
});
