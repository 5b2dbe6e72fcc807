import type { PageMetadata } from "../../page.ts";
import { encodingOfCharset } from "./rtf-encodings.ts";
import { isLinkable } from "./written-html.ts";

/** Groups without text of the document. */
const skipped: ReadonlySet<string> = new Set([
  "colortbl",
  "pict",
  "object",
  "themedata",
  "colorschememapping",
  "datastore",
  "latentstyles",
  "header",
  "headerl",
  "headerr",
  "headerf",
  "footer",
  "footerl",
  "footerr",
  "footerf",
  "listtable",
  "listoverridetable",
  "revtbl",
  "rsidtbl",
  "generator",
  "xmlnstbl",
  "filetbl",
  "private1",
  "pntxtb",
  "pntxta",
  "pnseclvl",
  "annotation",
  "atnid",
  "atnauthor",
  "bkmkstart",
  "bkmkend",
  "fldtype",
  "nonshppict",
  "shppict",
  "mmathPr",
  "tc",
  "xe",
]);

/** Groups of facts. */
const facts: Readonly<Record<string, string>> = {
  title: "title",
  author: "author",
  subject: "description",
  keywords: "keywords",
};

type Place = "text" | "skipped" | "fonts" | "styles" | "marker" | "note" | "instruction" | "info" | { fact: string };

interface Group {
  place: Place;
  /** The next control word says what an optional group is. */
  isOptional: boolean;
  /** The address of the field that the group belongs to. */
  link: string | undefined;
  text: string;
}

const groupTextMax = 4_096;

/** The groups of an RTF document that are no text of it, and what is learned from them. */
export class RtfDestinations {
  readonly metadata: PageMetadata = {};
  readonly #groups: Group[] = [];
  #group: Group = { place: "text", isOptional: false, link: undefined, text: "" };
  /** Levels of headings, from 0, by the numbers of their styles. */
  readonly #headings = new Map<number, number>();
  readonly #encodings = new Map<number, string>();
  #font = -1;
  #style = 0;

  get link(): string | undefined {
    return this.#group.link;
  }

  /** The level of a style of headings, from 0. */
  headingOf(style: number): number | undefined {
    return this.#headings.get(style);
  }

  encodingOf(font: number): string | undefined {
    return this.#encodings.get(font);
  }

  begin(): void {
    this.#groups.push(this.#group);
    this.#group = { place: this.#group.place, isOptional: false, link: this.#group.link, text: "" };
  }

  /** Returns the text of the marker of a list's item or of a note, if the group was one. */
  end(): { place: "marker" | "note"; text: string } | undefined {
    const { place, text } = this.#group;
    const outer = this.#groups.pop();
    if (outer === undefined) return undefined;
    this.#group = outer;
    if (place === "styles") this.#noteStyle(text);
    else if (place === outer.place) outer.text += text;
    else if (typeof place === "object") this.metadata[place.fact] ??= text.trim();
    else if (place === "instruction") this.#noteInstruction(text, outer);
    else if (place === "marker" || place === "note") return { place, text };
    return undefined;
  }

  /** Whether the text belongs to a group that is no text of the document. */
  takes(text: string): boolean {
    const { place } = this.#group;
    if (place === "text") return false;
    if (this.#group.text.length < groupTextMax) this.#group.text += text;
    return true;
  }

  /** Takes a control word that names a group, or belongs to a group without text. */
  control(word: string, param: number | undefined): boolean {
    const group = this.#group;
    if (word === "*") {
      group.isOptional = true;
      return true;
    }
    const place = placeOf(word, group);
    group.isOptional = false;
    if (place !== undefined) {
      group.place = place;
      return true;
    }
    if (group.place === "fonts") this.#noteFont(word, param);
    if (group.place === "styles" && word === "s") this.#style = param ?? 0;
    return group.place !== "text" && !/^(?:u|uc|tab|~|_)$/.test(word);
  }

  #noteFont(word: string, param = 0): void {
    if (word === "f") this.#font = param;
    const encoding = word === "fcharset" ? encodingOfCharset(param) : undefined;
    if (encoding !== undefined) this.#encodings.set(this.#font, encoding);
  }

  #noteStyle(text: string): void {
    const [, level] = /heading (\d)/i.exec(text) ?? [];
    if (level !== undefined) this.#headings.set(this.#style, Number(level) - 1);
    else if (/^\s*title;?\s*$/i.test(text)) this.#headings.set(this.#style, 0);
    this.#style = 0;
  }

  /** A field's instruction stands before its result, both in one group. */
  #noteInstruction(text: string, outer: Group): void {
    const [, address = ""] = /HYPERLINK\s+"([^"]{1,2000})"/i.exec(text) ?? [];
    if (isLinkable(address)) outer.link = address;
  }
}

function placeOf(word: string, group: Group): Place | undefined {
  if (skipped.has(word)) return "skipped";
  if (group.place === "skipped") return undefined;
  if (word === "fonttbl") return "fonts";
  if (word === "stylesheet") return "styles";
  if (word === "listtext" || word === "pntext") return "marker";
  if (word === "footnote") return "note";
  if (word === "fldinst") return "instruction";
  if (word === "fldrslt") return "text";
  if (word === "info") return "info";
  const fact = group.place === "info" ? facts[word] : undefined;
  if (fact !== undefined) return { fact };
  // A field's result may hold another field.
  return group.isOptional && group.place === "text" ? "skipped" : undefined;
}
