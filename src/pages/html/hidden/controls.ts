import { type ChildNode, type Document, type Element, isTag, isText } from "domhandler";
import { elementsOf } from "../walk.ts";

/** A hidden box behind one of these is what it opens. An `h1` is the title of the page, and opens nothing. */
const openingHeadings = new Set(["h2", "h3", "h4", "h5", "h6", "dt"]);

/** Elements that a heading opens: a heading stands before each paragraph, and only a button opens one. */
const boxes = new Set(["div", "section", "article", "dd", "ul", "ol", "dl", "table", "fieldset"]);

/** Characters of text beside a control. An element with more holds content. */
const controlCharactersMax = 300;

/** Knows the elements that the controls of a page open. */
export class Controls {
  readonly #opened = new Set<string>();

  constructor(document: Document) {
    for (const { name, attribs } of elementsOf(document)) {
      for (const id of (attribs["aria-controls"] ?? "").split(/\s+/)) this.#opened.add(id);
      const targets = [attribs["data-target"], attribs["data-bs-target"], name === "a" ? attribs["href"] : undefined];
      for (const target of targets) if (target?.startsWith("#") === true) this.#opened.add(target.slice(1));
    }
    this.#opened.delete("");
  }

  /** Whether a reader can open an element that is folded. */
  open(element: Element): boolean {
    const { name, attribs, parent } = element;
    if (name === "dialog") return false;
    if (this.#opened.has(attribs["id"] ?? "") || attribs["role"] === "tabpanel" || isPanel(attribs["class"]))
      return true;
    return (parent !== null && isTag(parent) && parent.name === "details") || isBehindControl(element);
  }
}

/** Tabs and folds, by the names that all frameworks give them. */
function isPanel(classes: string | undefined): boolean {
  return classes !== undefined && /(^|[\s_-])(tab-?(pane|panel|content)|accordion|collapse)([\s_-]|$)/i.test(classes);
}

function isBehindControl(element: Element): boolean {
  let before: ChildNode | null = element.prev;
  while (before !== null && !isTag(before) && !(isText(before) && before.data.trim() !== "")) before = before.prev;
  if (before === null || !isTag(before)) return false;
  if (openingHeadings.has(before.name) && boxes.has(element.name)) return true;
  return isControl(before) || hasControl(before);
}

function hasControl(element: Element): boolean {
  let characters = 0;
  let found = false;
  for (const inner of elementsOf(element)) {
    for (const child of inner.children) if (isText(child)) characters += child.data.trim().length;
    if (characters > controlCharactersMax) return false;
    found ||= isControl(inner);
  }
  return found;
}

function isControl({ name, attribs }: Element): boolean {
  if (name === "button" || name === "summary" || name === "label") return true;
  return attribs["role"] === "button" || attribs["role"] === "tab" || attribs["aria-expanded"] !== undefined;
}
