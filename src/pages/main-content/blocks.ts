import type { Element, Text } from "domhandler";
import type { TextFacts } from "./text-facts.ts";

/** A block-level element with the sums over its whole subtree. */
export interface Region {
  /** The position in document order; parents come before their children. */
  readonly index: number;
  readonly node: Element;
  readonly parent: Region | undefined;
  readonly depth: number;
  readonly tag: string;
  /** The words of class, id, role and itemprop, of the element and of inline elements between it and its parent. */
  readonly tokens: readonly string[];
  readonly hidden: boolean;
  /** A hash of tags and tokens from the body down: equal for elements at the same place of a template. */
  readonly signature: number;
  readonly landmarks: number;
  words: number;
  linkWords: number;
  /** Words in blocks that read like sentences. */
  proseWords: number;
  blocks: number;
  /** Buttons and fields. */
  controls: number;
  images: number;
  /** The size of the largest group of children with one signature. */
  repeated: number;
}

/** Running text without a block boundary in it. */
export interface Block {
  /** The position in document order. */
  readonly index: number;
  readonly region: Region;
  readonly texts: readonly Text[];
  readonly text: string;
  readonly facts: TextFacts;
  /** Its first words, in lower case, and letters and digits only. */
  readonly folded: readonly string[];
  readonly linkWords: number;
  /** The innermost inline elements around its first text, from the outside in, and the words of their classes. */
  readonly inlineTags: readonly string[];
  readonly inlineTokens: readonly string[];
  /** The words that come before it on the page. */
  readonly wordsBefore: number;
}

/** The text of a page, split. */
export interface Blocks {
  readonly blocks: readonly Block[];
  readonly regions: readonly Region[];
  readonly words: number;
  /** The values of itemtype in the body, in lower case, without the vocabulary's address. */
  readonly itemTypes: readonly string[];
}

const proseWordsMin = 15;
const proseLinkShareMax = 0.35;

/** Whether a block reads like sentences rather than like a label or a menu. */
export function isProse({ facts, linkWords }: Block): boolean {
  return facts.words >= proseWordsMin && linkWords < facts.words * proseLinkShareMax;
}
