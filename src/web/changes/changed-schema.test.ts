import { expect, test } from "bun:test";
import { changedSchema } from "./changed-schema.ts";

const pair = (value: object) => {
  const side = { anyOf: [value, { type: "null" }] };
  const properties = { previous: side, current: side };
  return { type: "object", properties, required: ["previous", "current"], additionalProperties: false };
};

test("each member has a value before and now, also those of objects within", () => {
  const price = { $ref: "#/$defs/price" };
  const schema = {
    type: "object",
    properties: { title: { type: "string" }, offer: { type: "object", properties: { price } } },
    $defs: { price: { type: "number" } },
  };
  expect(changedSchema(schema)).toEqual({
    type: "object",
    properties: {
      title: pair({ type: "string" }),
      offer: { type: "object", properties: { price: pair(price) }, required: ["price"], additionalProperties: false },
    },
    required: ["title", "offer"],
    additionalProperties: false,
    $defs: schema.$defs,
  });
});

test("a schema without end has one", () => {
  const endless: Record<string, unknown> = { type: "object" };
  endless["properties"] = { again: endless };
  expect(changedSchema(endless)["type"]).toBe("object");
});

test("without a schema the model names the members", () => {
  expect(changedSchema(undefined)).toHaveProperty("additionalProperties.properties.previous");
});
