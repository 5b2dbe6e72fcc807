import { escapeUTF8 } from "entities";
import { cutWarning, htmlTable, Table, TableRoom } from "./table.ts";
import { noteMark, notesHtml } from "./written-html.ts";

/** The paragraphs, lists, tables and notes of an RTF document. */
export class RtfBlocks {
  readonly #headingOf: (style: number) => number | undefined;
  readonly #room = new TableRoom();
  readonly #html: string[] = [];
  readonly #notes: string[] = [];
  #paragraph: string[] = [];
  /** The style of the paragraph, and its level in the outline. */
  #style = 0;
  #level: number | undefined;
  #list: "ol" | "ul" | undefined;
  #openedList: "ol" | "ul" | undefined;
  #isInTable = false;
  #cell: string[] = [];
  #table: Table | undefined;

  /** `headingOf`: the level of a style of headings, from 0. */
  constructor(headingOf: (style: number) => number | undefined) {
    this.#headingOf = headingOf;
  }

  /** Adds to the paragraph. */
  write(html: string): void {
    this.#paragraph.push(html);
  }

  /** The paragraph is an item of a list with this marker. */
  item(marker: string): void {
    this.#list = /^\W*(?:\d|[a-z]\W*$)/i.test(marker) ? "ol" : "ul";
  }

  note(text: string): void {
    if (text === "") return;
    this.#notes.push(escapeUTF8(text));
    this.#paragraph.push(noteMark(this.#notes.length));
  }

  result(): { html: string; warning?: string } {
    this.#endParagraph();
    this.#endTable();
    this.#openList(undefined);
    const html = this.#html.join("") + notesHtml(this.#notes);
    return { html, ...cutWarning(this.#room) };
  }

  /** Takes a control word that ends a block or says what it is. */
  control(word: string, param: number | undefined): void {
    if (word === "par" || word === "sect" || word === "page") this.#endParagraph();
    else if (word === "line") this.#paragraph.push("<br>");
    else if (word === "pard") {
      this.#style = 0;
      this.#level = undefined;
      this.#list = undefined;
      this.#isInTable = false;
    } else if (word === "s") this.#style = param ?? 0;
    else if (word === "outlinelevel") this.#level = param;
    else if (word === "intbl") this.#isInTable = true;
    else if (word === "trowd") this.#isInTable = true;
    else if (word === "cell") this.#endCell();
    else if (word === "row") this.#table?.endRow();
  }

  #endCell(): void {
    this.#isInTable = true;
    this.#endParagraph();
    this.#openList(undefined);
    this.#table ??= new Table(this.#room);
    this.#table.cell(this.#cell.join("<br>"));
    this.#cell = [];
  }

  #endTable(): void {
    if (this.#table === undefined) return;
    this.#html.push(htmlTable(this.#table.rows));
    this.#table = undefined;
  }

  #endParagraph(): void {
    const html = this.#paragraph.join("").trim();
    this.#paragraph = [];
    if (this.#isInTable) {
      if (html !== "") this.#cell.push(html);
      return;
    }
    if (html === "") return;
    this.#endTable();
    const level = this.#outlineLevel ?? this.#headingOf(this.#style);
    this.#openList(level === undefined ? this.#list : undefined);
    const tag = level === undefined ? (this.#list === undefined ? "p" : "li") : `h${Math.min(level + 1, 6)}`;
    this.#html.push(`<${tag}>${html}</${tag}>`);
  }

  /** From 0; 9 is the level of plain text. */
  get #outlineLevel(): number | undefined {
    return this.#level !== undefined && this.#level >= 0 && this.#level < 9 ? this.#level : undefined;
  }

  #openList(list: "ol" | "ul" | undefined): void {
    if (list === this.#openedList) return;
    if (this.#openedList !== undefined) this.#html.push(`</${this.#openedList}>`);
    if (list !== undefined) this.#html.push(`<${list}>`);
    this.#openedList = list;
  }
}
