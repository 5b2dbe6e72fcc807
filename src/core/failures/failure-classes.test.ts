import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { failureTraits } from "./failure-classes.ts";

const page = readFileSync(join(import.meta.dir, "../../../docs/routing.md"), "utf8");

test("the documented table is this one", () => {
  const rows = page.split("\n").flatMap((line) => {
    const [, name, , key, repeats, unavailable] = line.split("|").map((cell) => cell.trim());
    // The table of candidates has fewer columns.
    return name?.startsWith("`") === true && unavailable !== undefined ? [[name, key, repeats, unavailable]] : [];
  });
  const saysYes = (fact: boolean): string => (fact ? "yes" : "no");
  expect(rows).toEqual(
    Object.entries(failureTraits).map(([name, { key, repeats, isUnavailable }]) => [
      `\`${name}\``,
      key === "fine" ? "" : key,
      saysYes(repeats),
      saysYes(isUnavailable),
    ]),
  );
});
