import { escapeUTF8 } from "entities";
import { parse } from "csv-parse/sync";
import { fencedCode } from "../markdown/code.ts";
import { cellText, tableText } from "../markdown/table-text.ts";
import type { Page, DocumentKind, PageRequest } from "../page.ts";
import { indentJson } from "./indent-json.ts";
import { linksIn } from "./text-links.ts";

/** Characters of JSON that is indented; more is written as it is. */
const indentedCharactersMax = 2 * 1024 * 1024;

/** Rows and columns of a table. */
const rowsMax = 50_000;
const columnsMax = 200;

/** Reads a document without markup of HTML: its Markdown is the text, a table, or a block of code. */
export function readText(text: string, kind: DocumentKind, request: PageRequest): Omit<Page, "kind"> {
  const { wants } = request;
  const page: Omit<Page, "kind"> = { metadata: metadataOf(text, kind, request), needsBrowser: false };
  if (wants.rawHtml === true) page.rawHtml = text;
  if (wants.html === true) page.html = `<pre>${escapeUTF8(text)}</pre>`;
  if (wants.markdown === true) {
    const { markdown, warning } = markdownOf(text, kind, request.url);
    page.markdown = markdown;
    if (warning !== undefined) page.warning = warning;
  }
  if (wants.links === true) page.links = linksIn(text);
  if (wants.images === true) page.images = [];
  return page;
}

function metadataOf(text: string, kind: DocumentKind, { url }: PageRequest): Page["metadata"] {
  const heading = kind === "markdown" ? /^# +(.+)$/m.exec(text)?.[1]?.trim() : undefined;
  const name = URL.parse(url)
    ?.pathname.split("/")
    .findLast((part) => part !== "");
  const title = heading ?? (name === undefined ? undefined : decode(name));
  return title === undefined ? {} : { title };
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function markdownOf(text: string, kind: DocumentKind, url: string): Written {
  const trimmed = text.replaceAll("\r\n", "\n").trimEnd();
  switch (kind) {
    case "json":
      return { markdown: fencedCode(indented(trimmed), "json") };
    case "xml":
      return { markdown: fencedCode(trimmed, "xml") };
    case "csv":
      return tableOf(trimmed) ?? { markdown: fencedCode(trimmed, "csv") };
    default:
      return { markdown: codeLanguage(url) === undefined ? trimmed : fencedCode(trimmed, codeLanguage(url) ?? "") };
  }
}

interface Written {
  markdown: string;
  /** Of what was left out. */
  warning?: string;
}

function indented(json: string): string {
  if (json.length > indentedCharactersMax) return json;
  try {
    JSON.parse(json);
  } catch {
    return json;
  }
  return indentJson(json);
}

/** Source code, by the extension of its address. */
function codeLanguage(url: string): string | undefined {
  const extension = /\.(\w+)$/.exec(URL.parse(url)?.pathname ?? "")?.[1]?.toLowerCase() ?? "";
  return {
    js: "js",
    mjs: "js",
    ts: "ts",
    py: "python",
    rb: "ruby",
    go: "go",
    rs: "rust",
    c: "c",
    h: "c",
    cpp: "cpp",
    java: "java",
    sh: "sh",
    yaml: "yaml",
    yml: "yaml",
    toml: "toml",
    css: "css",
    sql: "sql",
  }[extension];
}

function tableOf(text: string): Written | undefined {
  const rows = readRows(text);
  if (rows === undefined) return undefined;
  const widest = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const width = Math.min(columnsMax, widest);
  const isCut = rows.length > rowsMax || widest > columnsMax;
  const [header, ...rest] = rows.slice(0, rowsMax);
  if (header === undefined || width < 2) return undefined;
  const cellsOf = (row: readonly string[]): string[] =>
    Array.from({ length: width }, (_, column) => cellText(row[column]));
  const markdown = tableText(cellsOf(header), rest.map(cellsOf));
  return isCut ? { markdown, warning: `at most ${rowsMax} rows and ${columnsMax} columns were read` } : { markdown };
}

/** Undefined if it breaks the rules of the format; it is still a text. */
function readRows(text: string): string[][] | undefined {
  try {
    return parse(text, {
      delimiter: delimiterOf(text),
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      to: rowsMax + 1,
      bom: true,
    });
  } catch {
    return undefined;
  }
}

/** The sign that the first lines have most of. */
function delimiterOf(text: string): string {
  const start = text.slice(0, 4_096);
  const [most = ","] = [",", ";", "\t", "|"].toSorted(
    (one, other) => start.split(other).length - start.split(one).length,
  );
  return most;
}
