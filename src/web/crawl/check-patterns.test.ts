import { expect, test } from "bun:test";
import { checkPatterns } from "./check-patterns.ts";

const refusalOf = (lists: { includePaths?: string[]; excludePaths?: string[] }): Promise<unknown> =>
  checkPatterns({ includePaths: [], excludePaths: [], ...lists }).catch((thrown: unknown) => thrown);

test("a pattern that is none is refused with its place", async () => {
  const refused = await refusalOf({ excludePaths: ["^/a", "("] });
  expect(refused).toMatchObject({ code: "validation_failed", param: "excludePaths.1" });
  // RE2 has no look-ahead: it could take exponential time.
  expect(await refusalOf({ includePaths: ["(?=a)"] })).toMatchObject({ param: "includePaths.0" });
});

test.each([
  ["one that repeats much", ["x{0,1000}".repeat(55)], 0],
  ["one that repeats a repetition", ["(?:(?:x{0,31}){0,31}y?){1}".repeat(9)], 0],
  ["many that are large together", Array.from({ length: 100 }, () => "[a-z]{0,100}/[0-9]{50}"), 7],
])("%s is refused: each address takes longer with it", async (_, includePaths, index) => {
  expect(await refusalOf({ includePaths })).toMatchObject({
    code: "validation_failed",
    param: `includePaths.${index}`,
  });
});

test("a hundred usual ones are not", async () => {
  const includePaths = Array.from({ length: 100 }, (_, index) => `^/docs/v${index}/.*`);
  expect(await refusalOf({ includePaths })).toBeUndefined();
});
