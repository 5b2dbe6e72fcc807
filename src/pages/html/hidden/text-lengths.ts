import { type Document, type Element, isTag, isText, type ParentNode } from "domhandler";

/** Elements without text for a reader, whether they are hidden or not. */
export const silent: ReadonlySet<string> = new Set(["script", "style", "noscript", "template", "head", "title"]);

/** Characters of text in a document and in some of its elements, white space left out at the edges of each text. */
export function textLengths(document: Document, wanted: ReadonlyMap<Element, unknown>): Map<ParentNode, number> {
  const lengths = new Map<ParentNode, number>();
  lengths.set(document, measure(document, wanted, lengths));
  return lengths;
}

/** A tree's depth is bounded. */
function measure(parent: ParentNode, wanted: ReadonlyMap<Element, unknown>, lengths: Map<ParentNode, number>): number {
  let sum = 0;
  for (const child of parent.children) {
    if (isText(child)) sum += child.data.trim().length;
    else if (isTag(child) && !silent.has(child.name)) {
      const own = measure(child, wanted, lengths);
      if (wanted.has(child)) lengths.set(child, own);
      sum += own;
    }
  }
  return sum;
}
