/**
 * Boosted decision trees over a row of numbers, as data. Each node takes three places of a tree: the column to look at,
 * the threshold, and the node to go to if the value exceeds it; the next node is the one otherwise. A leaf has column -1
 * and its value in place of the threshold.
 */
export interface Forest {
  /** The log-odds before any tree. */
  readonly base: number;
  readonly trees: readonly (readonly number[])[];
}

/** Gives a row a probability. */
export type Judge = (row: Float32Array) => number;

/** Lays the trees out one behind the other, without objects: pages have tens of thousands of blocks. */
export function judgeBy({ base, trees }: Forest): Judge {
  const size = trees.reduce((sum, tree) => sum + tree.length, 0) / 3;
  const columns = new Int16Array(size);
  const values = new Float32Array(size);
  const above = new Int32Array(size);
  const roots: number[] = [];
  let node = 0;
  for (const tree of trees) {
    const root = node;
    roots.push(root);
    for (let at = 0; at < tree.length; at += 3) {
      columns[node] = tree[at] ?? -1;
      values[node] = tree[at + 1] ?? 0;
      above[node] = root + (tree[at + 2] ?? 0) / 3;
      node += 1;
    }
  }
  return (row) => {
    let score = base;
    for (const root of roots) {
      let at = root;
      for (let column = columns[at] ?? -1; column >= 0; column = columns[at] ?? -1)
        at = (row[column] ?? 0) > (values[at] ?? 0) ? (above[at] ?? 0) : at + 1;
      score += values[at] ?? 0;
    }
    return 1 / (1 + Math.exp(-score));
  };
}
