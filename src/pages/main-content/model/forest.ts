/**
 * Boosted decision trees over a row of numbers, as data. Each node takes three places of `nodes`: the column to look at,
 * the threshold, and the node to go to if the value exceeds it; the next node is the one otherwise. A leaf has column -1
 * and its value in place of the threshold.
 */
export interface Forest {
  /** The log-odds before any tree. */
  readonly base: number;
  readonly trees: readonly (readonly number[])[];
}

/** The probability that a forest gives a row. */
export function predict({ base, trees }: Forest, row: ArrayLike<number>): number {
  let score = base;
  for (const tree of trees) score += leafOf(tree, row);
  return 1 / (1 + Math.exp(-score));
}

function leafOf(tree: readonly number[], row: ArrayLike<number>): number {
  let at = 0;
  for (;;) {
    const column = tree[at] ?? -1;
    const value = tree[at + 1] ?? 0;
    if (column < 0) return value;
    at = (row[column] ?? 0) > value ? (tree[at + 2] ?? 0) : at + 3;
  }
}
