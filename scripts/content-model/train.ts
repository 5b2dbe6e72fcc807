/**
 * Trains the extractor of main content and writes `src/pages/main-content/model/model.json`. Prints the scores on pages of
 * sites that a model has not seen: each fifth of the sites is judged by a model of the other four. Takes some minutes.
 * Usage: `bun scripts/content-model/train.ts [--dry]`.
 */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { loadExtraction } from "../../src/pages/index.ts";
import { hasCorpus, corpusFolder, readCorpus } from "../../bench/extraction/corpus.ts";
import { blockJudge, fit, type Fitted } from "./fit.ts";
import { folds, readSample, type Sample } from "./samples.ts";
import { f1Of } from "../../bench/extraction/score.ts";
import { typeMeans, type Scores } from "../../bench/extraction/score-table.ts";
import { writeWeights } from "./word-weights.ts";

const { training } = await loadExtraction();

const modelFile = resolve(import.meta.dir, "../../src/pages/main-content/model/model.json");

if (!hasCorpus()) {
  console.error(`There is no corpus in ${corpusFolder}.`);
  process.exit(1);
}
const samples = readCorpus().map(readSample);
console.error(`${samples.length} pages read`);
print("unseen sites", crossValidate(samples));
const model = fit(samples);
print("seen sites", scoreAll(samples, model));
if (!process.argv.includes("--dry")) writeFileSync(modelFile, write(model));

/** The mean over all pages, the mean of the types' means, and each type's. */
function print(name: string, scores: Scores): void {
  console.log(`| ${[name, ...typeMeans(scores).map((mean) => mean.toFixed(3))].join(" | ")} |`);
}

function crossValidate(all: readonly Sample[]): Scores {
  const scores: Scores[number][] = [];
  for (let fold = 0; fold < folds; fold += 1) {
    const trained = fit(all.filter((sample) => sample.fold !== fold));
    scores.push(
      ...scoreAll(
        all.filter((sample) => sample.fold === fold),
        trained,
      ),
    );
    console.error(`part ${fold + 1} of ${folds} judged`);
  }
  return scores;
}

function scoreAll(some: readonly Sample[], trained: Fitted): Scores {
  const judge = blockJudge(trained);
  return some.map((sample) => {
    const kept = training.chooseBlocks(sample.facts.blocks, judge(sample));
    const found = sample.words.flatMap((words, index) => (kept[index] === true ? words : []));
    return { type: sample.known.type, f1: f1Of(found, sample.contentWords) };
  });
}

function write({ weights, types, blocks }: Fitted): string {
  const data = { classes: writeWeights(weights.classes), texts: writeWeights(weights.texts), types, blocks };
  return `${JSON.stringify(data)}\n`;
}
