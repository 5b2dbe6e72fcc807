type Value = string | number | bigint | boolean | undefined;

/** A row as the parameters of a function: an element of one array for each column. */
export type Row<Name extends string> = Partial<Record<Name, Value>>;

/** The rows' columns in the order of `names`; one in which no row has anything is empty. */
export function toColumns<Name extends string>(
  names: readonly Name[],
  rows: readonly Row<Name>[],
): (string | null)[][] {
  return names.map((name) => {
    const column = rows.map((row) => row[name]);
    return column.every((value) => value === undefined) ? [] : column.map((value) => value?.toString() ?? null);
  });
}
