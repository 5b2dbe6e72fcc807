import { escapeUTF8 } from "entities";
import { cutWarning, htmlTable, Table, TableRoom } from "./table.ts";
import { OpenDocumentStyles } from "./open-document-styles.ts";
import { isLinkable, noteMark, notesHtml } from "./written-html.ts";
import type { Attributes, XmlHandler } from "./xml.ts";

/** Elements whose content is no part of the text: remarks, what was deleted, styles, the names of fields. */
const skipped: ReadonlySet<string> = new Set([
  "office:annotation",
  "text:tracked-changes",
  "office:forms",
  "office:scripts",
  "office:font-face-decls",
  "text:note-citation",
  "table:table-source",
  "office:dde-source",
  "presentation:settings",
  "svg:title",
  "svg:desc",
  "office:binary-data",
]);

const cells: ReadonlySet<string> = new Set(["table:table-cell", "table:covered-table-cell"]);

/** Lists within each other; more are written as one. */
const listsMax = 10;

/** Blanks in one place. */
const blanksMax = 1_000;

/** Writes the content of an OpenDocument file as HTML. */
export class OpenDocumentWriter implements XmlHandler {
  readonly #styles = new OpenDocumentStyles();
  readonly #room = new TableRoom();
  /** What is written, the innermost cell or note last. */
  readonly #parts: string[][] = [[]];
  /** The ends of the open elements. */
  readonly #ends: string[] = [];
  /** Tables that are open, and the outermost one. */
  #tables = 0;
  #table = new Table(this.#room);
  /** How often the current row and cell are repeated. */
  #rowTimes = 1;
  #cellTimes = 1;
  readonly #notes: string[] = [];
  /** Elements that are open in one that is skipped. */
  #skipped = 0;
  #isBody = false;
  #isSheet = false;
  #paragraphs = 0;
  /** The styles of the open lists: an inner one without a style has that of the outer one. */
  readonly #lists: (string | undefined)[] = [];

  /** Takes the styles from before the content. */
  open(name: string, attributes: Attributes): void {
    if (name === "office:body") this.#isBody = true;
    if (!this.#isBody) {
      this.#styles.open(name, attributes);
      return;
    }
    if (this.#skipped > 0 || skipped.has(name)) {
      this.#skipped += 1;
      return;
    }
    this.#ends.push(this.#begin(name, attributes));
  }

  close(name: string): void {
    if (!this.#isBody) {
      this.#styles.close(name);
      return;
    }
    if (this.#skipped > 0) {
      this.#skipped -= 1;
      return;
    }
    const end = this.#ends.pop();
    if (end !== undefined && end !== "") this.#write(end);
    this.#finish(name);
  }

  /** Blanks between the elements of a table or a list are no text. */
  text(text: string): void {
    if (this.#isBody && this.#skipped === 0 && this.#paragraphs > 0)
      this.#write(escapeUTF8(text.replaceAll(/\s+/g, " ")));
  }

  result(): { html: string; warning?: string } {
    const [body = []] = this.#parts;
    return {
      html: body.join("") + notesHtml(this.#notes),
      ...cutWarning(this.#room),
    };
  }

  /** Writes the beginning of an element, and returns its end. */
  #begin(name: string, attributes: Attributes): string {
    switch (name) {
      case "text:p":
      case "text:h":
        this.#paragraphs += 1;
        return this.#pair(this.#styles.blockOf(name, attributes));
      case "text:span":
        return this.#pair(this.#styles.emphasisOf(attributes["text:style-name"]));
      case "text:a":
        return this.#link(attributes["xlink:href"] ?? "");
      case "text:list":
        this.#lists.push(attributes["text:style-name"] ?? this.#lists.at(-1));
        if (this.#lists.length > listsMax) return "";
        return this.#pair([this.#styles.isNumbered(this.#lists.at(-1), this.#lists.length) ? "ol" : "ul"]);
      case "text:list-item":
      case "text:list-header":
        return this.#lists.length > listsMax ? "" : this.#pair(["li"]);
      case "text:line-break":
        this.#write("<br>");
        return "";
      case "text:tab":
        this.#write(" ");
        return "";
      case "text:s":
        this.#write(" ".repeat(timesOf(attributes["text:c"], blanksMax)));
        return "";
      case "text:note-body":
        this.#parts.push([]);
        return "";
      default:
        this.#beginTable(name, attributes);
        return "";
    }
  }

  #beginTable(name: string, attributes: Attributes): void {
    if (name === "table:table") this.#openTable(attributes["table:name"] ?? "");
    else if (name === "table:table-row" && this.#tables === 1)
      this.#rowTimes = timesOf(attributes["table:number-rows-repeated"]);
    else if (cells.has(name) && this.#tables === 1) {
      this.#cellTimes = timesOf(attributes["table:number-columns-repeated"]);
      this.#parts.push([]);
    } else if (name === "office:spreadsheet") this.#isSheet = true;
    else if (name === "draw:page") this.#heading(attributes["draw:name"] ?? "");
  }

  /** The text of a table in a cell belongs to the cell. */
  #openTable(name: string): void {
    this.#tables += 1;
    if (this.#tables > 1) return;
    if (this.#isSheet) this.#heading(name);
    this.#table = new Table(this.#room);
  }

  #heading(text: string): void {
    if (text !== "") this.#write(`<h2>${escapeUTF8(text)}</h2>`);
  }

  #finish(name: string): void {
    if (name === "text:p" || name === "text:h") this.#paragraphs -= 1;
    if (name === "text:list") this.#lists.pop();
    if (name === "text:note-body") {
      this.#notes.push(this.#takePart());
      this.#write(noteMark(this.#notes.length));
    }
    if (this.#tables === 1) this.#finishTable(name);
    if (name === "table:table") this.#tables -= 1;
  }

  #finishTable(name: string): void {
    if (cells.has(name)) {
      const html = this.#takePart();
      this.#table.cell(html.replace(/^<p>((?:(?!<p>|<\/p>)[\s\S])*)<\/p>$/, "$1"), this.#cellTimes);
    }
    if (name === "table:table-row") this.#table.endRow(this.#rowTimes);
    if (name === "table:table") this.#write(htmlTable(this.#table.rows));
  }

  #takePart(): string {
    return (this.#parts.length > 1 ? this.#parts.pop() : undefined)?.join("") ?? "";
  }

  #write(html: string): void {
    this.#parts.at(-1)?.push(html);
  }

  #pair(tags: readonly string[]): string {
    for (const tag of tags) this.#write(`<${tag}>`);
    return tags
      .toReversed()
      .map((tag) => `</${tag}>`)
      .join("");
  }

  #link(address: string): string {
    if (!isLinkable(address)) return "";
    this.#write(`<a href="${escapeUTF8(address)}">`);
    return "</a>";
  }
}

/** A count of repetitions, one if it is none. */
function timesOf(text: string | undefined, most = Number.MAX_SAFE_INTEGER): number {
  const times = Number(text ?? "1");
  return Number.isSafeInteger(times) && times > 0 ? Math.min(times, most) : 1;
}
