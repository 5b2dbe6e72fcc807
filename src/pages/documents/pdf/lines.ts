/** A piece of text as the PDF places it. Points, from the lower left corner of the page. */
export interface PlacedText {
  text: string;
  x: number;
  y: number;
  width: number;
  size: number;
}

/** Texts beside each other, in reading order. */
export interface Line {
  text: string;
  left: number;
  right: number;
  y: number;
  size: number;
}

/** The part of a text's size by which texts of one line may differ in height: raised and lowered signs. */
const sameLine = 0.45;

/** A gap of so many sizes separates columns or cells; words are about a quarter apart. */
const columnGap = 1.6;

/** Less than this between two texts is no space. */
const wordGap = 0.15;

/** The texts of a page as lines, from top to bottom; texts in different columns are in different lines. */
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

/** Lines in each of two columns, below which a gap is chance. */
const columnLinesMin = 3;

/** The part of a page's lines that may cross the gap between its columns: titles, wide figures. */
const crossingShareMax = 0.25;

/** Brings lines into reading order: of two columns, the left one first, between lines that go across both. */
export function readingOrder(lines: readonly Line[]): Line[] {
  const gap = gapOf(lines);
  if (gap === undefined) return [...lines];
  const ordered: Line[] = [];
  let left: Line[] = [];
  let right: Line[] = [];
  for (const line of lines) {
    if (line.right <= gap) left.push(line);
    else if (line.left >= gap) right.push(line);
    else {
      ordered.push(...left, ...right, line);
      left = [];
      right = [];
    }
  }
  return [...ordered, ...left, ...right];
}

/** The x between two columns, if a page has two. */
function gapOf(lines: readonly Line[]): number | undefined {
  const [start, end] = [Math.min(...lines.map(({ left }) => left)), Math.max(...lines.map(({ right }) => right))];
  let best: { x: number; crossing: number } | undefined;
  for (let part = 0.3; part <= 0.7; part += 0.01) {
    const x = start + part * (end - start);
    const [leftLines, rightLines] = [lines.filter(({ right }) => right <= x), lines.filter(({ left }) => left >= x)];
    const crossing = lines.length - leftLines.length - rightLines.length;
    const isColumns = isColumn(leftLines, x - start) && isColumn(rightLines, end - x);
    if (!isColumns || crossing > crossingShareMax * lines.length) continue;
    if (best === undefined || crossing < best.crossing) best = { x, crossing };
  }
  return best?.x;
}

/** Columns of text are mostly filled; columns of a table are not. */
function isColumn(lines: readonly Line[], width: number): boolean {
  const filled = lines.filter(({ left, right }) => right - left > 0.5 * width);
  return lines.length >= columnLinesMin && filled.length > lines.length / 2;
}
