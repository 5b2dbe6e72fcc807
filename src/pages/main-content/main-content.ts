import { isTag, type ChildNode, type Document } from "domhandler";
import { blockRows, pageRow } from "./block-rows.ts";
import { bodyOf } from "./body-of.ts";
import { chooseBlocks } from "./keeping/choose-blocks.ts";
import { readHead } from "./head-facts.ts";
import { dropShortcodes } from "./keeping/drop-besides.ts";
import { keepCaptions } from "./keeping/keep-captions.ts";
import { keepHeading } from "./keeping/keep-heading.ts";
import { keepNotes } from "./keeping/keep-notes.ts";
import { keepNodes } from "./keeping/keep-nodes.ts";
import { linkedContent } from "./linked-content.ts";
import { loadModel, type PageType } from "./model/model.ts";
import { dropThumbnailTexts } from "./thumbnail-texts.ts";
import { titleHeading, withHeading } from "./title-heading.ts";
import { trimArticle } from "./keeping/trim-article.ts";
import { gatherPage, type PageFacts } from "./page-facts.ts";
import { openNoscripts } from "./open-noscripts.ts";
import { judgePageType, likeliest } from "./page-type.ts";
import { splitIntoBlocks } from "./split-into-blocks.ts";

/** The part of a page that its readers come for. */
export interface MainContent {
  /**
   * In document order, or made from JSON-LD if that has the text. All children of the body if none of them is
   * content.
   */
  readonly nodes: ChildNode[];
  readonly pageType: PageType;
}

export interface MainContentOptions {
  url: string;
  /** The page's titles: a heading that one of them consists of is put in front of content without any. */
  titles?: readonly string[];
}

/** The pages whose pictures, if many, show the things that the text beside them names. */
const thumbnailTypes: ReadonlySet<PageType> = new Set(["collection", "listing", "product", "service"]);

/** The chance from which on a page is read as an article. */
const articleChanceMin = 0.5;

/** The chance from which on it is certainly one, and the least chance of its blocks: of other pages, doubtful ones are content as well. */
const certainArticleMin = 0.9;
const articleBlockMin = 0.6;

/** A page with less text than this may have its content in JSON-LD, for a script to show. */
const fewWords = 40;

/**
 * Finds the content of a page: an article, the posts of a thread, a product with its details, the items of a list. Each
 * block of text is judged by a model that was trained on pages whose content is known. The nodes are taken out of the
 * document, which is left in parts. Opens the `noscript` elements that hold a page's text.
 */
export function mainContent(document: Document, { url, titles = [] }: MainContentOptions): MainContent {
  const body = bodyOf(document);
  const page = describePage(document, url);
  const heading = titleHeading(document, titles);
  const model = loadModel();
  const chances = judgePageType(pageRow(page), model);
  const probabilities = new Float32Array(page.blocks.length);
  let index = 0;
  for (const row of blockRows(page, model.weights, chances)) {
    probabilities[index] = model.blocks(row);
    index += 1;
  }
  const isCertain = chances.article > certainArticleMin;
  const kept = isCertain
    ? chooseBlocks(page.blocks, probabilities, articleBlockMin)
    : chooseBlocks(page.blocks, probabilities);
  if (chances.article > articleChanceMin) trimArticle(page, kept);
  dropShortcodes(page, kept);
  keepNotes(page, kept);
  keepHeading(page, kept);
  keepCaptions(page, kept, probabilities);
  const words = page.blocks.reduce((sum, { index: at, facts }) => sum + (kept[at] === true ? facts.words : 0), 0);
  const linked = words < fewWords ? linkedContent(page.head.linkedData) : undefined;
  const pageType = likeliest(chances);
  if (linked !== undefined && linked.words > words) return { nodes: withHeading(linked.nodes, heading), pageType };
  const nodes = keepNodes(body, page, kept);
  if (thumbnailTypes.has(pageType)) dropThumbnailTexts(nodes);
  return { nodes: withHeading(nodes.some(isTag) ? nodes : [...body.children], heading), pageType };
}

/** A page in blocks, with the facts that its head and its template add. */
export function describePage(document: Document, url: string): PageFacts {
  openNoscripts(document);
  return gatherPage(splitIntoBlocks(document), readHead(document), URL.parse(url) ?? undefined);
}
