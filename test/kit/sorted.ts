/** Texts in the order of their characters, for comparisons in which the order does not matter. */
export function sorted(texts: Iterable<string>): string[] {
  return [...texts].toSorted((a, b) => (a < b ? -1 : Number(a > b)));
}
