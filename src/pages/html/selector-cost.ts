/**
 * What a selector may cost, from its text alone: one for each of its parts. What stands in `:has()` and `:nth-child()` is
 * compared with many elements instead of one.
 */
const manyWeight = 8;

/** Of all selectors of a request. A hundred that name an element in its place have some 500. */
export const selectorCostMax = 3_000;

const comparesMany = /:(?:has|nth-(?:last-)?(?:child|of-type))$/i;

/** Characters of a pseudo-class before its parenthesis. */
const nameCharactersMax = 24;

/** Strings and attributes, escapes, combinators, names and numbers, and all other characters one by one. */
const parts = /"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|\[[^\]]*\]?|\\.|\s*[>+~,]\s*|\s+|[\w-]+|./gsu;

export function selectorCostOf(selectors: readonly string[]): number {
  return selectors.reduce((sum, selector) => sum + costOf(selector), 0);
}

function costOf(selector: string): number {
  const weights = [1];
  let cost = 0;
  for (const { 0: part, index } of selector.matchAll(parts)) {
    const weight = weights.at(-1) ?? 1;
    if (part === "(") {
      const isMany = comparesMany.test(selector.slice(Math.max(0, index - nameCharactersMax), index));
      weights.push(Math.min(isMany ? weight * manyWeight : weight, selectorCostMax));
    } else if (part === ")") weights.pop();
    else cost += weight;
  }
  return cost;
}

/** Characters of one selector. */
export const selectorCharactersMax = 1_000;
