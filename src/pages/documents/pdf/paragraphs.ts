import { type Line, rowsOf } from "./lines.ts";
import { tableOf, writeTable } from "./table.ts";

/** Lines that belong together. */
export interface Paragraph {
  text: string;
  size: number;
  lines: number;
  /** Of a table, whose text is Markdown. */
  cells?: readonly string[][];
}

/** Lines further apart than so many sizes are of different paragraphs. */
const paragraphGap = 1.75;

/** A first line that is indented by so many sizes begins a paragraph. */
const indent = 0.9;

const bullet = /^[•◦▪●○■□‣⁃∙·]\s*/;

const listItem = /^(?:[•◦▪●○■□‣⁃∙]|[-–—]\s|\(?\d{1,3}[.)]\s|\(?[a-z][.)]\s)/;

/** Joins lines in reading order to paragraphs, and words that were divided at the end of a line; rows of cells to tables. */
export function paragraphsOf(lines: readonly Line[]): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let text: Line[] = [];
  let cells: Line[][] = [];
  const endText = (): void => {
    paragraphs.push(...textParagraphsOf(text));
    text = [];
  };
  const endCells = (): void => {
    paragraphs.push(...cellParagraphsOf(cells));
    cells = [];
  };
  for (const row of rowsOf(lines)) {
    if (row.length > 1) {
      endText();
      cells.push(row);
    } else {
      endCells();
      text.push(...row);
    }
  }
  endText();
  endCells();
  return paragraphs;
}

/** Rows with a gap in them: a table, if there are several that are alike. */
function cellParagraphsOf(rows: readonly (readonly Line[])[]): Paragraph[] {
  const table = tableOf(rows);
  const size = rows[0]?.[0]?.size ?? 0;
  if (table !== undefined) return [{ text: writeTable(table), size, lines: rows.length, cells: table }];
  return rows.map((row) => ({
    text: row.map(({ text }) => text).join(" "),
    size: Math.max(...row.map((line) => line.size)),
    lines: 1,
  }));
}

function textParagraphsOf(lines: readonly Line[]): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let previous: Line | undefined;
  let left = 0;
  for (const line of lines) {
    const paragraph = paragraphs.at(-1);
    if (paragraph !== undefined && previous !== undefined && continues(previous, line, left)) {
      paragraph.text = joinLines(paragraph.text, line.text);
      paragraph.lines += 1;
    } else {
      paragraphs.push({ text: line.text, size: line.size, lines: 1 });
      left = line.left;
    }
    // The second line of a paragraph shows the left edge of its lines.
    if (paragraph?.lines === 2) left = Math.min(left, line.left);
    previous = line;
  }
  return paragraphs;
}

function continues(previous: Line, line: Line, left: number): boolean {
  const down = previous.y - line.y;
  if (Math.abs(previous.size - line.size) > 0.08 * previous.size) return false;
  // The next column, or the next page.
  if (down <= 0) return /[\p{Ll},;-]$/u.test(previous.text) && /^[\p{Ll}]/u.test(line.text);
  if (down > paragraphGap * Math.max(previous.size, line.size) || listItem.test(line.text)) return false;
  return (
    line.left - left < indent * line.size || previous.left - left > indent * line.size || listItem.test(previous.text)
  );
}

function joinLines(text: string, next: string): string {
  if (/\p{L}-$/u.test(text) && /^\p{Ll}/u.test(next)) return text.slice(0, -1) + next;
  return /[\u3040-\u30ff\u4e00-\u9fff]$/.test(text) && /^[\u3040-\u30ff\u4e00-\u9fff]/.test(next)
    ? text + next
    : `${text} ${next}`;
}

/** Characters of a heading; larger text that is longer is an introduction. */
const headingCharactersMax = 200;

/** How much larger than the text a heading is, at least. */
const headingFactor = 1.12;

const headingLevelsMax = 4;

/** A part of a document; the items of a list are the lines of one text. */
export type PdfBlock =
  | { kind: "heading"; level: number; text: string }
  | { kind: "text"; text: string }
  /** A page as a model has read it. */
  | { kind: "markdown"; text: string }
  | { kind: "table"; text: string; cells: readonly string[][] };

/** The size that most characters have is the text's, larger paragraphs are headings. */
export function blocksOf(paragraphs: readonly Paragraph[]): PdfBlock[] {
  const bodySize = commonSize(paragraphs);
  const isHeading = ({ text, size, cells }: Paragraph): boolean =>
    cells === undefined &&
    size > headingFactor * bodySize &&
    text.length <= headingCharactersMax &&
    /\p{L}/u.test(text);
  const sizes = [...new Set(paragraphs.filter(isHeading).map(({ size }) => Math.round(size)))].toSorted(
    (one, other) => other - one,
  );
  const blocks: PdfBlock[] = [];
  let list: PdfBlock | undefined;
  for (const paragraph of paragraphs) {
    const { text, size, cells } = paragraph;
    const isItem = bullet.test(text) && !isHeading(paragraph);
    if (isItem && list !== undefined) {
      list.text += `\n- ${text.replace(bullet, "")}`;
      continue;
    }
    const block: PdfBlock = isHeading(paragraph)
      ? { kind: "heading", level: Math.min(sizes.indexOf(Math.round(size)) + 1, headingLevelsMax), text }
      : cells === undefined
        ? { kind: "text", text: text.replace(bullet, "- ") }
        : { kind: "table", text, cells };
    blocks.push(block);
    list = isItem ? block : undefined;
  }
  return blocks;
}

function commonSize(paragraphs: readonly Paragraph[]): number {
  const characters = new Map<number, number>();
  for (const { text, size } of paragraphs) {
    const rounded = Math.round(size * 2) / 2;
    characters.set(rounded, (characters.get(rounded) ?? 0) + text.length);
  }
  const [most] = [...characters].toSorted(([, one], [, other]) => other - one);
  return most?.[0] ?? 0;
}
