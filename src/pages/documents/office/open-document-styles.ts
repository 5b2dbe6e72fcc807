import type { Attributes } from "./xml.ts";

interface Style {
  parent: string | undefined;
  isBold: boolean;
  isItalic: boolean;
}

/** Styles whose parent is looked for. */
const parentsMax = 10;

/** The styles of a document's content: which are bold, and which lists are numbered. */
export class OpenDocumentStyles {
  readonly #styles = new Map<string, Style>();
  /** By the name of a list's style: the levels that are numbered. */
  readonly #numbered = new Map<string, Set<number>>();
  #style: Style | undefined;
  #list: string | undefined;

  open(name: string, attributes: Attributes): void {
    const own = attributes["style:name"] ?? "";
    if (name === "style:style") {
      this.#style = { parent: attributes["style:parent-style-name"], isBold: false, isItalic: false };
      this.#styles.set(own, this.#style);
    } else if (name === "style:text-properties" && this.#style !== undefined) {
      this.#style.isBold ||= attributes["fo:font-weight"] === "bold";
      this.#style.isItalic ||= attributes["fo:font-style"] === "italic";
    } else if (name === "text:list-style") {
      this.#list = own;
    } else if (name === "text:list-level-style-number" && this.#list !== undefined) {
      const levels = this.#numbered.get(this.#list) ?? new Set();
      this.#numbered.set(this.#list, levels.add(Number(attributes["text:level"])));
    }
  }

  close(name: string): void {
    if (name === "style:style") this.#style = undefined;
    if (name === "text:list-style") this.#list = undefined;
  }

  /** The tags of a paragraph or a heading, the outer one first. */
  blockOf(name: string, attributes: Attributes): string[] {
    const level = Number(attributes["text:outline-level"] ?? "1");
    if (name === "text:h") return [`h${Math.min(Math.max(Number.isInteger(level) ? level : 1, 1), 6)}`];
    const style = this.#originOf(attributes["text:style-name"]);
    if (style === "Title") return ["h1"];
    if (style === "Quotations") return ["blockquote", "p"];
    return style === "Preformatted_20_Text" ? ["pre"] : ["p"];
  }

  emphasisOf(name: string | undefined): string[] {
    const style = this.#styles.get(name ?? "");
    return [...(style?.isBold === true ? ["strong"] : []), ...(style?.isItalic === true ? ["em"] : [])];
  }

  isNumbered(name: string | undefined, level: number): boolean {
    return this.#numbered.get(name ?? "")?.has(level) === true;
  }

  /** The style of the user's list that an automatic style goes back to. */
  #originOf(name: string | undefined): string | undefined {
    let origin = name;
    for (let step = 0; step < parentsMax; step += 1) {
      const parent = this.#styles.get(origin ?? "")?.parent;
      if (parent === undefined) break;
      origin = parent;
    }
    return origin;
  }
}
