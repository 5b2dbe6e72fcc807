import { isTag, type ChildNode, type Document } from "domhandler";
import { blockRows } from "./block-rows.ts";
import { bodyOf } from "./body-of.ts";
import { chooseBlocks } from "./choose-blocks.ts";
import { readHead } from "./head-facts.ts";
import { keepNodes } from "./keep-nodes.ts";
import { predict } from "./model/forest.ts";
import { loadModel, type PageType } from "./model/model.ts";
import { dropThumbnailTexts } from "./thumbnail-texts.ts";
import { gatherPage, type PageFacts } from "./page-facts.ts";
import { openNoscripts } from "./open-noscripts.ts";
import { judgePageType, likeliest } from "./page-type.ts";
import { splitIntoBlocks } from "./split-into-blocks.ts";

/** The part of a page that its readers come for. */
export interface MainContent {
  /** Copies, in document order; the document stays as it is. All children of the body if none of them is content. */
  readonly nodes: ChildNode[];
  readonly pageType: PageType;
}

/** The pages whose pictures, if many, show what the text beside them names. */
const thumbnailTypes: ReadonlySet<PageType> = new Set(["collection", "listing", "product", "service"]);

/**
 * Finds the content of a page: an article, the posts of a thread, a product with its details, the items of a list. Each
 * block of text is judged by a model that was trained on pages whose content is known. Opens the `noscript` elements of
 * the document that hold a page's text.
 */
export function mainContent(document: Document, { url }: { url: string }): MainContent {
  const body = bodyOf(document);
  const page = describePage(document, url);
  const model = loadModel();
  const chances = judgePageType(page, model);
  const probabilities = new Float32Array(page.blocks.length);
  let index = 0;
  for (const row of blockRows(page, model.weights, chances)) {
    probabilities[index] = predict(model.blocks, row);
    index += 1;
  }
  const nodes = keepNodes(body, page, chooseBlocks(page.blocks, probabilities));
  const pageType = likeliest(chances);
  if (thumbnailTypes.has(pageType)) dropThumbnailTexts(nodes);
  return { nodes: nodes.some(isTag) ? nodes : [...body.children], pageType };
}

/** A page in blocks, with the facts that its head and its template add. */
export function describePage(document: Document, url: string): PageFacts {
  openNoscripts(document);
  return gatherPage(splitIntoBlocks(document), readHead(document), URL.parse(url) ?? undefined);
}
