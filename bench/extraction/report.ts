import { loadExtraction } from "../../src/pages/index.ts";
import { decimals, markdownTable } from "../report/format.ts";
import type { ExtractionFigures } from "./measure.ts";
import type { SnippetScore } from "./news.ts";
import { typeMeans } from "./score-table.ts";

const { training } = await loadExtraction();

/** F1 of other extractors on the corpus, as its README gives them: over all, the mean of the types, by type. */
const others: readonly (readonly [string, ...number[]])[] = [
  ["@mozilla/readability 0.6", 0.689, 0.648, 0.917, 0.513, 0.891, 0.47, 0.525, 0.519, 0.699],
  ["defuddle 0.19.4", 0.763, 0.733, 0.93, 0.637, 0.929, 0.656, 0.573, 0.652, 0.751],
  ["trafilatura", 0.762, 0.731, 0.929, 0.584, 0.914, 0.69, 0.573, 0.649, 0.778],
  ["rs-trafilatura 0.1.1", 0.804, 0.781, 0.935, 0.7, 0.937, 0.729, 0.659, 0.655, 0.85],
];

/** Scores of other extractors on the pages of news, from their README: precision, recall, F1. */
const othersOnNews: readonly (readonly [string, ...number[]])[] = [
  ["trafilatura 2.3.1, which is tuned on these pages", 0.911, 0.914, 0.912],
];

function newsTable({ precision, recall, f1 }: SnippetScore): string {
  const heading = ["snippets of news and blogs", "precision", "recall", "F1"];
  return markdownTable(heading, [row(["Tollgate, markdown", precision, recall, f1]), ...othersOnNews.map(row)]);
}

function row([name, ...f1s]: readonly [string, ...number[]]): string[] {
  return [name, ...f1s.map((f1) => decimals(f1, 3))];
}

export function extractionTable({ scores, news, times }: ExtractionFigures): string {
  const heading = ["F1 over words", "all pages", "mean of the types", ...training.pageTypes];
  const table = markdownTable(heading, [row(["Tollgate, markdown", ...typeMeans(scores)]), ...others.map(row)]);
  const lines = times.map(({ pages, medianMs }) => `- ${pages}: ${decimals(medianMs, 1)} ms`);
  return `## Main content\n\n${table}\n${news === null ? "" : `${newsTable(news)}\n`}Finding the content of a parsed page, medians:\n\n${lines.join("\n")}\n`;
}
