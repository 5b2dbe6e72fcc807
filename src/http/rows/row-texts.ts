/** Tables as CSV or as JSON lines, written while they are read: the memory that this takes does not depend on the number of rows. */
import { stringify } from "csv-stringify/sync";
import { inParts } from "../../core/index.ts";

/** Rows that are written in one go: one of calls has thirty cells. */
const ROWS_AT_ONCE = 10;

/** Bytes of a chunk, at least, unless it is the last one. */
const CHUNK_BYTES = 64 * 1024;

export interface RowsFormat {
  format: "csv" | "jsonl";
  /** The columns of CSV. A line of JSON has the whole row. */
  columns: readonly string[];
}

/** Spreadsheets and other readers do not all know exponents. Credits have nine decimal places. */
function decimalOf(value: number): string {
  const text = String(value);
  return text.includes("e") ? value.toFixed(9) : text;
}

/** Lists are those of ids. */
const textOf = (value: object): string => (Array.isArray(value) ? value.join(" ") : JSON.stringify(value));

/** A text that a spreadsheet would take for a formula begins with an apostrophe. */
function csvOf(rows: readonly object[], columns: readonly string[], header: boolean): string {
  return stringify([...rows], {
    columns: [...columns],
    header,
    escape_formulas: true,
    cast: { boolean: String, number: decimalOf, object: textOf },
  });
}

const linesOf = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

const encoder = new TextEncoder();

/** The texts of all rows, in UTF-8 and chunks of some size, each with memory of its own. */
export async function* chunksOf(
  parts: AsyncIterable<readonly object[]>,
  { format, columns }: RowsFormat,
): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
  let texts: string[] = [];
  let length = 0;
  for await (const text of textsOf(parts, format, columns)) {
    texts.push(text);
    length += text.length;
    if (length < CHUNK_BYTES) continue;
    yield encoder.encode(texts.join(""));
    texts = [];
    length = 0;
  }
  if (length > 0) yield encoder.encode(texts.join(""));
  return undefined;
}

async function* textsOf(
  parts: AsyncIterable<readonly object[]>,
  format: RowsFormat["format"],
  columns: readonly string[],
): AsyncGenerator<string, undefined> {
  let isFirst = true;
  for await (const part of parts) {
    for await (const rows of inParts(part, ROWS_AT_ONCE)) {
      yield format === "csv" ? csvOf(rows, columns, isFirst) : linesOf(rows);
      isFirst = false;
    }
  }
  // Of nothing at all there is the line of names.
  if (isFirst && format === "csv") yield csvOf([], columns, true);
  return undefined;
}
