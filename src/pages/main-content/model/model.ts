import { readFileSync } from "node:fs";
import { judgeBy, type Forest, type Judge } from "./forest.ts";

export const pageTypes = ["article", "collection", "documentation", "forum", "listing", "product", "service"] as const;
/** The purpose of a page. */
export type PageType = (typeof pageTypes)[number];

/** How likely a page is of each type; the sum is 1. */
export type PageTypeChances = Readonly<Record<PageType, number>>;

/** Weights of words: the logarithm of how much more often they are in or around content than in other places. */
export interface WordWeights {
  /** Of the words in class names and ids. */
  readonly classes: ReadonlyMap<string, number>;
  /** Of the words in texts. */
  readonly texts: ReadonlyMap<string, number>;
}

/** The result of training on pages whose content is known. `scripts/content-model/train.ts` writes it. */
export interface Model {
  readonly weights: WordWeights;
  /** By the columns of `pageRow`. */
  readonly types: Readonly<Record<PageType, Judge>>;
  /** By the columns of `blockRows`. */
  readonly blocks: Judge;
}

interface ModelFile {
  readonly classes: string;
  readonly texts: string;
  readonly types: Readonly<Record<PageType, Forest>>;
  readonly blocks: Forest;
}

let loaded: Model | undefined;

/** The model, read at first use: only the processes that take pages apart need it. */
export function loadModel(): Model {
  if (loaded === undefined) {
    const file = JSON.parse(readFileSync(new URL("model.json", import.meta.url), "utf8")) as ModelFile;
    const weights = { classes: readWeights(file.classes), texts: readWeights(file.texts) };
    const types = Object.fromEntries(pageTypes.map((type) => [type, judgeBy(file.types[type])]));
    loaded = { weights, types: types as Record<PageType, Judge>, blocks: judgeBy(file.blocks) };
  }
  return loaded;
}

/** `word:12 other:-7`, in tenths. */
function readWeights(text: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const entry of text.split(" ")) {
    const colon = entry.lastIndexOf(":");
    if (colon > 0) weights.set(entry.slice(0, colon), Number(entry.slice(colon + 1)) / 10);
  }
  return weights;
}
