import { expect, test } from "bun:test";
import { join } from "node:path";
import { root } from "../shared/steps.ts";
import { extractSchemas, writeSchemas } from "./extract.ts";
import { roots } from "./roots.ts";

const document = {
  openapi: "3.1.0",
  info: { title: "An API", version: "1", description: "prose" },
  paths: {},
  components: {
    schemas: {
      Answer: {
        description: "prose",
        "x-order": 1,
        type: "object",
        required: ["description"],
        properties: {
          description: { type: "string", example: "prose" },
          parts: { type: "array", items: { $ref: "#/components/schemas/Part" } },
        },
      },
      Part: { oneOf: [{ $ref: "#/components/schemas/Answer" }, { enum: [{ title: "a value" }] }] },
      Other: { type: "string" },
    },
  },
};

test("a schema includes its references, without prose", () => {
  expect(extractSchemas(document, ["Answer"])).toEqual({
    openapi: "3.1.0",
    info: { title: "An API", version: "1" },
    components: {
      schemas: {
        Answer: {
          type: "object",
          required: ["description"],
          properties: {
            description: { type: "string" },
            parts: { type: "array", items: { $ref: "#/components/schemas/Part" } },
          },
        },
        Part: { oneOf: [{ $ref: "#/components/schemas/Answer" }, { enum: [{ title: "a value" }] }] },
      },
    },
  });
});

test("a schema that the document lacks is named", () => {
  expect(() => extractSchemas(document, ["Answers"])).toThrow("no schema Answers");
});

test("the text has a line for each schema", () => {
  const extracted = extractSchemas(document, ["Other", "Answer"]);
  const text = writeSchemas(extracted);
  expect(JSON.parse(text)).toEqual(extracted);
  expect(text.split("\n").filter((line) => /^"\w+": /.test(line))).toHaveLength(3);
});

test.each(Object.entries(roots))(
  "the repository's %s.json holds its schemas and nothing else",
  async (owner, names) => {
    const text = await Bun.file(join(root, "test/schemas", `${owner}.json`)).text();
    expect(writeSchemas(extractSchemas(JSON.parse(text), names))).toBe(text);
  },
);
