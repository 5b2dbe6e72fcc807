import type { BinnedColumns } from "./bins.ts";

/** The targets of a tree: by row, the first two derivatives of the loss. */
export interface Gradients {
  readonly first: Float32Array;
  readonly second: Float32Array;
}

export interface TreeLimits {
  readonly leavesMax: number;
  /** The least sum of second derivatives in a leaf. */
  readonly leafWeightMin: number;
  /** Added to the second derivatives: pulls the values of small leaves towards zero. */
  readonly shrinkage: number;
  readonly learningRate: number;
}

/** A node under construction: a range of the rows, with the sums over it. */
interface Leaf {
  readonly from: number;
  readonly to: number;
  readonly first: number;
  readonly second: number;
  readonly histogram: Float64Array;
  readonly split: Split | undefined;
  readonly node: TreeNode;
}

interface Split {
  readonly gain: number;
  /** Index into the columns used for this tree. */
  readonly column: number;
  readonly bin: number;
}

interface TreeNode {
  value: number;
  branch: { column: number; threshold: number; below: TreeNode; above: TreeNode } | undefined;
}

/** A tree, and by row the value of the leaf it is in. */
export interface GrownTree {
  /** In the form of `Forest`. */
  readonly tree: readonly number[];
  readonly addTo: (scores: Float32Array) => void;
}

/** Grows a tree leaf by leaf, at each step the one that helps most. Reorders `rows`. */
export function growTree(
  data: BinnedColumns,
  columns: readonly number[],
  rows: Int32Array,
  { gradients, limits }: { gradients: Gradients; limits: TreeLimits },
): GrownTree {
  const grower = new Grower(data, columns, rows, gradients, limits);
  return grower.grow();
}

class Grower {
  readonly #data: BinnedColumns;
  readonly #columns: readonly number[];
  readonly #rows: Int32Array;
  readonly #gradients: Gradients;
  readonly #limits: TreeLimits;
  readonly #width: number;

  // oxlint-disable-next-line max-params -- the parts of one tree, kept as fields.
  constructor(
    data: BinnedColumns,
    columns: readonly number[],
    rows: Int32Array,
    gradients: Gradients,
    limits: TreeLimits,
  ) {
    this.#data = data;
    this.#columns = columns;
    this.#rows = rows;
    this.#gradients = gradients;
    this.#limits = limits;
    this.#width = 2 * (1 + Math.max(0, ...columns.map((column) => data.edges[column]?.length ?? 0)));
  }

  grow(): GrownTree {
    const root: TreeNode = { value: 0, branch: undefined };
    const leaves = [this.#leaf(0, this.#rows.length, root, this.#histogram(0, this.#rows.length))];
    while (leaves.length < this.#limits.leavesMax) {
      const best = leaves.reduce((one, other) => ((other.split?.gain ?? 0) > (one.split?.gain ?? 0) ? other : one));
      if (best.split === undefined) break;
      leaves.splice(leaves.indexOf(best), 1, ...this.#divide(best, best.split));
    }
    for (const { node, first, second } of leaves)
      node.value = (-first / (second + this.#limits.shrinkage)) * this.#limits.learningRate;
    return { tree: flatten(root), addTo: (scores) => this.#add(leaves, scores) };
  }

  #add(leaves: readonly Leaf[], scores: Float32Array): void {
    for (const { from, to, node } of leaves)
      for (let at = from; at < to; at += 1) {
        const row = this.#rows[at] ?? 0;
        scores[row] = (scores[row] ?? 0) + node.value;
      }
  }

  #divide(leaf: Leaf, { column, bin }: Split): Leaf[] {
    const source = this.#columns[column] ?? 0;
    const bins = this.#data.bins[source] ?? new Uint8Array();
    const middle = partition(this.#rows, leaf, (row) => (bins[row] ?? 0) <= bin);
    const below: TreeNode = { value: 0, branch: undefined };
    const above: TreeNode = { value: 0, branch: undefined };
    leaf.node.branch = { column: source, threshold: this.#data.edges[source]?.[bin] ?? 0, below, above };
    const belowIsSmaller = middle - leaf.from < leaf.to - middle;
    const smaller = belowIsSmaller ? this.#histogram(leaf.from, middle) : this.#histogram(middle, leaf.to);
    const larger = leaf.histogram.map((sum, at) => sum - (smaller[at] ?? 0));
    return [
      this.#leaf(leaf.from, middle, below, belowIsSmaller ? smaller : larger),
      this.#leaf(middle, leaf.to, above, belowIsSmaller ? larger : smaller),
    ];
  }

  #histogram(from: number, to: number): Float64Array {
    const histogram = new Float64Array(this.#columns.length * this.#width);
    const { first, second } = this.#gradients;
    for (const [index, column] of this.#columns.entries()) {
      const bins = this.#data.bins[column] ?? new Uint8Array();
      const start = index * this.#width;
      for (let at = from; at < to; at += 1) {
        const row = this.#rows[at] as number;
        const cell = start + 2 * (bins[row] as number);
        (histogram[cell] as number) += first[row] as number;
        (histogram[cell + 1] as number) += second[row] as number;
      }
    }
    return histogram;
  }

  #leaf(from: number, to: number, node: TreeNode, histogram: Float64Array): Leaf {
    let first = 0;
    let second = 0;
    for (let at = from; at < to; at += 1) {
      const row = this.#rows[at] ?? 0;
      first += this.#gradients.first[row] ?? 0;
      second += this.#gradients.second[row] ?? 0;
    }
    return { from, to, node, histogram, first, second, split: this.#findSplit(first, second, histogram) };
  }

  #findSplit(first: number, second: number, histogram: Float64Array): Split | undefined {
    const { leafWeightMin, shrinkage } = this.#limits;
    const score = (one: number, two: number): number => (one * one) / (two + shrinkage);
    const whole = score(first, second);
    let best: Split | undefined;
    for (const [column, source] of this.#columns.entries()) {
      let below = 0;
      let weight = 0;
      const edges = this.#data.edges[source]?.length ?? 0;
      for (let bin = 0; bin < edges; bin += 1) {
        const cell = column * this.#width + 2 * bin;
        below += histogram[cell] ?? 0;
        weight += histogram[cell + 1] ?? 0;
        if (weight < leafWeightMin) continue;
        if (second - weight < leafWeightMin) break;
        const gain = score(below, weight) + score(first - below, second - weight) - whole;
        if (gain > (best?.gain ?? 0)) best = { gain, column, bin };
      }
    }
    return best;
  }
}

/** Puts the rows of a leaf that pass first, and returns the index of the first other one. */
function partition(
  rows: Int32Array,
  { from, to }: { from: number; to: number },
  passes: (row: number) => boolean,
): number {
  let low = from;
  let high = to - 1;
  while (low <= high) {
    const row = rows[low] ?? 0;
    if (passes(row)) low += 1;
    else {
      rows[low] = rows[high] ?? 0;
      rows[high] = row;
      high -= 1;
    }
  }
  return low;
}

const significantDigits = 4;

function flatten(root: TreeNode): number[] {
  const nodes: number[] = [];
  const write = ({ value, branch }: TreeNode): void => {
    if (branch === undefined) {
      nodes.push(-1, round(value, significantDigits), 0);
      return;
    }
    const at = nodes.length;
    nodes.push(branch.column, round(branch.threshold, significantDigits + 2), 0);
    write(branch.below);
    nodes[at + 2] = nodes.length;
    write(branch.above);
  };
  write(root);
  return nodes;
}

function round(value: number, digits: number): number {
  return Number(value.toPrecision(digits));
}
