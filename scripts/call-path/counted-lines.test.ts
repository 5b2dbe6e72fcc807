import { expect, test } from "bun:test";
import { type Counted, countedLines, moreOften, without, withoutConstants } from "./counted-lines.ts";

const countedOf = (a: number, b: number): Counted =>
  countedLines(
    `TN:\nSF:src/a.ts\nFNF:1\nDA:1,${a}\nDA:2,1\nend_of_record\nSF:src/b.ts\nDA:7,${b}\nend_of_record\nSF:test/c.ts\nDA:1,${a}\n`,
  );

test("what another call executes are the lines of src that are counted more often", () => {
  expect([...moreOften(countedOf(4, 1), countedOf(3, 1))]).toEqual([["src/a.ts", [1]]]);
  expect([...moreOften(countedOf(4, 9), countedOf(3, 0))]).toEqual([
    ["src/a.ts", [1]],
    ["src/b.ts", [7]],
  ]);
});

test("what an idle process executes too is not the call's", () => {
  const path = moreOften(countedOf(4, 9), countedOf(3, 0));
  expect([...without(path, moreOften(countedOf(3, 5), countedOf(3, 0)))]).toEqual([["src/a.ts", [1]]]);
});

test("a constant of a file is no line that a call executes", () => {
  const text = ["const LF = 0x0a;", "export const LIMIT_MS = 1_000;", "  const own = 5;", "const size = sizeOf(text);"];
  const lines = new Map([
    ["src/a.ts", [1, 2, 3, 4]],
    ["src/b.ts", [1]],
  ]);
  expect([...withoutConstants(lines, () => text)]).toEqual([["src/a.ts", [3, 4]]]);
});
