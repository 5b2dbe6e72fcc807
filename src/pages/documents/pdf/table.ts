import { tableText } from "../../markdown/table-text.ts";
import type { Line } from "./lines.ts";

/** The cells of rows whose parts stand below each other; undefined if they don't. */
export function tableOf(rows: readonly (readonly Line[])[]): string[][] | undefined {
  if (rows.length < 2) return undefined;
  // Text that is centred in a column may not overlap horizontally with the other texts of that column.
  if (rows.every(({ length }) => length === rows[0]?.length)) return rows.map((row) => row.map(({ text }) => text));
  const columns = columnsOf(rows.flat());
  const cells = rows.map((row) => {
    const texts = Array.from({ length: columns.length }, () => "");
    for (const { text, left } of row) {
      const column = columns.findLastIndex((each) => each.left <= left);
      // Two parts of a row in one column: they are no cells.
      if (texts[column] !== "") return undefined;
      texts[column] = text;
    }
    return texts;
  });
  return cells.every((row) => row !== undefined) ? cells : undefined;
}

/** The parts of the page that have text in any row, from left to right. */
function columnsOf(lines: readonly Line[]): { left: number; right: number }[] {
  const columns: { left: number; right: number }[] = [];
  for (const { left, right } of lines.toSorted((one, other) => one.left - other.left)) {
    const column = columns.at(-1);
    if (column === undefined || left >= column.right) columns.push({ left, right });
    else column.right = Math.max(column.right, right);
  }
  return columns;
}

/** As a table of Markdown; its first row is the header. */
export function writeTable([header = [], ...rows]: readonly string[][]): string {
  return tableText(escaped(header), rows.map(escaped));
}

function escaped(cells: readonly string[]): string[] {
  return cells.map((cell) => cell.replaceAll("|", "\\|"));
}
