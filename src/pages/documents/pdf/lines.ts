/** A piece of text as the PDF places it. Points, from the lower left corner of the page. */
export interface PlacedText {
  text: string;
  x: number;
  y: number;
  width: number;
  size: number;
}

/** Texts beside each other, in reading order: all of a row, or of its part in one column or cell. */
export interface Line {
  text: string;
  left: number;
  right: number;
  y: number;
  size: number;
}

/** The part of a text's size by which texts of one line may differ in height: raised and lowered signs. */
const sameLine = 0.45;

/** A gap of so many sizes may separate columns; words are about a quarter apart, in justified text up to twice as much. */
const columnGap = 0.7;

/** On a page without columns of text, a gap this wide, in multiples of the font size, separates two cells of a table row. */
const cellGap = 1.6;

/** Less than this between two texts is no space. */
const wordGap = 0.15;

/** The texts of a page as lines, from top to bottom; texts that may be in different columns are in different lines. */
export function linesOf(texts: readonly PlacedText[]): Line[] {
  const rows: PlacedText[][] = [];
  for (const text of texts.toSorted((one, other) => other.y - one.y || one.x - other.x)) {
    const row = rows.at(-1);
    const [first] = row ?? [];
    if (row !== undefined && first !== undefined && first.y - text.y < sameLine * Math.max(first.size, text.size))
      row.push(text);
    else rows.push([text]);
  }
  return rows.flatMap(splitRow);
}

function splitRow(row: readonly PlacedText[]): Line[] {
  const lines: Line[] = [];
  for (const { text, x, y, width, size } of row.toSorted((one, other) => one.x - other.x)) {
    const line = lines.at(-1);
    const gap = line === undefined ? Infinity : x - line.right;
    if (line === undefined || gap > columnGap * Math.max(size, line.size)) {
      lines.push({ text, left: x, right: x + width, y, size });
      continue;
    }
    const space = gap > wordGap * size && !line.text.endsWith(" ") && !text.startsWith(" ") ? " " : "";
    line.text += space + text;
    line.right = Math.max(line.right, x + width);
    line.size = Math.max(line.size, size);
  }
  return lines.flatMap((line) =>
    line.text.trim() === "" ? [] : [{ ...line, text: line.text.replaceAll(/\s+/g, " ").trim() }],
  );
}

/** The lines of one column, from top to bottom: parts of a row are one line unless they are cells. */
export function joinedLines(rows: readonly (readonly Line[])[]): Line[] {
  const lines = rows.flat();
  const start = lines.reduce((least, { left }) => Math.min(least, left), Infinity);
  const end = lines.reduce((most, { right }) => Math.max(most, right), -Infinity);
  const joined: Line[] = [];
  for (const row of rows) {
    const gapMax = isStretched(row, start, end) ? Infinity : cellGap;
    for (const [index, part] of row.entries()) {
      const line = joined.at(-1);
      if (index === 0 || line === undefined || part.left - line.right > gapMax * Math.max(part.size, line.size)) {
        joined.push({ ...part });
        continue;
      }
      line.text += ` ${part.text}`;
      line.right = Math.max(line.right, part.right);
      line.size = Math.max(line.size, part.size);
    }
  }
  return joined;
}

/** Whether a row is a line of few words that was stretched to the width of its narrow column: its gaps are alike. */
function isStretched(row: readonly Line[], start: number, end: number): boolean {
  const [first, last] = [row[0], row.at(-1)];
  if (first === undefined || last === undefined || row.some(({ text }) => /[\s\d]/.test(text))) return false;
  if (Math.abs(first.left - start) > 2 * first.size || Math.abs(end - last.right) > 0.5 * last.size) return false;
  const gaps = row.slice(1).map((part, index) => part.left - (row[index]?.right ?? 0));
  return Math.max(...gaps) - Math.min(...gaps) < 0.3 * first.size;
}

/** Lines in rows: those beside each other are of one row, from left to right. */
export function rowsOf(lines: readonly Line[]): Line[][] {
  const rows: Line[][] = [];
  for (const line of lines) {
    const row = rows.at(-1);
    const [first] = row ?? [];
    const last = row?.at(-1);
    const isBeside =
      first !== undefined &&
      last !== undefined &&
      line.left >= last.right &&
      Math.abs(first.y - line.y) < sameLine * Math.max(first.size, line.size);
    if (isBeside) row?.push(line);
    else rows.push([line]);
  }
  return rows;
}
