import { expect, test } from "bun:test";
import { passagesOf } from "./passages.ts";

const filler = (number: number): string =>
  `Paragraph ${number} tells about nothing in particular, at some length, as pages do.`;

test("the passages that have the words of the query are taken, in their order", () => {
  const page = [
    ...Array.from({ length: 30 }, (_, number) => filler(number)),
    "Mount Columbia is 3,747 metres high.",
    ...Array.from({ length: 30 }, (_, number) => filler(number + 30)),
    "The summit of Columbia was reached in 1902.",
  ].join("\n\n");
  const found = passagesOf(page, "Columbia summit height", 120);
  expect(found).toBe("Mount Columbia is 3,747 metres high.\n…\nThe summit of Columbia was reached in 1902.");
});

test("a short page is whole, one without the words begins at its beginning, and nothing is longer than asked", () => {
  expect(passagesOf("short", "x", 100)).toBe("short");
  expect(passagesOf("abc ".repeat(100), "zzz", 10)).toBe("abc abc ab");
  for (const text of ["word".repeat(5_000), "word ".repeat(5_000), "\n\n".repeat(5_000)])
    expect(passagesOf(text, "word", 1_000).length).toBeLessThanOrEqual(1_000);
});

test("of a page of a megabyte the beginning is looked at", () => {
  const page = Array.from({ length: 12_000 }, (_, number) => filler(number)).join("\n\n");
  expect(passagesOf(`${page}\n\nneedle`, "needle", 1_500)).not.toContain("needle");
  expect(passagesOf(`needle\n\n${page}`, "needle", 1_500)).toContain("needle");
});
