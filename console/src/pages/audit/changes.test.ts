import { expect, test } from "bun:test";
import { changesOf } from "./changes.ts";

test("the fields that differ are named, with both values", () => {
  expect(changesOf({ rpm: null, name: "ada", models: ["a"] }, { rpm: 600, name: "ada", models: ["a", "b"] })).toEqual([
    { field: "rpm", from: "null", to: "600" },
    { field: "models", from: '["a"]', to: '["a","b"]' },
  ]);
});

test("what is made has no value before, and what is removed none after", () => {
  expect(changesOf(null, { name: "ada", rpm: null })).toEqual([{ field: "name", from: undefined, to: "ada" }]);
  expect(changesOf({ name: "ada" }, null)).toEqual([{ field: "name", from: "ada", to: undefined }]);
  expect(changesOf(null, null)).toEqual([]);
});
