import { type ChildNode, type Element, isTag, isText } from "domhandler";
import { findOne, textContent } from "domutils";
import { elementsOf } from "../html/walk.ts";
import { codeText, isDecoration, languageOf } from "./code.ts";
import type { MarkdownBlock, Scope, Writer } from "./context.ts";
import { finishLine } from "./inline.ts";
import { tableText } from "./table-text.ts";

/** Columns of a table; a cell that claims to span more spans this many. */
const columnsMax = 200;

/** Empty cells that spans may add to a table, for each cell that it has. */
const filledPerCellMax = 20;

/** Elements that don't fit into a cell of a Markdown table: a table with one of them arranges a page. */
const unfit = new Set([
  "table",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "form",
  "blockquote",
  "article",
  "section",
  "hr",
  "iframe",
]);

export interface Row {
  cells: Element[];
  isHeader: boolean;
  /** Rows of its group from this one on: no cell spans more. */
  groupRows: number;
}

/** Whether a table only arranges parts of a page, so that its cells are written one after the other. */
export function isLayout(table: Element, rows: readonly Row[]): boolean {
  const { attribs } = table;
  if (/^(presentation|none)$/.test(attribs["role"] ?? "")) return true;
  if (rows.every(({ cells }) => cells.length <= 1)) return true;
  const hasHeader =
    rows.some(({ isHeader }) => isHeader) || table.children.some((child) => isTag(child) && child.name === "caption");
  for (const { name } of elementsOf(table))
    if (unfit.has(name) && !(hasHeader && /^h[1-6]$|^hr$/.test(name))) return true;
  if (hasHeader) return false;
  return rows.some(({ cells }) => cells.some((cell) => longCell(cell)));
}

/** Characters in a cell of a table without a header row, above which it holds a part of the page; fewer if it has blocks. */
const cellCharactersMax = 1_000;
const blockCharactersMax = 80;

function longCell(cell: Element): boolean {
  const characters = textContent(cell).length;
  if (characters > cellCharactersMax) return true;
  return (
    characters > blockCharactersMax && findOne(({ name }) => /^(div|p|ul|ol|pre)$/.test(name), cell.children) !== null
  );
}

/** A table with a header row, an empty one if it has none. Spans leave the cells that they cover empty. */
export function writeTable(table: Element, rows: readonly Row[], scope: Scope, writer: Writer): MarkdownBlock[] {
  const cellScope: Scope = { ...scope, inCell: true };
  const grid = fillGrid(rows, (cell) => writeCell(cell, cellScope, writer));
  const columns = grid.reduce((most, row) => Math.max(most, row.length), 0);
  const filled = grid.map((row) => row.concat(Array.from<string>({ length: columns - row.length }).fill("")));
  const used = Array.from({ length: columns }, (_, column) => filled.some((row) => row[column] !== ""));
  const lines = filled
    .map((row) => row.filter((_, column) => used[column]))
    .filter((row) => row.some((cell) => cell !== ""));
  const [first] = lines;
  if (first === undefined) return [];
  const hasHeader = rows.find(({ cells }) => cells.length > 0)?.isHeader === true;
  const header = hasHeader ? first : first.map(() => "");
  const text = tableText(header, hasHeader ? lines.slice(1) : lines);
  return [...writeCaption(table, scope, writer), { kind: "table", text }];
}

function writeCaption(table: Element, scope: Scope, writer: Writer): MarkdownBlock[] {
  const caption = table.children.filter(isTag).find(({ name }) => name === "caption");
  return caption === undefined ? [] : writer.blocks(caption.children, scope);
}

function writeCell(cell: Element, scope: Scope, writer: Writer): string {
  const isSimple = cell.children.every((child) => !writer.isBlock(child));
  const text = isSimple
    ? writer.inline(cell.children, scope).trim().split("\n").map(finishLine).join("<br>")
    : writer.blocks(cell.children, scope).map(cellBlock).join("<br>");
  return text.replaceAll(/^(<br>)+|(<br>)+$/g, "");
}

function cellBlock({ kind, text }: MarkdownBlock): string {
  if (kind !== "code") return text.replaceAll(/\s*\n+\s*/g, "<br>");
  const lines = text
    .split("\n")
    .slice(1, -1)
    .filter((line) => line.trim() !== "");
  return lines.map((line) => `\`${line.trim().replaceAll("`", "'").replaceAll("|", "\\|")}\``).join("<br>");
}

/** The rows, also those without cells, which cells of others may reach into. A large table has most of the nodes of its page: they are read once. */
export function rowsOf(table: Element): Row[] {
  const rows: Row[] = [];
  for (const part of table.children) {
    if (!isTag(part)) continue;
    if (part.name === "tr") addRows(rows, [part], false);
    else if (/^t(head|body|foot)$/.test(part.name)) addRows(rows, part.children, part.name === "thead");
  }
  return rows;
}

function addRows(rows: Row[], group: readonly ChildNode[], isInHead: boolean): void {
  const own = group.filter((node): node is Element => isTag(node) && node.name === "tr");
  for (const [index, row] of own.entries()) rows.push(readRow(row, isInHead, own.length - index));
}

function readRow({ children }: Element, isInHead: boolean, groupRows: number): Row {
  const cells = children.filter(
    (child): child is Element => isTag(child) && (child.name === "td" || child.name === "th"),
  );
  const isHeading = cells.every((cell) => cell.name === "th" || !isFilled(cell)) && cells.some(isFilled);
  return { cells, isHeader: isInHead || isHeading, groupRows };
}

function isFilled({ children }: Element): boolean {
  return children.some((child) => isTag(child) || (isText(child) && child.data.trim() !== ""));
}

/** The cells by row and column; a cell that spans several stands in its first. */
function fillGrid(rows: readonly Row[], write: (cell: Element) => string): string[][] {
  const cellCount = rows.reduce((sum, { cells }) => sum + cells.length, 0);
  let left = cellCount * filledPerCellMax;
  /** Rows that a cell above still covers, by column. */
  const covered: number[] = [];
  return rows.map(({ cells, groupRows }) => {
    const row: string[] = [];
    const skipCovered = (): void => {
      while ((covered[row.length] ?? 0) > 0) {
        covered[row.length] = (covered[row.length] ?? 0) - 1;
        row.push("");
      }
    };
    for (const cell of cells) {
      skipCovered();
      if (row.length >= columnsMax) break;
      const width = Math.min(spanOf(cell, "colspan"), columnsMax - row.length, Math.max(1, left));
      left -= width - 1;
      for (let offset = 0; offset < width; offset += 1) {
        covered[row.length] = Math.min(spanOf(cell, "rowspan"), groupRows) - 1;
        row.push(offset === 0 ? write(cell) : "");
      }
    }
    skipCovered();
    return row;
  });
}

function spanOf({ attribs }: Element, name: "colspan" | "rowspan"): number {
  const span = Number.parseInt(attribs[name] ?? "1", 10);
  // Down to the last row of its group.
  if (span === 0 && name === "rowspan") return 1_000;
  return Number.isNaN(span) ? 1 : Math.min(Math.max(1, span), 1_000);
}

/** The code of a table that shows it line by line, beside line numbers. */
export function codeOfTable(table: Element, all: readonly Row[]): { text: string; language: string } | undefined {
  const rows = all.filter(({ cells }) => cells.length > 0);
  const [first] = rows;
  const [gutter, ...rest] = first?.cells ?? [];
  if (gutter === undefined || rest.length === 0 || rest.length > 2) return undefined;
  const pre = findOne(({ name }) => name === "pre", rest);
  if (isDecoration(gutter) || isNumbers(gutter)) {
    if (pre === null && !isCodeCell(rest.at(-1))) return undefined;
    const lines = rows.map(({ cells }) => codeText(cells.at(-1) ?? gutter));
    return { text: lines.join("\n").trimEnd(), language: languageOf(pre ?? table) };
  }
  return undefined;
}

function isNumbers(cell: Element): boolean {
  return (
    /^\s*(\d+\s+)*\d+\s*$/.test(textContent(cell).slice(0, 10_000)) &&
    findOne(({ name }) => name === "pre", [cell]) !== null
  );
}

function isCodeCell(cell: Element | undefined): boolean {
  return (
    cell !== undefined &&
    /(^|\s)(code|blob-code\S*|hljs-ln-code|js-file-line|lines?-code)(\s|$)/.test(cell.attribs["class"] ?? "")
  );
}
