import type { Block, Blocks, Region } from "../blocks.ts";
import { isWithinContent, keptWords } from "./kept-words.ts";

/** The least chance of the caption of a picture in the midst of content. Most of those below it are names of photographers. */
const captionChanceMin = 0.3;

/** Levels between the text of a caption and its figure. */
const levelsMax = 6;

/** Keeps captions of pictures in the midst of content, in place, unless the model finds them very unlikely to be content. */
export function keepCaptions(page: Blocks, kept: boolean[], probabilities: ArrayLike<number>): void {
  const doubtful = page.blocks.filter(
    ({ index }) => kept[index] !== true && (probabilities[index] ?? 0) >= captionChanceMin,
  );
  const captions = doubtful.flatMap((block) => {
    const figure = figureOf(block);
    return figure === undefined ? [] : [{ block, figure }];
  });
  if (captions.length === 0) return;
  const words = keptWords(page, kept);
  for (const { block, figure } of captions) if (isWithinContent(figure, words)) kept[block.index] = true;
}

/** The figure whose caption has the block. */
function figureOf({ region }: Block): Region | undefined {
  let isCaption = false;
  let at: Region | undefined = region;
  for (let level = 0; level < levelsMax && at !== undefined; level += 1) {
    isCaption ||= at.tag === "figcaption";
    if (at.tag === "figure") return isCaption ? at : undefined;
    at = at.parent;
  }
  return undefined;
}
