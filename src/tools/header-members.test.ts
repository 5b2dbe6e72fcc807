import { describe, expect, test } from "bun:test";
import {
  checkHeaderMembers,
  headerMembers,
  headersOf,
  withHeaderMembers,
  withoutHeaderMembers,
} from "./header-members.ts";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const city = { type: "string", "x-mcp-header": "City" };

describe("arguments that are headers", () => {
  test("are found by their path, and are not shown", () => {
    const schema = object({ city, place: object({ zip: { type: "integer", "x-mcp-header": "Zip" } }) });
    expect(headerMembers(schema)).toEqual([
      { header: "City", path: ["city"] },
      { header: "Zip", path: ["place", "zip"] },
    ]);
    expect(JSON.stringify(withoutHeaderMembers(schema))).not.toContain("x-mcp-header");
  });

  test.each<[string, Record<string, unknown>]>([
    ["twice", object({ a: city, b: { ...city, "x-mcp-header": "CITY" } })],
    ["of a number", object({ a: { ...city, type: "number" } })],
    ["of an object", object({ a: { ...city, type: "object" } })],
    ["with a line end", object({ a: { ...city, "x-mcp-header": "a\r\nb" } })],
    ["without a name", object({ a: { ...city, "x-mcp-header": "" } })],
    ["in a list", object({ a: { type: "array", items: city } })],
    ["behind a condition", object({}, { anyOf: [object({ city })] })],
  ])("make a tool invalid %s", (_what, schema) => {
    expect(headerMembers(schema)).toBeUndefined();
  });

  test("make a tool invalid beyond a number, however many there are", () => {
    const many = (count: number) =>
      object(
        Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { ...city, "x-mcp-header": `H${i}` }])),
      );
    expect(headerMembers(many(32))).toHaveLength(32);
    expect(headerMembers(many(33))).toBeUndefined();
    const since = performance.now();
    expect(headerMembers(many(50_000))).toBeUndefined();
    expect(performance.now() - since).toBeLessThan(1_000);
  });

  test("are shown again to those that repeat them, and checked", () => {
    const schema = object({ city, place: object({ zip: { type: "integer", "x-mcp-header": "Zip" } }), days: {} });
    const members = headerMembers(schema) ?? [];
    const shown = withHeaderMembers({ name: "t", inputSchema: withoutHeaderMembers(schema) }, members);
    expect(shown).toEqual({ name: "t", inputSchema: schema });
    const given = { city: "Köln", place: { zip: 50_667 } };
    const sent = headersOf(members, given);
    expect(sent).toEqual({ "mcp-param-City": "=?base64?S8O2bG4=?=", "mcp-param-Zip": "50667" });
    const check =
      (headers: Record<string, string>, args: object = given) =>
      () =>
        checkHeaderMembers(members, { ...args }, new Headers(headers));
    expect(check(sent)).not.toThrow();
    expect(check({}, { days: 2 })).not.toThrow();
    for (const [headers, args] of [
      [{}, given],
      [{ ...sent, "mcp-param-zip": "1" }, given],
      [{ ...sent, "mcp-param-city": "=?base64?S8O2bG4?=" }, given],
      [sent, { city: "Köln" }],
    ] as const)
      expect(check(headers, args)).toThrow("Mcp-Param-");
  });
});
