/**
 * Trains the extractor of main content and writes `src/pages/main-content/model/model.json`. Prints the scores on pages of
 * sites that a model has not seen: each fifth of the sites is judged by a model of the other four. Takes some minutes.
 * Usage: `bun scripts/content-model/train.ts [--dry]`.
 *
 * It learns from the corpus, whose content is known; from articles as another extractor reads them; and from pages of which some
 * snippets are known, and the opinion of a model of the other two fills the gaps.
 */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { loadExtraction, type PageType } from "../../src/pages/index.ts";
import { hasCorpus, corpusFolder, readCorpus } from "../../bench/extraction/corpus.ts";
import { hasNews, newsFolder, readArticles, readSnippetPages, scoreSnippets } from "../../bench/extraction/news.ts";
import { blockJudge, fit, type Fitted } from "./fit.ts";
import { articleSample, completed, type SnippetSample, snippetSample } from "./news-samples.ts";
import { folds, readSample, type Sample } from "./samples.ts";
import { f1Of } from "../../bench/extraction/score.ts";
import { typeMeans, type Scores } from "../../bench/extraction/score-table.ts";
import { writeWeights } from "./word-weights.ts";

const { training } = await loadExtraction();

const modelFile = resolve(import.meta.dir, "../../src/pages/main-content/model/model.json");

interface Pages {
  readonly corpus: readonly Sample[];
  readonly articles: readonly Sample[];
  readonly snippets: readonly SnippetSample[];
}

if (!hasCorpus() || !hasNews()) {
  console.error(`There is no corpus in ${corpusFolder}, or none in ${newsFolder}.`);
  process.exit(1);
}
const pages: Pages = {
  corpus: readCorpus().map(readSample),
  articles: readArticles().flatMap((article) => articleSample(article) ?? []),
  snippets: readSnippetPages().map(snippetSample),
};
console.error(`${pages.corpus.length} + ${pages.articles.length} + ${pages.snippets.length} pages read`);
const folded = crossValidate(pages);
print("unseen sites", folded, pages.snippets);
const model = fitAll(pages);
const kept = judgeAll(pages, model);
print("seen sites", kept, pages.snippets);
if (!process.argv.includes("--dry")) writeFileSync(modelFile, write(model));

/** The pages that pass a test of their fold. */
function part({ corpus, articles, snippets }: Pages, isIn: (fold: number) => boolean): Pages {
  return {
    corpus: corpus.filter(({ fold }) => isIn(fold)),
    articles: articles.filter(({ fold }) => isIn(fold)),
    snippets: snippets.filter(({ fold }) => isIn(fold)),
  };
}

function fitAll({ corpus, articles, snippets }: Pages): Fitted {
  const judge = blockJudge(fit([...corpus, ...articles]));
  return fit([...corpus, ...articles, ...snippets.map((sample) => completed(sample, judge(sample)))]);
}

/** The F1 of the pages of the corpus, and the texts of those with snippets by their ids. */
interface Judged {
  readonly scores: { readonly type: PageType; readonly f1: number }[];
  readonly texts: Map<string, string>;
}

function crossValidate(all: Pages): Judged {
  const judged: Judged = { scores: [], texts: new Map() };
  for (let fold = 0; fold < folds; fold += 1) {
    const found = judgeAll(
      part(all, (each) => each === fold),
      fitAll(part(all, (each) => each !== fold)),
    );
    judged.scores.push(...found.scores);
    for (const [id, text] of found.texts) judged.texts.set(id, text);
    console.error(`part ${fold + 1} of ${folds} judged`);
  }
  return judged;
}

function judgeAll({ corpus, snippets }: Pages, trained: Fitted): Judged {
  const judge = blockJudge(trained);
  const keptOf = (sample: Pick<Sample, "facts">): boolean[] =>
    training.chooseBlocks(sample.facts.blocks, judge(sample));
  const scores = corpus.flatMap((sample) => {
    const own = keptOf(sample);
    const found = sample.words.flatMap((words, index) => (own[index] === true ? words : []));
    return sample.type === undefined ? [] : [{ type: sample.type, f1: f1Of(found, sample.contentWords) }];
  });
  const texts = snippets.map((sample): [string, string] => {
    const own = keptOf(sample);
    const blocks = sample.facts.blocks.filter(({ index }) => own[index] === true);
    return [sample.page.id, blocks.map(({ text }) => text).join("\n")];
  });
  return { scores, texts: new Map(texts) };
}

/** The mean over all pages, the mean of the types' means, and each type's; then precision, recall and F1 of the snippets. */
function print(name: string, { scores, texts }: Judged, snippets: readonly SnippetSample[]): void {
  const { precision, recall, f1 } = scoreSnippets(
    snippets.map(({ page }) => page),
    ({ id }) => texts.get(id) ?? "",
  );
  const figures = [...typeMeans(scores satisfies Scores), precision, recall, f1];
  console.log(`| ${[name, ...figures.map((figure) => figure.toFixed(3))].join(" | ")} |`);
}

function write({ weights, types, blocks }: Fitted): string {
  const data = { classes: writeWeights(weights.classes), texts: writeWeights(weights.texts), types, blocks };
  return `${JSON.stringify(data)}\n`;
}
