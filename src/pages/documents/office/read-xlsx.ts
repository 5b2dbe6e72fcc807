import { escapeUTF8 } from "entities";
import { type CellValue, readXlsx as readWorkbook, streamXlsxRows } from "hucre/xlsx";
import { cellText, tableText } from "../../markdown/table-text.ts";
import type { Page, PageRequest } from "../../page.ts";
import { PageError } from "../../page-error.ts";
import { linksIn } from "../text-links.ts";
import { Archive } from "./archive.ts";
import { readFacts } from "./facts.ts";
import { cutWarning, htmlTable, Table, TableRoom } from "./table.ts";

/** Sheets of a workbook. */
const sheetsMax = 200;

/** Rows of one sheet, empty ones among them. */
const rowsMax = 1_048_576;

/**
 * Reads a workbook of Microsoft Excel: each sheet that is shown is a heading and a table, of the values that formulas had when it
 * was saved.
 * @throws PageError `too_large` for one that unpacks to too much, `malformed` for one that is broken.
 */
export async function readXlsx(bytes: Uint8Array, { wants }: PageRequest): Promise<Omit<Page, "kind">> {
  const archive = new Archive(bytes);
  const room = new TableRoom();
  const sheets: Sheet[] = [];
  try {
    for (const name of await sheetNames(bytes)) sheets.push(await readSheet(bytes, name, room));
  } catch (error) {
    throw new PageError("malformed", "the workbook is broken", { cause: error });
  }
  const shown = sheets.filter(({ rows }) => rows.length > 0);
  const markdown = shown.map(sheetMarkdown).join("\n\n");
  return {
    metadata: readFacts(archive.text("docProps/core.xml")),
    needsBrowser: false,
    // By way of a page's HTML a large table takes many times as long.
    ...(wants.markdown === true && { markdown }),
    ...(wants.html === true && { html: shown.map(sheetHtml).join("") }),
    ...(wants.rawHtml === true && { rawHtml: shown.map(sheetHtml).join("") }),
    ...(wants.links === true && { links: linksIn(markdown) }),
    ...(wants.images === true && { images: [] }),
    ...cutWarning(room),
  };
}

interface Sheet {
  name: string;
  rows: readonly (readonly string[])[];
}

function sheetMarkdown({ name, rows: [header = [], ...rows] }: Sheet): string {
  return `## ${name.replaceAll(/\s+/g, " ")}\n\n${tableText(
    header.map(cellText),
    rows.map((row) => row.map(cellText)),
  )}`;
}

function sheetHtml({ name, rows }: Sheet): string {
  return `<h2>${escapeUTF8(name)}</h2>${htmlTable(rows.map((row) => row.map((cell) => escapeUTF8(cell))))}`;
}

async function sheetNames(bytes: Uint8Array): Promise<string[]> {
  const names: string[] = [];
  await readWorkbook(bytes, {
    sheets: ({ name, hidden, veryHidden }) => {
      if (hidden !== true && veryHidden !== true) names.push(name);
      return false;
    },
  });
  return names.slice(0, sheetsMax);
}

async function readSheet(bytes: Uint8Array, name: string, room: TableRoom): Promise<Sheet> {
  const table = new Table(room);
  let next = 0;
  for await (const { index, values } of streamXlsxRows(bytes, { sheet: name, maxRows: rowsMax })) {
    if (index > next) table.endRow(index - next);
    for (const value of values) table.cell(textOf(value));
    table.endRow();
    next = index + 1;
    if (room.isFull) {
      room.isCut = true;
      break;
    }
  }
  return { name, rows: table.rows };
}

/** A time of day alone has no day. */
function textOf(value: CellValue): string {
  if (value === null) return "";
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  if (!(value instanceof Date)) return String(value);
  if (Number.isNaN(value.getTime())) return "";
  const [day = "", time = ""] = value.toISOString().split("T");
  const clock = time.replace(/(?::00)?\.\d+Z$/, "");
  if (day < "1900-01-01") return clock;
  return clock === "00:00" ? day : `${day} ${clock}`;
}
