import { expect, test } from "bun:test";
import { countedLines, moreOften } from "./counted-lines.ts";

const lcovOf = (a: number, b: number): string =>
  `TN:\nSF:src/a.ts\nFNF:1\nDA:1,${a}\nDA:2,1\nend_of_record\nSF:src/b.ts\nDA:7,${b}\nend_of_record\nSF:test/c.ts\nDA:1,${a}\n`;

test("what another call executes are the lines of src that are counted more often", () => {
  expect([...moreOften(countedLines(lcovOf(4, 1)), countedLines(lcovOf(3, 1)))]).toEqual([["src/a.ts", 1]]);
  expect([...moreOften(countedLines(lcovOf(4, 9)), countedLines(lcovOf(3, 0)))]).toEqual([
    ["src/a.ts", 1],
    ["src/b.ts", 1],
  ]);
});
