/** The parts of the extractor that its training and its measurement look into. */
export { blockColumns, fillSignals, learnedColumns, pageRow, scoredWords } from "./block-rows.ts";
export { chooseBlocks } from "./keeping/choose-blocks.ts";
export type { Block } from "./blocks.ts";
export { describePage } from "./main-content.ts";
export { pageTypes, type Model, type PageType, type PageTypeChances, type WordWeights } from "./model/model.ts";
export { judgeBy, type Forest } from "./model/forest.ts";
export type { PageFacts } from "./page-facts.ts";
export { judgePageType } from "./page-type.ts";
