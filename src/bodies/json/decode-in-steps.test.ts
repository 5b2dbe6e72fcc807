import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodeInSteps } from "./decode-in-steps.ts";
import { scanObject } from "./scan.ts";

const bounds = { depthMax: 64, membersMax: 64, valuesMax: 1_000, keysMax: 1_000, bareBytesMax: 1_000 };
const STEP = 4 * 1024 * 1024;

async function decode(text: string): Promise<{ value: unknown; pauses: number }> {
  const bytes = Buffer.from(text);
  const scan = scanObject(bytes, bounds);
  if ("refused" in scan) throw new Error(scan.refused);
  let pauses = 0;
  const value = await decodeInSteps(bytes, scan.longStrings, () => {
    pauses += 1;
    return Promise.resolve();
  });
  return { value, pauses };
}

describe("strings are decoded as by JSON.parse", () => {
  test.each<[string, string]>([
    ["letters", "x"],
    ["letters of three bytes", "日"],
    ["letters of four bytes", "😀"],
    ["escaped quotes", '\\"'],
    ["escaped backslashes", "\\\\"],
    ["line feeds", "\\n"],
    ["escaped letters", "\\u65e5"],
    ["escaped pairs", "\\ud83d\\ude00"],
    ["backslashes and letters that look like escapes", "\\\\u65e5"],
    ["three backslashes and a quote", '\\\\\\"'],
    ["mixtures", 'é\\u00e9\\"\\\\日'],
  ])("%s, wherever they are cut", async (_title, unit) => {
    const count = Math.ceil((2.5 * STEP) / Buffer.byteLength(unit));
    for (let shift = 0; shift < 12; shift += 5) {
      const text = `{"a":["${"-".repeat(shift)}${unit.repeat(count)}",{"b":"short"}]}`;
      const { value, pauses } = await decode(text);
      expect(Bun.hash(JSON.stringify(value))).toBe(Bun.hash(JSON.stringify(JSON.parse(text))));
      expect(pauses).toBe(3);
    }
  });

  test("of random pieces around the cuts", async () => {
    const piece = fc.constantFrom("x", "é", "日", "😀", '\\"', "\\\\", "\\n", "\\u65e5", "\\ud83d\\ude00");
    const around = fc.array(piece, { minLength: 10, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(around, fc.integer({ min: 0, max: 30 }), async (pieces, before) => {
        const text = `{"a":"${"x".repeat(STEP - before)}${pieces.join("")}${"y".repeat(100)}"}`;
        const { value } = await decode(text);
        expect(Bun.hash(JSON.stringify(value))).toBe(Bun.hash(JSON.stringify(JSON.parse(text))));
      }),
      { numRuns: 30 },
    );
  });
});

test("only very long values are decoded in steps", async () => {
  const key = "k".repeat(STEP + 1);
  const { value, pauses } = await decode(`{"__proto__":"short","a":{"${key}" :1,"c":"${"x".repeat(STEP - 2)}"}}`);
  expect(pauses).toBe(0);
  expect(Object.keys(value as object)).toEqual(["__proto__", "a"]);
});

test("a long value of __proto__ stays an own property", async () => {
  const { value } = await decode(`{"__proto__":"${"x".repeat(STEP)}"}`);
  expect(Object.getOwnPropertyDescriptor(value, "__proto__")?.value).toHaveLength(STEP);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test.each([
  ["an invalid escape", `{"a":"${"x".repeat(STEP)}\\x"}`],
  ["a line feed", `{"a":"${"x".repeat(STEP)}\n"}`],
  ["half an escape", `{"a":"${"x".repeat(STEP)}\\u12"}`],
  ["a missing comma", `{"a":["${"x".repeat(STEP)}" 1]}`],
])("%s is a SyntaxError", async (_title, text) => {
  const reason: unknown = await decode(text).catch((thrown: unknown) => thrown);
  expect(reason).toBeInstanceOf(SyntaxError);
});
