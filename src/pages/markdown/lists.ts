import { type ChildNode, type Element, isTag, isText } from "domhandler";
import { type MarkdownBlock, indentedLevelsMax, indentRest, joinBlocks, type Scope, type Writer } from "./context.ts";
import { finishLine } from "./inline.ts";

/** A list, or a list item without one. Items that are footnotes become notes, after the list. */
export function writeList(list: Element, scope: Scope, writer: Writer): MarkdownBlock[] {
  const inner = { ...scope, depth: scope.depth + 1 };
  const isOrdered = list.name === "ol";
  const items: string[] = [];
  const notes: MarkdownBlock[] = [];
  let isLoose = false;
  let number = Number.parseInt(list.attribs["start"] ?? "1", 10);
  if (Number.isNaN(number)) number = 1;
  for (const nodes of itemsOf(list)) {
    const [first] = nodes;
    const isItem = first !== undefined && isTag(first) && first.name === "li";
    if (isItem && writer.footnotes.noteOf(first) !== undefined) {
      notes.push(...writer.blocks([first], scope));
      continue;
    }
    const blocks = writer.blocks(isItem ? first.children : nodes, inner);
    if (blocks.length === 0) continue;
    const value = isItem ? Number.parseInt(first.attribs["value"] ?? "", 10) : Number.NaN;
    if (!Number.isNaN(value)) number = value;
    const marker = isOrdered ? `${Math.max(0, number)}. ` : "- ";
    number += 1;
    isLoose ||= !isTight(blocks);
    const text = isTight(blocks) ? blocks.map((block) => block.text).join("\n") : joinBlocks(blocks);
    items.push(marker + indentRest(text, scope.depth >= indentedLevelsMax ? 0 : marker.length));
  }
  const text = items.join(isLoose ? "\n\n" : "\n");
  return text === "" ? notes : [{ kind: "list", text }, ...notes];
}

/** An item whose parts need no blank line between them: one text, then lists. */
function isTight(blocks: readonly MarkdownBlock[]): boolean {
  return blocks.every(({ kind }, index) => kind === "list" || (index === 0 && kind !== "table"));
}

/** Groups of nodes that are one item each: an `li`, with the nodes between it and the next. */
function itemsOf(list: Element): ChildNode[][] {
  if (list.name === "li") return [[list]];
  const items: ChildNode[][] = [];
  for (const child of list.children) {
    if (isText(child) ? child.data.trim() === "" : !isTag(child)) continue;
    const last = items.at(-1);
    const isNested = isTag(child) && (child.name === "ul" || child.name === "ol");
    const [item] = last ?? [];
    // Old editors put a nested list beside the item that it belongs to.
    if (isNested && item !== undefined && isTag(item) && item.name === "li") item.children.push(child);
    else items.push([child]);
  }
  return items;
}

/** `<dl>`: each term in bold, followed by its descriptions. */
export function writeDefinitions(list: Element, scope: Scope, writer: Writer): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  for (const part of partsOf(list)) {
    if (part.name !== "dt") {
      blocks.push(
        ...writer.blocks(
          part.name === "dd" && writer.footnotes.noteOf(part) === undefined ? part.children : [part],
          scope,
        ),
      );
      continue;
    }
    if (part.children.some((child) => isTag(child) && /^(h[1-6]|pre|table|ul|ol)$/.test(child.name))) {
      blocks.push(...writer.blocks(part.children, scope));
      continue;
    }
    const term = finishLine(writer.inline(part.children, { ...scope, strong: true, inHeading: true }));
    if (term !== "") blocks.push({ kind: "text", text: `**${term}**` });
  }
  return blocks;
}

/** Groups of terms and descriptions may be wrapped in `div`. */
function partsOf(list: Element): Element[] {
  return list.children
    .filter(isTag)
    .flatMap((child) =>
      child.name === "div" &&
      child.children.some((inner) => isTag(inner) && (inner.name === "dt" || inner.name === "dd"))
        ? child.children.filter(isTag)
        : [child],
    );
}
