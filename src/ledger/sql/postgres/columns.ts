type Value = string | number | bigint | null | undefined;

/** A row of a relation that a function is given. */
export type Row<Column extends string> = Partial<Record<Column, Value>>;

interface Relation<Column extends string> {
  texts: readonly Column[];
  numbers: readonly Column[];
}

/** The texts of all rows and their numbers, one row after the other. */
export function toArrays<Column extends string>(
  { texts, numbers }: Relation<Column>,
  rows: readonly Row<Column>[],
): [texts: (string | null)[], numbers: (string | null)[]] {
  return [valuesOf(texts, rows), valuesOf(numbers, rows)];
}

function valuesOf<Column extends string>(columns: readonly Column[], rows: readonly Row<Column>[]): (string | null)[] {
  const values: (string | null)[] = [];
  for (const row of rows) for (const column of columns) values.push(toText(row[column]));
  return values;
}

function toText(value: Value): string | null {
  return typeof value === "string" ? storable(value) : (value?.toString() ?? null);
}

/** Postgres takes neither NUL nor halves of surrogate pairs in a text; one would fail the commit of all that ride in it. */
export function storable(text: string): string {
  const isStorable = text.isWellFormed() && !text.includes("\0");
  return isStorable ? text : text.toWellFormed().replaceAll("\0", "\ufffd");
}
