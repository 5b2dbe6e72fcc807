import { expect, test } from "bun:test";
import { z } from "zod";
import { parseBody } from "./parse-body.ts";
import { repeatsKey } from "./repeated-keys.ts";

const schema = z.looseObject({ a: z.looseObject({}).nullish() });
const repeats = (text: string, named?: object) =>
  repeatsKey(parseBody(Buffer.from(text), schema, ["opaque"], named as Record<string, unknown>));

const long = "x".repeat(5_000);

test.each([
  '{"b":{"k":1,"k":2}}',
  '{"b":{"k":1,"k":1}}',
  '{"b":{"k":null,"k":2}}',
  String.raw`{"b":{"k":1,"\u006b":2}}`,
  '{"b":[[{"k":{"k":1,"other":2,"k":3}}]]}',
  '{"b":{"k":{"deep":1},"k":2}}',
  `{"opaque":{"k":"${long}","k":"${long}"}}`,
  '{"a":{"é":1,"é":2}}',
  '{"a":{"__proto__":1,"__proto__":2}}',
])("two members of one name: %s", (text) => {
  expect(repeats(text)).toBe(true);
});

test.each([
  "{}",
  '{"a":{"k":1,"K":2},"b":{"k":1}}',
  '{"b":{"k":":","l":"{\\":\\":1}"},"c":[{"k":1},{"k":1}]}',
  `{"opaque":{"k":"${long}","l":"${long}"}}`,
  '{"a":{"é":1,"è":"ü"},"b":{"é":1}}',
  '{"b":{"__proto__":1,"constructor":{"__proto__":{"k":1}}}}',
  '{"a":null,"b":[],"c":[[],{}]}',
])("none: %s", (text) => {
  expect(repeats(text)).toBe(false);
});

test("members of the address are not in the bytes", () => {
  expect(repeats('{"b":{"k":1}}', { model: "x", stream: false })).toBe(false);
  expect(repeats('{"b":{"k":1,"k":1}}', { model: "x" })).toBe(true);
});
