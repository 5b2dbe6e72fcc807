import { expect, test } from "bun:test";
import { plainText } from "../../money/decimal.ts";
import { costOf } from "./cost.ts";

test.each([
  [{ input_mtok: 0.25, output_mtok: 2 }, 1_000, 500, "0.00125"],
  [{ input_mtok: 0.02 }, 1_000, 500, "0.00002"],
  [{ input_mtok: 0, output_mtok: 0 }, 1_000, 500, "0"],
])("of %j for %d and %d tokens it is exact", (prices, input, output, cost) => {
  const found = costOf(prices, input, output);
  expect(found && plainText(found)).toBe(cost);
});

test("a model that is not priced by tokens has none", () => {
  expect(costOf({ image: 0.04 }, 1, 1)).toBeUndefined();
  expect(costOf(null, 1, 1)).toBeUndefined();
});
