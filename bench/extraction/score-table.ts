import { loadExtraction, type PageType } from "../../src/pages/index.ts";
import { meanOf } from "./score.ts";

const { training } = await loadExtraction();

export type Scores = readonly { readonly type: PageType; readonly f1: number }[];

/** The mean over all pages, the mean of the types' means, and the mean of each type. */
export function typeMeans(scores: Scores): number[] {
  const means = training.pageTypes.map((type) =>
    meanOf(scores.filter((score) => score.type === type).map(({ f1 }) => f1)),
  );
  return [meanOf(scores.map(({ f1 }) => f1)), meanOf(means), ...means];
}
