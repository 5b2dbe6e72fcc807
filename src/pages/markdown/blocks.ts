import { type ChildNode, type Element, isTag, isText } from "domhandler";
import { findOne } from "domutils";
import { codeText, fencedCode, languageOf } from "./code.ts";
import {
  type MarkdownBlock,
  type BlockLink,
  indentedLevelsMax,
  indentRest,
  joinBlocks,
  type Scope,
  type Writer,
} from "./context.ts";
import { surround } from "./emphasis.ts";
import { writeField } from "./fields.ts";
import { delimited, formulaForCell, formulaOf } from "./formulas.ts";
import { finishLine, finishParagraph } from "./inline.ts";
import { linked, writeFrame } from "./links.ts";
import { writeDefinitions, writeList } from "./lists.ts";
import { equationsOf } from "./equations.ts";
import { codeOfTable, isLayout, rowsOf, writeTable } from "./tables.ts";

/** The end of an element that is only a box around others. */
const edge = Symbol("edge");

/** Elements that are written in a way of their own. */
const written = new Set(
  (
    "h1 h2 h3 h4 h5 h6 ul ol menu dir li dl blockquote pre table hr details a strong b em i del s strike iframe video audio button " +
    "select textarea svg noscript template object"
  ).split(" "),
);

/** Whether an element only surrounds others. Pages have hundreds of them in each other. */
function isTransparent(element: Element, { footnotes }: Writer): boolean {
  return !written.has(element.name) && footnotes.noteOf(element) === undefined && formulaOf(element) === undefined;
}

/** Neighbours as blocks: each block element, and between them paragraphs of the rest. */
export function writeBlocks(nodes: readonly ChildNode[], scope: Scope, writer: Writer): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  let run: ChildNode[] = [];
  const endRun = (): void => {
    if (run.length > 0) add(blocks, writeRun(run, scope, writer));
    run = [];
  };
  const waiting: (ChildNode | typeof edge)[] = nodes.toReversed();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node === edge) endRun();
    else if (isTag(node) && writer.isBlock(node)) {
      endRun();
      if (isTransparent(node, writer)) {
        waiting.push(edge);
        pushReversed(waiting, node.children);
      } else add(blocks, writeBlock(node, scope, writer));
    } else if (isTag(node) || isText(node)) run.push(node);
  }
  endRun();
  return blocks;
}

/** A page may have more children than a call has arguments. */
function pushReversed<Node>(list: (Node | typeof edge)[], nodes: readonly Node[]): void {
  for (const node of nodes.toReversed()) list.push(node);
}

function add(blocks: MarkdownBlock[], more: readonly MarkdownBlock[]): void {
  for (const block of more) if (block.text !== "") blocks.push(block);
}

/** Paragraphs of inline nodes; two line breaks in a row end one. */
function writeRun(nodes: readonly ChildNode[], scope: Scope, writer: Writer): MarkdownBlock[] {
  if (nodes.every((node) => isText(node) && node.data.trim() === "")) return [];
  const text = writer.inline(nodes, scope);
  return (text.includes("\n") ? text.split(/\n[ \t]*\n\s*/) : [text]).flatMap((paragraph): MarkdownBlock[] => {
    const isBlank = paragraph.trim() === "";
    return isBlank ? [] : [{ kind: "text", text: finishParagraph(wrapped(paragraph, scope)) }];
  });
}

/** Emphasis and links that surround whole blocks go around the texts in them. */
function wrapped(text: string, scope: Scope): string {
  const { link } = scope;
  const withLink = link !== undefined && !link.isWritten && link.heading === undefined;
  if (withLink) link.isWritten = true;
  let inner = withLink ? linked(text, link.href, link.title) : text;
  if (scope.deleted) inner = surround(inner, "~~");
  if (scope.emphasis) inner = surround(inner, "*");
  return scope.strong ? surround(inner, "**") : inner;
}

function writeBlock(element: Element, scope: Scope, writer: Writer): MarkdownBlock[] {
  const note = writer.footnotes.noteOf(element);
  if (note !== undefined) return writeNote(element, note, scope, writer);
  const formula = formulaOf(element);
  if (formula !== undefined) {
    return [
      { kind: "text", text: scope.inCell ? delimited(formulaForCell(formula), false) : delimited(formula, true) },
    ];
  }
  switch (element.name) {
    case "h1":
    case "h2":
    case "h3":
    case "h4":
    case "h5":
    case "h6":
      return writeHeading(element, scope, writer);
    case "ul":
    case "ol":
    case "menu":
    case "dir":
      return writeList(element, scope, writer);
    case "li":
      return writeList(element, scope, writer);
    case "dl":
      return writeDefinitions(element, scope, writer);
    case "blockquote":
      return writeQuote(element, scope, writer);
    case "pre":
      return writePre(element);
    case "table":
      return writeTableOrLayout(element, scope, writer);
    case "hr":
      return isBeforeNotes(element) ? [] : [{ kind: "rule", text: "---" }];
    case "details":
      return writeDetails(element, scope, writer);
    default:
      return writeOther(element, scope, writer);
  }
}

function writeOther(element: Element, scope: Scope, writer: Writer): MarkdownBlock[] {
  switch (element.name) {
    case "a":
      return writeLinkedBlocks(element, scope, writer);
    case "strong":
    case "b":
      return writer.blocks(element.children, { ...scope, strong: true });
    case "em":
    case "i":
      return writer.blocks(element.children, { ...scope, emphasis: true });
    case "del":
    case "s":
    case "strike":
      return writer.blocks(element.children, { ...scope, deleted: true });
    case "iframe":
    case "video":
    case "audio":
      return [{ kind: "text", text: finishLine(writeFrame(element)) }];
    case "button":
      return element.attribs["aria-expanded"] === undefined && element.attribs["aria-controls"] === undefined
        ? []
        : writer.blocks(element.children, scope);
    case "select":
    case "textarea":
      return [{ kind: "text", text: finishLine(writeField(element, scope)) }];
    case "svg":
    case "noscript":
    case "template":
    case "object":
      return [];
    default:
      return writer.blocks(element.children, scope);
  }
}

function writeHeading(element: Element, scope: Scope, writer: Writer): MarkdownBlock[] {
  const { link } = scope;
  const [own, rest] = ownText(element, writer);
  const inner = writer.inline(own, { ...scope, inHeading: true });
  const takesLink = link !== undefined && !link.isWritten && (link.heading === undefined || link.heading === element);
  const text = finishLine(takesLink ? linked(inner, link.href, link.title) : inner);
  const blocks = rest.length === 0 ? [] : writer.blocks(rest, scope);
  if (text === "") return blocks;
  if (takesLink) link.isWritten = true;
  // Signs at the end of a heading would be read as its closing sequence.
  return [
    { kind: "heading", text: `${"#".repeat(Number(element.name.slice(1)))} ${text.replace(/(^|\s)(#+)$/, "$1\\$2")}` },
    ...blocks,
  ];
}

/** Blocks that no heading consists of: it wasn't closed, and the page goes on in it. */
const notInHeadings = new Set(["p", "table", "ul", "ol", "dl", "pre", "blockquote", "section", "article", "form"]);

/** The text of a heading, and the blocks that begin behind it although it is still open. */
function ownText({ children }: Element, writer: Writer): [own: ChildNode[], rest: ChildNode[]] {
  const at = children.findIndex((child) => isTag(child) && notInHeadings.has(child.name));
  const own = children.slice(0, Math.max(at, 0));
  const hasText = own.some((child) =>
    isText(child) ? child.data.trim() !== "" : isTag(child) && !writer.isBlock(child),
  );
  return hasText ? [own, children.slice(at)] : [children, []];
}

function writeQuote(element: Element, scope: Scope, writer: Writer): MarkdownBlock[] {
  if (scope.depth >= indentedLevelsMax) return writer.blocks(element.children, scope);
  const inner = joinBlocks(writer.blocks(element.children, { ...scope, depth: scope.depth + 1 }));
  return inner === ""
    ? []
    : [{ kind: "quote", text: inner.replaceAll(/^(.*)$/gm, (line) => (line === "" ? ">" : `> ${line}`)) }];
}

function writePre(element: Element): MarkdownBlock[] {
  const text = codeText(element);
  return text === "" ? [] : [{ kind: "code", text: fencedCode(text, languageOf(element)) }];
}

function writeTableOrLayout(element: Element, scope: Scope, writer: Writer): MarkdownBlock[] {
  const rows = rowsOf(element);
  const code = codeOfTable(element, rows);
  if (code !== undefined) return [{ kind: "code", text: fencedCode(code.text, code.language) }];
  const equations = scope.inCell ? undefined : equationsOf(element, rows);
  if (equations !== undefined) return equations.map((text) => ({ kind: "text", text }));
  if (scope.inCell || isLayout(element, rows)) return writer.blocks(element.children, scope);
  return writeTable(element, rows, scope, writer);
}

/** `<details>`: its summary in bold, then its hidden content. */
function writeDetails(element: Element, scope: Scope, writer: Writer): MarkdownBlock[] {
  const summary = element.children.filter(isTag).find(({ name }) => name === "summary");
  const title =
    summary === undefined
      ? ""
      : finishLine(writer.inline(summary.children, { ...scope, strong: true, inHeading: true }));
  const rest = writer.blocks(
    element.children.filter((child) => child !== summary),
    scope,
  );
  return [{ kind: "text", text: title === "" ? "" : `**${title}**` }, ...rest];
}

/** A link around blocks (a card, a tile): its heading becomes the link, or else the first text. */
function writeLinkedBlocks(element: Element, scope: Scope, writer: Writer): MarkdownBlock[] {
  const { href, title } = element.attribs;
  if (href === undefined || scope.inLink || scope.link !== undefined) return writer.blocks(element.children, scope);
  const heading = findOne(({ name }) => /^h[1-6]$/.test(name), element.children) ?? undefined;
  const link: BlockLink = { href, title, heading, isWritten: false };
  const blocks = writer.blocks(element.children, { ...scope, link });
  // The heading is empty, or there is no text at all.
  if (link.isWritten || heading === undefined) return blocks;
  return writer.blocks(element.children, { ...scope, link: { ...link, heading: undefined } });
}

function writeNote(element: Element, label: string, scope: Scope, writer: Writer): MarkdownBlock[] {
  const text = joinBlocks(writer.blocks(element.children, scope)).replace(/^\s*\^?\s*/, "");
  return text === "" ? [] : [{ kind: "note", text: indentRest(`[^${label}]: ${text}`, 4) }];
}

/** The rule above footnotes belongs to their section. */
function isBeforeNotes({ parent }: Element): boolean {
  return (
    parent !== null &&
    isTag(parent) &&
    /footnotes|endnotes/i.test(`${parent.attribs["class"] ?? ""} ${parent.attribs["role"] ?? ""}`)
  );
}
