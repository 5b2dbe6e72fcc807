import { expect, test } from "bun:test";
import { needsOldTask, validDefinition, validInputSchema } from "./definitions.ts";

test.each([
  [undefined],
  ["text"],
  [{ type: "array" }],
  [{ type: ["object"] }],
  [{ type: "object", properties: [] }],
  [{ type: "object", required: [1] }],
  [{ type: "object", required: "a" }],
])("%j is no schema of arguments", (schema) => {
  expect(validInputSchema(schema)).toBeUndefined();
});

test("a schema without a type is that of an object", () => {
  expect(validInputSchema({ properties: { a: true } })).toEqual({ type: "object", properties: { a: true } });
});

test("members that clients would not take are left out", () => {
  const wrong = { title: {}, description: 5, annotations: "x", outputSchema: { type: "array" }, _meta: [1], icons: 1 };
  expect(validDefinition({ name: "a", ...wrong })).toEqual({ name: "a" });
  const annotations = { title: 1, readOnlyHint: true, openWorldHint: "no", other: 1 };
  const right = { title: "A", description: "B", outputSchema: { type: "object" }, _meta: { a: 1 } };
  expect(validDefinition({ ...right, annotations })).toEqual({ ...right, annotations: { readOnlyHint: true } });
});

test("a tool keeps the address of its page, and no huge _meta", () => {
  const meta = { ui: { resourceUri: "ui://weather/view.html" } };
  expect(validDefinition({ name: "a", _meta: meta })).toEqual({ name: "a", _meta: meta });
  expect(validDefinition({ name: "a", _meta: { a: "x".repeat(20_000) } })).toEqual({ name: "a" });
});

test("a tool that is called as an old task alone is known as such", () => {
  const needs = (taskSupport: unknown): boolean => needsOldTask({ execution: { taskSupport } });
  expect(["required", "optional", "forbidden", undefined].map(needs)).toEqual([true, false, false, false]);
  expect(needsOldTask({ name: "a" })).toBe(false);
});
