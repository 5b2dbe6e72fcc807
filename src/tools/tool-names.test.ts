import { expect, test } from "bun:test";
import { prefixedName, takenName } from "./tool-names.ts";

test("names are those that clients take, the same on every node, and different for different tools", () => {
  expect(prefixedName("github", "get_issue")).toBe("github__get_issue");
  expect(takenName("a.b")).toMatch(/^a_b_[0-9a-f]{8}$/);
  expect(takenName("a.b")).toBe(takenName("a.b"));
  expect(takenName("a.b")).not.toBe(takenName("a:b"));
  const long = prefixedName("x".repeat(32), "y".repeat(128));
  expect(long).toHaveLength(64);
  expect(long).toStartWith(`${"x".repeat(32)}__y`);
});
