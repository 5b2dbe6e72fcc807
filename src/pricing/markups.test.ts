import { expect, test } from "bun:test";
import { markupsOf } from "./markups.ts";

const markups = { "openai/*": 1.2, "*": 1.1, "openai/gpt-*": 1.3, "openai/gpt-4o": 0.9, "web/native": 2 };

test.each<[string, number]>([
  ["openai/gpt-4o", 0.9],
  ["openai/gpt-4o-mini", 1.3],
  // The later glob wins, although the earlier one tells more of the name.
  ["openai/o3", 1.1],
  ["xai/grok-4", 1.1],
  ["web/native", 2],
])("of %s the last match counts", (id, factor) => {
  expect(markupsOf(markups, 5)(id)).toBe(BigInt(factor * 1e6));
});

test("a model that none matches has the usual factor, with all its six decimals", () => {
  expect(markupsOf({ "openai/*": 1.2 }, 1.000001)("xai/grok-4")).toBe(1_000_001n);
});
