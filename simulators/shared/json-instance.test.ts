import { describe, expect, test } from "bun:test";

import { z } from "zod";

import { jsonInstance } from "./json-instance.ts";

const schemas: readonly (readonly [name: string, schema: Record<string, unknown>])[] = [
  ["text", { type: "string" }],
  ["text of a length", { type: "string", minLength: 20, maxLength: 25 }],
  ["short text", { type: "string", maxLength: 3 }],
  ["pattern", { type: "string", pattern: "^[A-Z]{2}\\d{2}$" }],
  ["date", { type: "string", format: "date" }],
  ["email", { type: "string", format: "email" }],
  ["uuid", { type: "string", format: "uuid" }],
  ["enum", { enum: ["b", "a"] }],
  ["const", { const: 7 }],
  ["integer above", { type: "integer", exclusiveMinimum: 4, maximum: 6 }],
  ["integer below", { type: "integer", maximum: -3 }],
  ["multiple", { type: "integer", minimum: 10, multipleOf: 7 }],
  ["narrow number", { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 0.1 }],
  ["boolean", { type: "boolean" }],
  ["null", { type: "null" }],
  ["nullable", { type: ["null", "integer"] }],
  ["array", { type: "array", items: { type: "integer" }, minItems: 3 }],
  ["tuple", { type: "array", prefixItems: [{ type: "string" }, { type: "boolean" }] }],
  ["no items", { type: "array", items: { type: "string" }, maxItems: 0 }],
  [
    "object",
    {
      type: "object",
      properties: {
        name: { type: "string" },
        tags: { type: "array", items: { type: "string" } },
        more: { type: "number" },
      },
      required: ["name", "tags"],
      additionalProperties: false,
    },
  ],
  [
    "any of",
    { anyOf: [{ type: "object", properties: { a: { type: "integer" } }, required: ["a"] }, { type: "null" }] },
  ],
  [
    "references",
    {
      type: "object",
      properties: { step: { $ref: "#/$defs/step" } },
      required: ["step"],
      $defs: { step: { type: "object", properties: { done: { type: "boolean" } }, required: ["done"] } },
    },
  ],
];

describe("an instance satisfies its schema", () => {
  test.each(schemas)("%s", (_name, schema) => {
    const instance = jsonInstance(schema);
    expect(z.fromJSONSchema(schema).safeParse(instance)).toMatchObject({ success: true });
  });
});

test("only required members are created, or all if none is required", () => {
  const properties = { a: { type: "string" }, b: { type: "boolean" } };
  expect(jsonInstance({ type: "object", properties, required: ["b"] })).toEqual({ b: true });
  expect(jsonInstance({ type: "object", properties })).toEqual({ a: "sample a", b: true });
});

test("parts of allOf are merged", () => {
  const parts = ["a", "b"].map((name) => ({ properties: { [name]: { type: "integer" } }, required: [name] }));
  expect(jsonInstance({ type: "object", allOf: parts })).toEqual({ a: 1, b: 1 });
});

test("a schema that contains itself ends", () => {
  const node = {
    type: "object",
    properties: { value: { type: "integer" }, next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } },
    required: ["value", "next"],
  };
  const schema = { $ref: "#/$defs/node", $defs: { node } };
  const text = JSON.stringify(jsonInstance(schema));
  expect(text).toStartWith('{"value":1,"next":{"value":1');
  expect(text).toContain('"next":null');
});

test.each([
  ["itself in allOf", { allOf: [{ $ref: "#" }] }],
  [
    "itself in every member",
    { type: "object", properties: { a: { $ref: "#" }, b: { $ref: "#" } }, required: ["a", "b"] },
  ],
  ["a list of itself", { type: "array", minItems: 3, items: { $ref: "#" } }],
  ["a reference to itself", { $ref: "#" }],
])("a schema without an instance ends nevertheless: %s", (_name, schema) => {
  expect(JSON.stringify(jsonInstance(schema)).length).toBeLessThan(1_000_000);
});

test("anything but a schema gives a text", () => {
  expect(jsonInstance(true)).toBe("sample");
});
