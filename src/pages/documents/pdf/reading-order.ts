import { joinedLines, type Line, rowsOf } from "./lines.ts";

/** Lines in each of two columns, below which a gap is chance. */
const columnLinesMin = 3;

/** The least width of a column of text, in sizes of its letters: the columns of tables are narrower. */
const columnSizesMin = 10;

/** A line is filled, as those of text are, from this part of its column's width. */
const filledShare = 0.5;

/** Lines further apart than so many sizes are not of one column, unless there is more of it below. */
const lineGap = 1.75;

/** Lines of a page whose columns are looked for. Pages of text have some hundreds; drawings made of letters have more. */
const linesMax = 2_000;

/** Columns within columns, and columns of another width further down, that are looked for. */
const levelsMax = 4;

/** A row of which no line goes across the gap between two columns. */
interface Split {
  left: Line[];
  right: Line[];
}

/** Of a page with two columns: the gap between them, and their widths. */
interface Gap {
  x: number;
  widths: Widths;
}

interface Widths {
  left: number;
  right: number;
}

/** Brings lines into reading order: of columns, the left one first, between lines that go across. */
export function readingOrder(lines: readonly Line[], level = 0): Line[] {
  const rows = rowsOf(lines);
  const gap = level === levelsMax || lines.length > linesMax ? undefined : gapOf(rows);
  if (gap === undefined) return joinedLines(rows);
  const ordered: Line[] = [];
  let across: Line[] = [];
  const order = (some: readonly Line[]): void => void ordered.push(...readingOrder(some, level + 1));
  for (const run of runsAt(rows, gap.x)) {
    const columns = "splits" in run ? columnsOf(run.splits, gap.widths, 1) : undefined;
    if (!("splits" in run) || columns === undefined) {
      across.push(...("splits" in run ? linesIn(run.splits) : run.across));
      continue;
    }
    const { start, end } = columns;
    order([...across, ...linesIn(run.splits.slice(0, start))]);
    const splits = run.splits.slice(start, end);
    order(splits.flatMap(({ left }) => left));
    order(splits.flatMap(({ right }) => right));
    across = linesIn(run.splits.slice(end));
  }
  order(across);
  return ordered;
}

function linesIn(splits: readonly Split[]): Line[] {
  return splits.flatMap(({ left, right }) => [...left, ...right]);
}

/** The gap with the most rows of text beside it. */
function gapOf(rows: readonly Line[][]): Gap | undefined {
  const lines = rows.flat();
  const start = lines.reduce((least, { left }) => Math.min(least, left), Infinity);
  const end = lines.reduce((most, { right }) => Math.max(most, right), -Infinity);
  let best: (Gap & { rows: number }) | undefined;
  for (let part = 0.2; part <= 0.8; part += 0.01) {
    const x = start + part * (end - start);
    for (const run of runsAt(rows, x)) {
      if (!("splits" in run) || run.splits.length < columnLinesMin) continue;
      const widths = { left: widthOf(run.splits, "left"), right: widthOf(run.splits, "right") };
      const columns = columnsOf(run.splits, widths, columnLinesMin);
      const count = columns === undefined ? 0 : columns.end - columns.start;
      if (count > (best?.rows ?? 0)) best = { x, widths, rows: count };
    }
  }
  return best;
}

type Run = { splits: Split[] } | { across: Line[] };

/** Rows in order: those that end or begin at the gap, together, and between them those that go across. */
function runsAt(rows: readonly Line[][], x: number): Run[] {
  const runs: Run[] = [];
  for (const row of rows) {
    const run = runs.at(-1);
    const left = row.filter((line) => line.right <= x);
    const right = row.filter((line) => line.left >= x);
    if (left.length + right.length < row.length) {
      if (run !== undefined && "across" in run) run.across.push(...row);
      else runs.push({ across: [...row] });
    } else if (run !== undefined && "splits" in run) run.splits.push({ left, right });
    else runs.push({ splits: [{ left, right }] });
  }
  return runs;
}

function widthOf(splits: readonly Split[], side: keyof Split): number {
  let [start, end] = [Infinity, -Infinity];
  for (const split of splits)
    for (const { left, right } of split[side]) [start, end] = [Math.min(start, left), Math.max(end, right)];
  return end - start;
}

interface Columns {
  start: number;
  end: number;
}

/**
 * The rows in which two columns stand beside each other, with the rest of the longer one. Lines of text are mostly filled and
 * wide enough to be read; the cells of a table are not.
 */
function columnsOf(splits: readonly Split[], widths: Widths, linesMin: number): Columns | undefined {
  const filled = { left: filledRows(splits, "left", widths), right: filledRows(splits, "right", widths) };
  const first = Math.max(filled.left[0] ?? Infinity, filled.right[0] ?? Infinity);
  // The lines after the columns may be short enough to be in one of them.
  let last = Math.min(filled.left.at(-1) ?? -1, filled.right.at(-1) ?? -1);
  for (let tries = 0; !areColumns(splits.slice(first, last + 1), widths, linesMin); tries += 1) {
    if (tries === triesMax || last <= first) return undefined;
    last = Math.max(...[filled.left, filled.right].map((rows) => rows.findLast((row) => row < last) ?? -1));
  }
  const all = { left: new Set(filled.left), right: new Set(filled.right) };
  let start = first;
  // A heading may stand beside the first line of the other column.
  while (start > 0 && (splits[start - 1]?.left.length === 0 || all.right.has(start - 1))) start -= 1;
  let end = last + 1;
  while (end < splits.length && goesOn(splits, end, all)) end += 1;
  return { start, end };
}

/** Ends of columns that are tried. */
const triesMax = 10;

function areColumns(splits: readonly Split[], widths: Widths, linesMin: number): boolean {
  return (["left", "right"] as const).every((side) => {
    const rows = splits.filter((split) => split[side].length > 0);
    const filled = filledRows(rows, side, widths).length;
    const size = rows[0]?.[side][0]?.size ?? Infinity;
    return filled >= linesMin && filled > rows.length / 2 && widths[side] > columnSizesMin * size;
  });
}

/** The rows that have a filled line on this side. */
function filledRows(splits: readonly Split[], side: keyof Split, widths: Widths): number[] {
  return splits.flatMap((split, index) => {
    const width = split[side].reduce((sum, { left, right }) => sum + right - left, 0);
    return width > filledShare * widths[side] ? [index] : [];
  });
}

/** Rows within which more of a column must follow a larger gap in it. */
const rowsAhead = 3;

/** Whether columns go on in a row: with lines right below those above, or with more of the longer one further down. */
function goesOn(splits: readonly Split[], at: number, filled: Readonly<Record<keyof Split, Set<number>>>): boolean {
  const row = splits[at];
  if (row === undefined) return false;
  const sides = (["left", "right"] as const).filter((side) => row[side].length > 0);
  const isNear = sides.every((side) => {
    // Lines of the other column may be between.
    const above = splits[at - 1]?.[side][0] ?? splits[at - 2]?.[side][0];
    const [next] = row[side];
    return above !== undefined && next !== undefined && above.y - next.y <= lineGap * next.size;
  });
  if (isNear || sides.length > 1) return isNear;
  for (let ahead = 0; ahead < rowsAhead; ahead += 1)
    if (sides.some((side) => filled[side].has(at + ahead))) return true;
  return false;
}
