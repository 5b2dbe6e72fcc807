import { expect, test } from "bun:test";
import { operationsOf } from "./operations.ts";

const reference = (index: number) => ({ $ref: `#/components/schemas/S${index}` });

test("schemas that refer to each other without end are copied within bounds, the nearest first", () => {
  const count = 300;
  const schemas = Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const properties = { a: reference((index + 1) % count), b: reference((index * 7) % count) };
      return [`S${index}`, { type: "object", description: "x".repeat(1_000), properties }];
    }),
  );
  const body = { content: { "application/json": { schema: reference(0) } } };
  const paths = Object.fromEntries(
    Array.from({ length: 265 }, (_, index) => [`/p${index}`, { post: { requestBody: body } }]),
  );
  const operations = [...operationsOf({ paths, components: { schemas } }).values()];
  expect(operations).toHaveLength(265);
  expect(JSON.stringify(operations).length).toBeLessThan(4 * 1024 * 1024);
  const { $defs: definitions } = (operations[0]?.definition["inputSchema"] ?? {}) as { $defs: Record<string, object> };
  expect(definitions["S0"]).toMatchObject({ properties: { a: { $ref: "#/$defs/S1" } } });
  expect(Object.values(definitions)).toContainEqual({});
});
