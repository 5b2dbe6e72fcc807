import { escapeUTF8 } from "entities";
import { htmlTable, Table, type TableRoom } from "./table.ts";
import { isLinkable } from "./written-html.ts";
import type { Attributes, XmlHandler } from "./xml.ts";

/** Shapes of a slide that say nothing about it: numbers, dates, what stands on each slide, the picture of the slide in its notes. */
const fixtures: ReadonlySet<string> = new Set(["sldNum", "dt", "ftr", "hdr", "sldImg"]);

/** Levels of a list. */
const levelsMax = 8;

/** Writes the shapes of a slide, or of its notes, as HTML (ECMA-376, part 1, 19.3 and 21.1). */
export class SlideWriter implements XmlHandler {
  /** The slide is not shown. */
  isHidden = false;
  readonly #room: TableRoom;
  readonly #relations: ReadonlyMap<string, { target: string }>;
  readonly #titleTag: string;
  readonly #html: string[] = [];
  #placeholder: string | undefined;
  #isText = false;
  /** The paragraph that is open, and its level. */
  #paragraph: string[] | undefined;
  #level = 0;
  #bullet: "ol" | "ul" | undefined;
  /** The lists that are open, the innermost last. */
  readonly #lists: ("ol" | "ul")[] = [];
  #isBold = false;
  #isItalic = false;
  #link: string | undefined;
  #table: Table | undefined;
  #cell: string[] | undefined;

  /** `titleTag`: the element of titles. */
  constructor(room: TableRoom, relations: ReadonlyMap<string, { target: string }>, titleTag: string) {
    this.#room = room;
    this.#relations = relations;
    this.#titleTag = titleTag;
  }

  get html(): string {
    return this.#html.join("");
  }

  open(name: string, attributes: Attributes): void {
    switch (name) {
      case "p:sld":
        this.isHidden = attributes["show"] === "0";
        return;
      case "p:sp":
        this.#placeholder = undefined;
        return;
      case "p:ph":
        this.#placeholder = attributes["type"] ?? "body";
        return;
      case "a:tbl":
        this.#table = new Table(this.#room);
        return;
      case "a:tc":
        this.#cell = [];
        return;
      case "a:p":
        this.#paragraph = [];
        this.#level = 0;
        this.#bullet = this.#placeholder === "body" || this.#placeholder === "obj" ? "ul" : undefined;
        return;
      case "a:t":
        this.#isText = true;
        return;
      case "a:br":
        this.#paragraph?.push("<br>");
        return;
      default:
        this.#format(name, attributes);
    }
  }

  close(name: string): void {
    if (name === "a:t") this.#isText = false;
    else if (name === "a:p") this.#endParagraph();
    else if (name === "a:r" || name === "a:fld") this.#clearFormat();
    else if (name === "p:txBody" || name === "p:sp") this.#openLists(0, "ul");
    else if (name === "a:tc") {
      this.#table?.cell(this.#cell?.join("<br>") ?? "");
      this.#cell = undefined;
    } else if (name === "a:tr") this.#table?.endRow();
    else if (name === "a:tbl") {
      this.#html.push(htmlTable(this.#table?.rows ?? []));
      this.#table = undefined;
    }
  }

  text(text: string): void {
    if (!this.#isText || text === "") return;
    const tags = [...(this.#isBold ? ["strong"] : []), ...(this.#isItalic ? ["em"] : [])];
    const words = tags.reduce((inner, tag) => `<${tag}>${inner}</${tag}>`, escapeUTF8(text));
    this.#paragraph?.push(this.#link === undefined ? words : `<a href="${escapeUTF8(this.#link)}">${words}</a>`);
  }

  #format(name: string, attributes: Attributes): void {
    if (name === "a:pPr") this.#level = Math.min(Math.max(Number(attributes["lvl"] ?? "0") || 0, 0), levelsMax);
    else if (name === "a:buNone") this.#bullet = undefined;
    else if (name === "a:buChar") this.#bullet = "ul";
    else if (name === "a:buAutoNum") this.#bullet = "ol";
    else if (name === "a:rPr") {
      this.#isBold = attributes["b"] === "1";
      this.#isItalic = attributes["i"] === "1";
    } else if (name === "a:hlinkClick") {
      const target = this.#relations.get(attributes["r:id"] ?? "")?.target ?? "";
      this.#link = isLinkable(target) ? target : undefined;
    }
  }

  #clearFormat(): void {
    this.#isBold = false;
    this.#isItalic = false;
    this.#link = undefined;
  }

  #endParagraph(): void {
    const html = this.#paragraph?.join("").trim() ?? "";
    this.#paragraph = undefined;
    this.#clearFormat();
    if (html === "" || fixtures.has(this.#placeholder ?? "")) return;
    if (this.#cell !== undefined) {
      this.#cell.push(html);
      return;
    }
    const isTitle = this.#placeholder === "title" || this.#placeholder === "ctrTitle";
    this.#openLists(this.#bullet === undefined || isTitle ? 0 : this.#level + 1, this.#bullet ?? "ul");
    const tag = isTitle ? this.#titleTag : "p";
    this.#html.push(this.#lists.length > 0 ? `<li>${html}</li>` : `<${tag}>${html}</${tag}>`);
  }

  /** Lists within lists stand between the items: parsers take them for parts of the item before. */
  #openLists(count: number, tag: "ol" | "ul"): void {
    const isOther = this.#lists.length >= count && count > 0 && this.#lists[count - 1] !== tag;
    while (this.#lists.length > (isOther ? count - 1 : count)) this.#html.push(`</${this.#lists.pop()}>`);
    while (this.#lists.length < count) {
      this.#lists.push(tag);
      this.#html.push(`<${tag}>`);
    }
  }
}
