import { type contentTraining, loadExtraction, type PageType } from "../../src/pages/index.ts";
import { binColumns, boost, seededRandom, type BoostingOptions, type Examples } from "./boosting/index.ts";
import { folds, type Sample } from "./samples.ts";
import { weighWords } from "./word-weights.ts";

const { training } = await loadExtraction();

const { blockColumns, fillSignals, learnedColumns, pageRow, pageTypes } = training;
type Forest = contentTraining.Forest;
type PageTypeChances = contentTraining.PageTypeChances;
type WordWeights = contentTraining.WordWeights;
type PageFacts = contentTraining.PageFacts;

/** A model in the form of its file. */
export interface Fitted {
  readonly weights: WordWeights;
  readonly types: Readonly<Record<PageType, Forest>>;
  readonly blocks: Forest;
}

const binsMax = 48;
const typeOptions: BoostingOptions = {
  trees: 40,
  leavesMax: 6,
  learningRate: 0.12,
  leafWeightMin: 3,
  shrinkage: 2,
  columnShare: 0.5,
  seed: 7,
};
const blockOptions: BoostingOptions = {
  trees: 160,
  leavesMax: 16,
  learningRate: 0.1,
  leafWeightMin: 0.15,
  shrinkage: 0.5,
  columnShare: 0.5,
  seed: 1,
};

/**
 * Fits the whole model. What the block model learns from is computed as for pages that were never seen: word weights and
 * page types of a page come from the pages of the other folds.
 */
export function fit(samples: readonly Sample[], options: Partial<BoostingOptions> = {}): Fitted {
  const weights = weighWords(samples.map(({ pageWords }) => pageWords));
  const types = fitTypes(samples);
  const { columns, labels, weights: blockWeights } = blockMatrix(samples);
  const examples = { labels, weights: blockWeights };
  const rows = Int32Array.from(labels.keys());
  const blocks = boost(binColumns(columns, binsMax), rows, examples, { ...blockOptions, ...options });
  return { weights, types, blocks };
}

function fitTypes(samples: readonly Sample[]): Record<PageType, Forest> {
  const typed = samples.filter(({ type }) => type !== undefined);
  const rows = typed.map(({ facts }) => pageRowOf(facts));
  const columns = Array.from(rows[0] ?? [], (_, column) => Float32Array.from(rows, (row) => row[column] ?? 0));
  const data = binColumns(columns, binsMax);
  const weights = Float32Array.from(typed, ({ typeWeight }) => typeWeight);
  const all = Int32Array.from(typed.keys());
  return Object.fromEntries(
    pageTypes.map((type) => {
      const labels = Float32Array.from(typed, (sample) => (sample.type === type ? 1 : 0));
      return [type, boost(data, all, { labels, weights }, typeOptions)];
    }),
  ) as Record<PageType, Forest>;
}

/** Rows of less weight are thinned out, and the others stand for them: most blocks are the short ones of menus. */
const fullWeight = 0.005;
const shareMin = 0.3;

interface Matrix extends Examples {
  readonly columns: readonly Float32Array[];
}

function blockMatrix(samples: readonly Sample[]): Matrix {
  const strangers = Array.from({ length: folds }, (_, fold) => {
    const others = samples.filter((sample) => sample.fold !== fold);
    return { weights: weighWords(others.map(({ pageWords }) => pageWords)), types: judgesOf(fitTypes(others)) };
  });
  const random = seededRandom(1);
  const size = samples.reduce((sum, { facts }) => sum + facts.blocks.length, 0);
  const columns = blockColumns.map(() => new Float32Array(size));
  const labels = new Float32Array(size);
  const weights = new Float32Array(size);
  let at = 0;
  for (const sample of samples) {
    const stranger = strangers[sample.fold];
    if (stranger === undefined) continue;
    const chances = training.judgePageType(pageRowOf(sample.facts), stranger);
    let index = -1;
    for (const row of rowsOf(sample.facts, stranger.weights, chances)) {
      index += 1;
      const weight = sample.weights[index] ?? 0;
      if (weight === 0) continue;
      const share = Math.min(1, Math.max(shareMin, weight / fullWeight));
      if (random() >= share) continue;
      for (const [column, values] of columns.entries()) values[at] = row[column] ?? 0;
      labels[at] = sample.labels[index] ?? 0;
      weights[at] = weight / share;
      at += 1;
    }
  }
  return {
    columns: columns.map((column) => column.slice(0, at)),
    labels: labels.slice(0, at),
    weights: weights.slice(0, at),
  };
}

function judgesOf(types: Fitted["types"]): contentTraining.Model["types"] {
  return Object.fromEntries(
    pageTypes.map((type) => [type, training.judgeBy(types[type])]),
  ) as contentTraining.Model["types"];
}

const pageRows = new WeakMap<PageFacts, Float32Array>();

function pageRowOf(facts: PageFacts): Float32Array {
  const row = pageRows.get(facts) ?? pageRow(facts);
  pageRows.set(facts, row);
  return row;
}

const signalCache = new WeakMap<PageFacts, Float32Array[]>();

/** As `blockRows` of the extractor, but the signals of a page are computed once for all models. */
function* rowsOf(facts: PageFacts, weights: WordWeights, types: PageTypeChances): Generator<Float32Array> {
  const fillLearned = learnedColumns(facts, weights, types);
  let rows = signalCache.get(facts);
  if (rows === undefined) {
    rows = facts.blocks.map((block) => {
      const row = new Float32Array(blockColumns.length);
      fillSignals(block, facts, row);
      return row;
    });
    signalCache.set(facts, rows);
  }
  for (const block of facts.blocks) {
    const row = rows[block.index];
    if (row === undefined) continue;
    fillLearned(block, row);
    yield row;
  }
}

/** The chances of the blocks of pages to be content. */
export function blockJudge({ weights, types, blocks }: Fitted): (sample: Pick<Sample, "facts">) => Float32Array {
  const judge = training.judgeBy(blocks);
  const judges = judgesOf(types);
  return ({ facts }) => {
    const chances = training.judgePageType(pageRowOf(facts), { types: judges });
    return Float32Array.from(rowsOf(facts, weights, chances), judge);
  };
}
