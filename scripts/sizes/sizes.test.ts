import { expect, test } from "bun:test";
import { checkSizes } from "./check-sizes.ts";
import { exceptions, exceptionsMax } from "./limits.ts";

const lines = (count: number, line = "  f();"): string => `${line}\n`.repeat(count);
const check = (source: string, allowed: Record<string, string> = {}): string[] =>
  checkSizes(new Map([["src/core/a.ts", source]]), allowed);

test.each([
  ["a function of 60 lines", `function f() {\n${lines(58)}}\n`, []],
  ["one of 61", `function f() {\n${lines(59)}}\n`, ["src/core/a.ts:1 f: has 61 lines, more than 60"]],
  ["a method", `class A {\n  #m() {\n${lines(59)}  }\n}\n`, ["src/core/a.ts:2 #m: has 61 lines"]],
  ["a function in a variable", `\nconst g = () => {\n${lines(59)}};\n`, ["src/core/a.ts:2 g: has 61 lines"]],
  ["a class of 250 lines", `class A {\n${lines(248, "  // why")}}\n`, []],
  ["one of 251", `class A {\n${lines(249, "  // why")}}\n`, ["src/core/a.ts:1 A: has 251 lines, more than 250"]],
  ["30 members", `class A {\n${Array.from({ length: 30 }, (_, at) => `  m${at} = 1;\n`).join("")}}\n`, []],
  [
    "31 members",
    `class A {\n${Array.from({ length: 31 }, (_, at) => `  m${at} = 1;\n`).join("")}}\n`,
    ["src/core/a.ts:1 A: has 31 members, more than 30"],
  ],
  ["three levels", "function f() { if (a) for (;;) { while (b) c(); } }\n", []],
  ["four levels", "function f() { if (a) for (;;) { while (b) try { c(); } finally {} } }\n", ["f: is nested 4 deep"]],
  ["else if", "function f() { if (a) b(); else if (c) d(); else if (e) g(); else if (h) i(); else j(); }\n", []],
  [
    "a function in a function counts for itself",
    "function f() { if (a) for (;;) { while (b) (() => { if (c) d(); })(); } }\n",
    [],
  ],
] satisfies [string, string, string[]][])("%s", (_, source, expected) => {
  const findings = check(source);
  expect(findings).toHaveLength(expected.length);
  for (const [index, finding] of expected.entries()) expect(findings[index]).toContain(finding);
});

test("an exception allows it, and is itself reported once it is not needed", () => {
  const large = `function f() {\n${lines(59)}}\n`;
  expect(check(large, { "src/core/a.ts f": "a table" })).toEqual([]);
  expect(check("f();\n", { "src/core/a.ts f": "a table" })).toEqual([
    "src/core/a.ts f is an exception in scripts/sizes/limits.ts and within the limits; remove it there",
  ]);
});

test("casts are counted, `as const` is none", () => {
  expect(check(lines(1_000, "const a = 1 as const;"))).toEqual([]);
  expect(check(`${lines(999)}${lines(2, "const a = b as C;")}`)).toEqual([
    "src/ has 2 casts, more than 1: narrow or parse the value, so that the compiler follows",
  ]);
});

test("tests and their fixtures are not judged", () => {
  const large = `function f() {\n${lines(59)}}\n`;
  const others = ["src/core/a.test.ts", "src/core/__fixtures__/b.ts", "test/kit/c.ts"];
  expect(checkSizes(new Map(others.map((path) => [path, large])), {})).toEqual([]);
});

test("lasting exceptions are few, each with a reason", () => {
  expect(Object.keys(exceptions).length).toBeLessThanOrEqual(exceptionsMax);
  for (const reason of Object.values(exceptions)) expect(reason.length).toBeGreaterThan(20);
});
