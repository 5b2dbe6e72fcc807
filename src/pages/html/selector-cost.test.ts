import { describe, expect, test } from "bun:test";
import { selectorCostMax, selectorCostOf } from "./selector-cost.ts";

const attack = "p:not(:nth-last-child(2n+1 of p ~ p ~ p)):has(~ p ~ p ~ i)";

describe("what selectors cost", () => {
  test.each([
    ["main", 1],
    ["div.content > p:first-child", 7],
    ["main article > div:not(.ad, #promotion)", 12],
    ["[data-a~='x > y ~ z'], a\\:b", 5],
    ["li:nth-child(2n+1)", 27],
    ["section:has(> h2 ~ p)", 35],
  ])("%s", (selector, cost) => {
    expect(selectorCostOf([selector])).toBe(cost);
  });

  test("usual ones are far below the bound", () => {
    const usual = ["header", "nav", ".sidebar > ul li.active a", "#main .article:not(.ad) p", "table tr:nth-child(2)"];
    expect(selectorCostOf(Array.from({ length: 100 }, (_, index) => usual[index % 5] ?? ""))).toBeLessThan(
      selectorCostMax,
    );
  });

  test("a few hard ones are within it, a hundred are not", () => {
    expect(selectorCostOf(Array.from({ length: 5 }, () => attack))).toBeLessThan(selectorCostMax);
    expect(selectorCostOf(Array.from({ length: 100 }, () => attack))).toBeGreaterThan(selectorCostMax);
    expect(selectorCostOf([":has(".repeat(150)])).toBeGreaterThan(selectorCostMax);
  });

  test("the longest take a moment to count", () => {
    const before = performance.now();
    for (const piece of ["(", "[", '"', "\\", " ", "a ", ":has("]) {
      selectorCostOf(Array.from({ length: 100 }, () => piece.repeat(1_000).slice(0, 1_000)));
    }
    expect(performance.now() - before).toBeLessThan(1_000);
  });
});
