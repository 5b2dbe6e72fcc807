import { isTag, isText, type ChildNode, type Element, type ParentNode, type Text } from "domhandler";
import { isProse, type Block, type Blocks, type Region } from "./blocks.ts";
import { ClassTokens } from "./class-tokens.ts";
import { isHidden, landmarksOf } from "./landmarks.ts";
import { isBlockTag, isSilent } from "./tags.ts";
import { countWords, foldedWords, readText } from "./text-facts.ts";

const foldedCharactersMax = 500;
const inlineLevelsMax = 4;
const itemTypesMax = 50;
const none: readonly never[] = [];
const controlTags: ReadonlySet<string> = new Set(["input", "button", "select", "textarea"]);

/** Splits the content of an element into blocks, in document order: one pass, without recursion. */
export function splitIntoBlocks(top: ParentNode): Blocks {
  const splitter = new Splitter();
  let node: ChildNode | null = top.children[0] ?? null;
  while (node !== null) {
    if (splitter.enter(node)) {
      if (isTag(node) && node.children[0] !== undefined) {
        node = node.children[0];
        continue;
      }
      splitter.leave(node);
    }
    while (node !== null && node.next === null) {
      const parent: ParentNode | null = node.parent;
      if (parent === null || parent === top || !isTag(parent)) return splitter.finish();
      splitter.leave(parent);
      node = parent;
    }
    node = node?.next ?? null;
  }
  return splitter.finish();
}

/** An inline element that is open, and how many regions were open when it began. */
interface OpenInline {
  readonly element: Element;
  readonly regions: number;
}

class Splitter {
  readonly #tokens = new ClassTokens();
  readonly #vocabulary = new Map<string, string>();
  readonly #blocks: Block[] = [];
  readonly #regions: Region[] = [];
  readonly #itemTypes: string[] = [];
  readonly #inline: OpenInline[] = [];
  #region: Region | undefined;
  #openLinks = 0;
  #words = 0;
  // The block that is being collected.
  #texts: Text[] = [];
  #pieces: string[] = [];
  #around: readonly Element[] = [];
  #linkWords = 0;
  #breaks = 0;

  /** False if the node is to be passed over with all that is in it. */
  enter(node: ChildNode): boolean {
    if (isText(node)) {
      this.#addText(node);
      return true;
    }
    if (!isTag(node) || isSilent(node)) return false;
    this.#count(node);
    if (node.name === "br") this.#breakLine();
    else if (isBlockTag(node.name)) {
      this.#endBlock();
      this.#openRegion(node);
    } else this.#inline.push({ element: node, regions: this.#region?.depth ?? 0 });
    return true;
  }

  leave(node: ChildNode): void {
    if (!isTag(node) || node.name === "br") return;
    if (node.name === "a") this.#openLinks -= 1;
    if (isBlockTag(node.name)) {
      this.#endBlock();
      this.#closeRegion();
    } else this.#inline.pop();
  }

  finish(): Blocks {
    this.#endBlock();
    while (this.#region !== undefined) this.#closeRegion();
    return { blocks: this.#blocks, regions: this.#regions, words: this.#words, itemTypes: this.#itemTypes };
  }

  #count(element: Element): void {
    if (element.name === "a") this.#openLinks += 1;
    const type = element.attribs["itemtype"];
    if (type !== undefined && this.#itemTypes.length < itemTypesMax)
      this.#itemTypes.push(type.slice(type.lastIndexOf("/") + 1).toLowerCase());
    if (this.#region === undefined) return;
    if (element.name === "img") this.#region.images += 1;
    if (controlTags.has(element.name)) this.#region.controls += 1;
  }

  #openRegion(node: Element): void {
    const parent = this.#region;
    const depth = (parent?.depth ?? 0) + 1;
    const tokens = this.#inline.length === 0 ? this.#tokens.of(node) : this.#tokensWithInline(node, depth);
    this.#region = {
      index: this.#regions.length,
      node,
      parent,
      depth,
      tag: node.name,
      tokens,
      hidden: (parent?.hidden ?? false) || isHidden(node),
      signature: tokens.reduce(hash, hash(parent?.signature ?? 0, node.name)),
      landmarks: (parent?.landmarks ?? 0) | landmarksOf(node),
      words: 0,
      linkWords: 0,
      proseWords: 0,
      blocks: 0,
      controls: 0,
      images: 0,
      repeated: 0,
    };
    this.#regions.push(this.#region);
  }

  /** Those of an element, then those of the inline elements between it and its parent, from the inside out. */
  #tokensWithInline(node: Element, depth: number): readonly string[] {
    const outside = this.#inline.findLastIndex(({ regions }) => regions < depth - 1);
    const around = this.#inline.slice(outside + 1).toReversed();
    return [node, ...around.map(({ element }) => element)].flatMap((element) => this.#tokens.of(element));
  }

  #closeRegion(): void {
    const region = this.#region;
    const parent = region?.parent;
    if (region !== undefined && parent !== undefined) {
      parent.words += region.words;
      parent.linkWords += region.linkWords;
      parent.proseWords += region.proseWords;
      parent.blocks += region.blocks;
      parent.controls += region.controls;
      parent.images += region.images;
    }
    this.#region = parent;
  }

  #addText(node: Text): void {
    if (node.data.trim() === "") {
      if (this.#texts.length > 0) this.#pieces.push(" ");
      return;
    }
    this.#breaks = 0;
    if (this.#texts.length === 0)
      this.#around =
        this.#inline.length === 0 ? none : this.#inline.slice(-inlineLevelsMax).map(({ element }) => element);
    this.#texts.push(node);
    this.#pieces.push(node.data);
    if (this.#openLinks > 0) this.#linkWords += countWords(node.data);
  }

  /** Two line breaks in a row end a block: how old pages make paragraphs. */
  #breakLine(): void {
    this.#breaks += 1;
    if (this.#breaks > 1) this.#endBlock();
    else if (this.#texts.length > 0) this.#pieces.push("\n");
  }

  /** The same string for the same word: a long page has a million words, and some thousand different ones. */
  #once(word: string): string {
    const known = this.#vocabulary.get(word);
    if (known === undefined) this.#vocabulary.set(word, word);
    return known ?? word;
  }

  #endBlock(): void {
    const texts = this.#texts;
    const text = this.#pieces.join("");
    const linkWords = this.#linkWords;
    this.#texts = [];
    this.#pieces = [];
    this.#linkWords = 0;
    this.#breaks = 0;
    const region = this.#region;
    if (texts.length === 0 || region === undefined) return;
    const facts = readText(text);
    const block: Block = {
      index: this.#blocks.length,
      region,
      texts,
      text,
      facts,
      folded: foldedWords(text.slice(0, foldedCharactersMax)).map((word) => this.#once(word)),
      linkWords: Math.min(linkWords, facts.words),
      inlineTags: this.#around.length === 0 ? none : this.#around.map(({ name }) => name),
      inlineTokens: this.#around.length === 0 ? none : this.#around.flatMap((element) => this.#tokens.of(element)),
      wordsBefore: this.#words,
    };
    this.#blocks.push(block);
    this.#words += facts.words;
    region.words += facts.words;
    region.linkWords += block.linkWords;
    region.blocks += 1;
    if (isProse(block)) region.proseWords += facts.words;
  }
}

function hash(seed: number, text: string): number {
  let value = seed;
  for (let at = 0; at < text.length; at += 1) value = (Math.imul(value, 31) + text.charCodeAt(at)) | 0;
  return Math.imul(value ^ (value >>> 15), 0x9e3779b1) | 0;
}
