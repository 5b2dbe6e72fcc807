import type { ParentNode } from "domhandler";
import { blockElements } from "./block-names.ts";
import { writeBlocks } from "./blocks.ts";
import { joinBlocks, outermostScope, type Writer } from "./context.ts";
import { findFootnotes } from "./footnotes.ts";
import { writeInline } from "./inline.ts";

/**
 * A tree as GitHub's Markdown.
 * @param root a cleaned tree with absolute addresses, of bounded depth.
 * @param pageUrl the address of the page without its fragment.
 */
export function writeMarkdown(root: ParentNode, pageUrl: string): string {
  const blockNodes = blockElements(root);
  const writer: Writer = {
    footnotes: findFootnotes(root, pageUrl),
    isBlock: (node) => blockNodes.has(node),
    blocks: (nodes, scope) => writeBlocks(nodes, scope, writer),
    inline: (nodes, scope) => writeInline(nodes, scope, writer),
  };
  return joinBlocks(writer.blocks(root.children, outermostScope));
}
