import type { ChildNode, Element } from "domhandler";
import type { Footnotes } from "./footnotes.ts";

/** A part of a document between two blank lines, or a list. */
export interface MarkdownBlock {
  kind: "text" | "heading" | "list" | "code" | "table" | "quote" | "rule" | "note";
  text: string;
}

/** The surroundings of the nodes that are written. It is never changed, only copied. */
export interface Scope {
  /** Emphasis that surrounds whole blocks, for each text in them. */
  strong: boolean;
  emphasis: boolean;
  deleted: boolean;
  /** Inside the text of a link: there are no links in links. */
  inLink: boolean;
  /** Inside a cell of a table: one line, and `|` ends the cell. */
  inCell: boolean;
  inHeading: boolean;
  /** Levels of lists and quotes around. */
  depth: number;
  /** A link around whole blocks: the first text becomes its text. */
  link: BlockLink | undefined;
}

export interface BlockLink {
  href: string;
  title: string | undefined;
  /** The place of the link, if it is not simply the first text. */
  heading: Element | undefined;
  isWritten: boolean;
}

/** The parts of the writer that call each other. */
export interface Writer {
  readonly footnotes: Footnotes;
  /** Whether a node is, or contains, a block. */
  isBlock(node: ChildNode): boolean;
  blocks(nodes: readonly ChildNode[], scope: Scope): MarkdownBlock[];
  /** Text of one paragraph, with marks before the characters that may have to be escaped (see escape.ts). */
  inline(nodes: readonly ChildNode[], scope: Scope): string;
}

export const outermostScope: Scope = {
  strong: false,
  emphasis: false,
  deleted: false,
  inLink: false,
  inCell: false,
  inHeading: false,
  depth: 0,
  link: undefined,
};

/** Levels of lists and quotes that are indented: each repeats the text of all inner ones. Deeper ones are written flat. */
export const indentedLevelsMax = 32;

/** Blocks with a blank line between them. */
export function joinBlocks(blocks: readonly MarkdownBlock[]): string {
  return blocks.map(({ text }) => text).join("\n\n");
}

/** Indents all lines but the first, and leaves empty lines empty. */
export function indentRest(text: string, spaces: number): string {
  return text.includes("\n") ? text.replaceAll(/\n(?!\n|$)/g, `\n${" ".repeat(spaces)}`) : text;
}
