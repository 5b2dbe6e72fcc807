/** Tables as CSV or as JSON lines, written while they are read: the memory that this takes does not depend on the number of rows. */
import { stringify } from "csv-stringify/sync";
import { inParts } from "../core/index.ts";

/** Rows that are written in one go: one of calls has thirty cells. */
const ROWS_AT_ONCE = 10;

export interface RowsFormat {
  /** The file's name without its ending. */
  name: string;
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

/**
 * All rows of some parts as a file. Rejects if the first part can't be read; a later failure breaks the connection off, so that no
 * client takes a half for the whole.
 */
export async function answerRows(
  parts: AsyncIterable<readonly object[]>,
  { name, format, columns }: RowsFormat,
): Promise<Response> {
  const texts = textsOf(parts, format, columns);
  let read = await texts.next();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (read.done === true) return controller.close();
      controller.enqueue(Buffer.from(read.value));
      try {
        read = await texts.next();
      } catch (reason) {
        controller.error(reason);
      }
    },
    cancel: async () => void (await texts.return(undefined)),
  });
  const type = format === "csv" ? "text/csv" : "application/jsonl";
  return new Response(body, {
    headers: {
      "content-type": `${type}; charset=utf-8`,
      "content-disposition": `attachment; filename="${name}.${format}"`,
    },
  });
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
