import { describe, expect, test } from "bun:test";
import { matchPatterns } from "./match-patterns.ts";

const match = (texts: readonly string[], lists: { include?: string[]; exclude?: string[] }, cpuMsMax = 60_000) =>
  matchPatterns(Buffer.from(texts.join("\n")), { include: [], exclude: [], cpuMsMax, ...lists }).wanted;

describe("addresses", () => {
  const paths = ["/docs/en/a", "/docs/en/old/b", "/docs/de/ä"];

  test.each<[string, { include?: string[]; exclude?: string[] }, string[]]>([
    ["are included", { include: ["^/docs/en/"] }, ["/docs/en/a", "/docs/en/old/b"]],
    ["are included by one of several", { include: ["/old/", "^/docs/de"] }, ["/docs/en/old/b", "/docs/de/ä"]],
    ["are excluded", { exclude: ["/old/"] }, ["/docs/en/a", "/docs/de/ä"]],
    ["are excluded first", { include: ["/en/"], exclude: ["/old/"] }, ["/docs/en/a"]],
    ["may have any characters", { include: ["ä$"] }, ["/docs/de/ä"]],
  ])("%s", (_, lists, expected) => {
    const wanted = match(paths, lists);
    expect(paths.filter((_path, index) => wanted[index])).toEqual(expected);
  });
});

test("an expression that takes other engines exponential time is evaluated in linear time", () => {
  expect(match([`/docs/${"a".repeat(1_000)}!`], { include: ["^/docs/(a+)+$"] })).toEqual([false]);
});

test("addresses beyond the processor time are not compared", () => {
  const include = Array.from({ length: 20 }, (_, index) => `(.*a.*){${5 + (index % 5)}}(b|c|[^x]){5}$`);
  const texts = Array.from({ length: 20_000 }, (_, index) => `/${"xa".repeat(150)}/${index}x`);
  // Without a bound they take seconds; the patterns count too, which take some tens of milliseconds on an idle machine.
  const before = process.cpuUsage();
  match(texts.slice(0, 1), { include });
  const { user, system } = process.cpuUsage(before);
  const { length } = match(texts, { include }, 300 + (2 * (user + system)) / 1_000);
  expect(length).toBeGreaterThan(0);
  expect(length).toBeLessThan(texts.length);
});
