import { Element, isTag, isText, type ChildNode, type ParentNode, type Text } from "domhandler";
import { adopt } from "../../html/adopt.ts";
import type { Block, Blocks, Region } from "../blocks.ts";
import { isWithinContent, keptWords } from "./kept-words.ts";
import { isHeading, isSilent, mediaTags } from "../tags.ts";

/** Rows of a data table: longer ones belong to tables that lay a page out. */
const rowWordsMax = 80;

/**
 * Takes the elements that hold kept text, or media beside it, out of the tree of a page, and the parts that are no content out
 * of them. Related nodes stay together: the cells of a row, the lines of preformatted text.
 */
export function keepNodes(body: ParentNode, page: Blocks, kept: readonly boolean[]): ChildNode[] {
  const fates = decideRegions(page, kept);
  const texts = new Set<Text>();
  for (const block of page.blocks) if (fateOf(block, fates, kept)) for (const text of block.texts) texts.add(text);
  return new Pruner(fates, texts).prune(body);
}

/** Of a region: the share of its words that is kept, itself or as a part of its nearest ancestor with words. */
interface Fate {
  readonly share: number;
  /** Set if the region is kept or dropped as a whole. */
  readonly whole: boolean | undefined;
}

function decideRegions(page: Blocks, kept: readonly boolean[]): ReadonlyMap<ParentNode, Fate> {
  const words = keptWords(page, kept);
  const fates = new Map<ParentNode, Fate>();
  for (const region of page.regions) {
    const above = region.parent === undefined ? undefined : fates.get(region.parent.node);
    const share = shareOf(region, above, words);
    const whole = above?.whole ?? judgeWhole(region, share, words);
    fates.set(region.node, fateFrom(above, whole === true ? 1 : share, whole));
  }
  return fates;
}

/** Pictures in the midst of content are kept whether or not their captions are. */
function shareOf(region: Region, above: Fate | undefined, words: readonly number[]): number {
  if (region.words === 0) return above?.share ?? 0;
  const share = (words[region.index] ?? 0) / region.words;
  return region.tag === "figure" && share < 1 && isWithinContent(region, words) ? 1 : share;
}

/** Dense pages have a hundred thousand regions, most of them with the fate of the one above. */
function fateFrom(above: Fate | undefined, share: number, whole: boolean | undefined): Fate {
  return above?.share === share && above.whole === whole ? above : { share, whole };
}

const embeddedTags: ReadonlySet<string> = new Set(["pre", "table", "blockquote"]);
function judgeWhole(region: Region, share: number, words: readonly number[]): boolean | undefined {
  const { tag } = region;
  if (embeddedTags.has(tag) && isWithinContent(region, words)) return true;
  // A part of a heading, such as a link in it, is judged with the rest.
  if (isHeading(tag) && region.words <= rowWordsMax && share > 0) return true;
  return tag === "pre" || (tag === "tr" && region.words <= rowWordsMax) ? share >= 0.5 : undefined;
}

function fateOf(block: Block, fates: ReadonlyMap<ParentNode, Fate>, kept: readonly boolean[]): boolean {
  return fates.get(block.region.node)?.whole ?? kept[block.index] === true;
}

/** Of everything in a picture or a player. */
const media: Fate = { share: 1, whole: true };
/** Media stay where at least this share of the words around them is kept. */
const mediaShareMin = 0.5;

/** Works in place, without recursion: a copy of a large page would need as much memory again. */
class Pruner {
  readonly #fates: ReadonlyMap<ParentNode, Fate>;
  readonly #texts: ReadonlySet<Text>;

  constructor(fates: ReadonlyMap<ParentNode, Fate>, texts: ReadonlySet<Text>) {
    this.#fates = fates;
    this.#texts = texts;
  }

  prune(body: ParentNode): ChildNode[] {
    const near = this.#fates.get(body) ?? { share: 0, whole: undefined };
    const top: Frame = { source: body, next: 0, children: [], near, useful: true };
    const open: Frame[] = [top];
    for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
      const node = frame.source.children[frame.next];
      frame.next += 1;
      if (node === undefined) {
        open.pop();
        close(frame, open.at(-1));
      } else if (isText(node)) this.#keepText(node, frame);
      else if (isTag(node)) {
        const inner = this.#open(node, frame);
        if (inner !== undefined) open.push(inner);
      }
    }
    return top.children;
  }

  #keepText(node: Text, frame: Frame): void {
    const blank = node.data.trim() === "";
    if (!blank && !this.#texts.has(node) && frame.near !== media) return;
    frame.children.push(node);
    if (!blank) frame.useful = true;
  }

  #open(node: Element, frame: Frame): Frame | undefined {
    if (frame.near === media) return { source: node, next: 0, children: [], near: media, useful: true };
    const near = this.#fates.get(node) ?? frame.near;
    // The lines of preformatted text are as many as they are, also the empty ones.
    if (node.name === "pre" && near.whole === true) {
      return { source: node, next: 0, children: [], near: media, useful: true };
    }
    if (isSign(node)) return { source: node, next: 0, children: [], near, useful: false };
    if (isMedia(node)) {
      if (near.share < mediaShareMin) return undefined;
      return { source: node, next: 0, children: [], near: media, useful: true };
    }
    if (isSilent(node)) return undefined;
    return { source: node, next: 0, children: [], near, useful: false };
  }
}

/** An element that is being pruned. */
interface Frame {
  readonly source: ParentNode;
  next: number;
  readonly children: ChildNode[];
  readonly near: Fate;
  /** Whether there is anything in it that a reader would miss. */
  useful: boolean;
}

function close({ source, children, useful }: Frame, parent: Frame | undefined): void {
  if (parent === undefined || !(source instanceof Element)) return;
  const isKept = useful || source.name === "br" || isSign(source);
  if (!isKept) return;
  if (children.length < source.children.length) adopt(source, children);
  show(source);
  parent.children.push(source);
  if (useful) parent.useful = true;
}

/** Shows content that its page shows on demand only. */
function show(element: Element): void {
  const { hidden, style, ...shown } = element.attribs;
  if (hidden !== undefined || style !== undefined) element.attribs = shown;
  if (element.name === "noscript") element.name = "div";
}

/** Types of inputs whose value is no text of the page. */
const withoutText = new Set(["hidden", "submit", "button", "image", "reset", "password", "radio", "file", "search"]);

/** Fields that mean something to the text around them: whether a task is done, a value. */
function isSign({ name, attribs }: Element): boolean {
  if (name !== "input") return false;
  const type = attribs["type"]?.toLowerCase() ?? "";
  return type === "checkbox" || (!withoutText.has(type) && (attribs["value"] ?? "").trim() !== "");
}

/** Pictures, players, and formulas, which MathJax keeps in scripts. */
function isMedia({ name, attribs }: Element): boolean {
  return mediaTags.has(name) || (name === "script" && attribs["type"]?.startsWith("math/") === true);
}
