type Value = string | number | bigint | boolean | null | undefined;

/** Characters that end or escape a column of a row. */
const SPECIAL = /[",\\()]/;

/** An array of rows in Postgres's text format: the columns of each in order. */
export function rowsLiteral<Column extends string>(
  columns: readonly Column[],
  rows: readonly Partial<Record<Column, Value>>[],
): string {
  const used = usedColumns(columns, rows);
  const texts = Array.from<string>({ length: used * rows.length }).fill("");
  for (const [index, column] of columns.slice(0, used).entries()) {
    const before = index === 0 ? '"(' : "";
    const after = index === used - 1 ? `${",".repeat(columns.length - used)})"` : "";
    // Neighbouring values are often equal, and converting times and amounts to text is slow.
    let last: Value;
    let text = before + after;
    let place = index;
    for (const row of rows) {
      const value = row[column];
      if (value !== last) {
        last = value;
        text = before + toText(value) + after;
      }
      texts[place] = text;
      place += used;
    }
  }
  return storable(`{${texts.join()}}`);
}

/** The number of columns up to the last one with a value in any row. */
function usedColumns<Column extends string>(
  columns: readonly Column[],
  rows: readonly Partial<Record<Column, Value>>[],
): number {
  for (const [index, column] of columns.toReversed().entries()) {
    for (const row of rows) if ((row[column] ?? undefined) !== undefined) return columns.length - index;
  }
  return 0;
}

/** A column of a row within an array: a missing value is empty text, and special characters are escaped twice. */
function toText(value: Value): string {
  if (typeof value !== "string") return value?.toString() ?? "";
  if (value !== "" && !SPECIAL.test(value)) return value;
  return `\\"${value.replace(/["\\]/g, "\\\\\\$&")}\\"`;
}

/** Postgres accepts neither NUL nor unpaired surrogates in text; one of them would fail the whole commit. */
export function storable(text: string): string {
  const isStorable = text.isWellFormed() && !text.includes("\0");
  return isStorable ? text : text.toWellFormed().replaceAll("\0", "\ufffd");
}
