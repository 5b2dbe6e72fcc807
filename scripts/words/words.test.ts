import { describe, expect, test } from "bun:test";
import { root } from "../shared/steps.ts";
import { countHabits, findHabits, proseOf } from "./count-words.ts";
import { readScope, scopes } from "./scopes.ts";

describe("this repository", () => {
  test.each(scopes)("$name: no habit exceeds its bound", async (scope) => {
    const { words, counts } = countHabits(await readScope(root, scope));
    expect(words).toBeGreaterThan(1_000);
    expect(counts.filter(({ isExceeded }) => isExceeded)).toEqual([]);
  });
});

describe("the counter", () => {
  const source = [
    "/** Undefined where there is none. What is held says `where it` lies. */",
    'const text = "where it is anew"; // The dearest one.',
    "```",
  ].join("\n");

  test("reads comments only, without code", () => {
    expect(proseOf("a.ts", source.slice(0, -4)).text).not.toContain("lies. */");
    expect(proseOf("a.ts", source.slice(0, -4)).text).not.toContain("anew");
  });

  test("reads documents without their code", () => {
    const { text } = proseOf("a.md", "One.\n\n```sh\nwhere it is\n```\n\nTwo `what is` three.");
    expect(text).toBe("One. Two code three.");
  });

  test("counts each habit and shows its place", () => {
    const prose = proseOf("a.ts", source.slice(0, -4));
    expect(findHabits(prose).map(({ path, habit }) => [path, habit.name])).toEqual([
      ["a.ts", 'conditional "where"'],
      ["a.ts", 'headless "what is/has"'],
      ["a.ts", 'any "what"'],
      ["a.ts", '"told", "tells", "says"'],
      ["a.ts", "private words"],
    ]);
    const { words, counts } = countHabits([prose, prose]);
    expect(words).toBe(2 * 14);
    expect(counts.map(({ count }) => count)).toEqual([2, 2, 2, 2, 2]);
    expect(counts.every(({ isExceeded }) => isExceeded)).toBe(true);
  });

  test("prose without habits exceeds no bound", () => {
    expect(countHabits([proseOf("a.md", "The hold is released if the call fails.")]).counts).toSatisfy((counts) =>
      counts.every(({ isExceeded }) => !isExceeded),
    );
  });
});
