import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { globsMeet, matchesGlob } from "./globs.ts";

describe("a glob", () => {
  test.each<[string, string, boolean]>([
    ["openai/gpt-5", "openai/gpt-5", true],
    ["openai/gpt-5", "openai/gpt-5-mini", false],
    ["openai/gpt-5", "xopenai/gpt-5", false],
    ["*", "", true],
    ["*", "anything/at all", true],
    ["", "", true],
    ["", "a", false],
    ["openai/*", "openai/", true],
    ["openai/*", "openai/a/b", true],
    ["openai/*", "Openai/a", false],
    ["*-mini", "openai/gpt-5-mini", true],
    ["*-mini", "openai/gpt-5-mini-2", false],
    ["*gpt*mini", "openai/gpt-4o-mini", true],
    ["*mini*gpt", "openai/gpt-4o-mini", false],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["a*b*b", "ab", false],
    ["a**b", "ab", true],
    ["gpt-4.1", "gpt-4x1", false],
    ["gpt-[45]", "gpt-4", false],
    ["gpt-?", "gpt-4", false],
    ["(a+)+$", "(a+)+$", true],
  ])("%p on %p is %p", (glob, text, matches) => {
    expect(matchesGlob(glob, text)).toBe(matches);
  });

  test("agrees with the equivalent regular expression", () => {
    const unit = fc.constantFrom("a", "b", "*");
    fc.assert(
      fc.property(
        fc.string({ unit, maxLength: 6 }),
        fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 }),
        (glob, text) => {
          const expression = new RegExp(`^${glob.replaceAll("*", ".*")}$`);
          expect(matchesGlob(glob, text)).toBe(expression.test(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  test("does not take exponential time", () => {
    const started = performance.now();
    expect(matchesGlob("a*".repeat(40), `${"a".repeat(200)}b`)).toBe(true);
    expect(matchesGlob(`${"a*".repeat(40)}c`, "a".repeat(10_000))).toBe(false);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

test.each<[one: string, other: string, meet: boolean]>([
  ["openai/*", "openai/gpt-5", true],
  ["openai/gpt-5", "openai/gpt-5", true],
  ["openai/gpt-5", "openai/gpt-6", false],
  ["openai/*", "xai/*", false],
  ["openai/*-mini", "*-mini", true],
  ["openai/*-mini", "openai/*-nano", false],
  ["*", "x", true],
  ["a*b*c", "a*c", true],
  ["ab*", "a*", true],
  ["*ab", "*cab", true],
  ["*", "", true],
  ["a*a", "a", false],
])("whether some text matches %p and %p: %p", (one, other, meet) => {
  expect(globsMeet(one, other)).toBe(meet);
  expect(globsMeet(other, one)).toBe(meet);
});

test("globs meet if and only if there is a text that both match", () => {
  const glob = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 4 });
  const texts = [""];
  for (const text of texts) if (text.length < 7) texts.push(`${text}a`, `${text}b`);
  const property = fc.property(glob, glob, (one, other) => {
    const both = texts.some((text) => matchesGlob(one, text) && matchesGlob(other, text));
    expect(globsMeet(one, other)).toBe(both);
  });
  fc.assert(property);
});
