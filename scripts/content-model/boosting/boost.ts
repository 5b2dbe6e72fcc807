import type { contentTraining } from "../../../src/pages/index.ts";
import type { BinnedColumns } from "./bins.ts";
import { growTree, type TreeLimits } from "./grow-tree.ts";
import { seededRandom } from "./seeded-random.ts";

export interface BoostingOptions extends TreeLimits {
  readonly trees: number;
  /** The share of the columns that each tree sees. */
  readonly columnShare: number;
  readonly seed: number;
}

export interface Examples {
  /** By row: the probability to learn, 0 to 1. */
  readonly labels: Float32Array;
  readonly weights: Float32Array;
}

/** Fits boosted trees to the logistic loss. The same options and data give the same trees. */
export function boost(
  data: BinnedColumns,
  rows: Int32Array,
  { labels, weights }: Examples,
  options: BoostingOptions,
): contentTraining.Forest {
  const random = seededRandom(options.seed);
  const base = logOddsOf(rows, labels, weights);
  const scores = new Float32Array(labels.length).fill(base);
  const gradients = { first: new Float32Array(labels.length), second: new Float32Array(labels.length) };
  const trees: (readonly number[])[] = [];
  const order = rows.slice();
  for (let count = 0; count < options.trees; count += 1) {
    for (const row of rows) {
      const weight = weights[row] ?? 0;
      const chance = 1 / (1 + Math.exp(-(scores[row] ?? 0)));
      gradients.first[row] = weight * (chance - (labels[row] ?? 0));
      gradients.second[row] = weight * chance * (1 - chance);
    }
    const columns = [...data.edges.keys()].filter(
      (column) => random() < options.columnShare && (data.edges[column]?.length ?? 0) > 0,
    );
    const { tree, addTo } = growTree(data, columns, order, { gradients, limits: options });
    trees.push(tree);
    addTo(scores);
  }
  return { base: Number(base.toPrecision(5)), trees };
}

function logOddsOf(rows: Int32Array, labels: Float32Array, weights: Float32Array): number {
  let right = 0;
  let all = 0;
  for (const row of rows) {
    right += (weights[row] ?? 0) * (labels[row] ?? 0);
    all += weights[row] ?? 0;
  }
  return Math.log(right / (all - right));
}
