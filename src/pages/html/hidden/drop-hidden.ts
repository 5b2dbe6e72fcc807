import { type Document, type Element, isTag, type ParentNode } from "domhandler";
import { textContent } from "domutils";
import { hiddenMark } from "../../page.ts";
import { adopt } from "../adopt.ts";
import { elementsOf } from "../walk.ts";
import { Controls } from "./controls.ts";
import { type Declared, type Hiding, hidingOf, readDeclarations, undoes } from "./looks.ts";
import { StyleRules } from "./style-rules.ts";
import { silent, textLengths } from "./text-lengths.ts";

/** The part of a page's text above which a hidden element is the page: a script will show it. */
const hiddenShareMax = 1 / 2;

/** Characters of a sign that is kept from readers of screens only. */
const signCharactersMax = 2;

/**
 * Removes the elements that a reader doesn't see, in place: hidden by an attribute, by their own style, by simple selectors of the
 * page's style sheets, or by the browser's mark. Text that nobody sees is how instructions are put before models. Kept are
 * elements that a control opens, the sources of formulas, and an element that has most of the page's text.
 * @returns the elements that were removed.
 */
export function dropHidden(document: Document): ReadonlySet<Element> {
  const dropped = new Set<Element>();
  const hidden = new HiddenElements(document);
  const waiting: ParentNode[] = [document];
  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    const kept = parent.children.filter((child) => {
      if (!isTag(child) || !hidden.has(child)) return true;
      dropped.add(child);
      return false;
    });
    if (kept.length < parent.children.length) adopt(parent, kept);
    for (const child of kept) if (isTag(child)) waiting.push(child);
  }
  return dropped;
}

const byAttribute: Hiding = { way: "folded" };

class HiddenElements {
  readonly #rules: StyleRules;
  readonly #suspects = new Map<Element, Hiding | "aria">();
  readonly #controls: Controls | undefined;
  readonly #lengths: ReadonlyMap<ParentNode, number> = new Map();
  readonly #most: number = 0;

  constructor(document: Document) {
    this.#rules = new StyleRules(document);
    for (const element of elementsOf(document, ({ name }) => !silent.has(name))) {
      const hiding = this.#hidingOf(element);
      if (hiding !== undefined && !isFormula(element)) this.#suspects.set(element, hiding);
    }
    if (this.#suspects.size === 0) return;
    this.#controls = new Controls(document);
    const lengths = textLengths(document, this.#suspects);
    this.#lengths = lengths;
    this.#most = (lengths.get(document) ?? 0) * hiddenShareMax;
  }

  has(element: Element): boolean {
    const hiding = this.#suspects.get(element);
    if (hiding === undefined || this.#controls === undefined) return false;
    const length = this.#lengths.get(element) ?? 0;
    if (length > this.#most) return false;
    if (hiding === "aria")
      return length > signCharactersMax && !this.#controls.open(element) && !this.#isRepeated(element);
    if (hiding.way === "folded" && this.#controls.open(element)) return false;
    return hiding.unless === undefined || !this.#isUndone(element, hiding.unless);
  }

  #hidingOf(element: Element): Hiding | "aria" | undefined {
    const { name, attribs } = element;
    if (name === "dialog" && attribs["open"] === undefined) return byAttribute;
    if (attribs["hidden"] !== undefined && attribs["hidden"] !== "until-found") return byAttribute;
    const mark = attribs[hiddenMark];
    if (mark !== undefined) return { way: mark === "away" ? "away" : "folded" };
    const declared = this.#declaredFor(element);
    return (declared && hidingOf(declared)) ?? (attribs["aria-hidden"] === "true" ? "aria" : undefined);
  }

  #declaredFor(element: Element): Declared | undefined {
    const sheet = this.#rules.of(element);
    const style = element.attribs["style"];
    const own = style === undefined ? undefined : readDeclarations(style);
    if (sheet === undefined && own === undefined) return undefined;
    return { ...sheet?.normal, ...own?.normal, ...sheet?.important, ...own?.important };
  }

  /** Whether a part of an element is seen although the element isn't. */
  #isUndone(element: Element, property: "visibility" | "font-size"): boolean {
    for (const inner of elementsOf(element)) {
      const declared = this.#declaredFor(inner);
      if (declared !== undefined && undoes(declared, property)) return true;
    }
    return false;
  }

  /** Hidden from readers of screens, because a text for them alone is beside it. */
  #isRepeated({ prev, next, parent }: Element): boolean {
    const siblings = [prev, next, prev?.prev, next?.next];
    return parent !== null && siblings.some((one) => one && isTag(one) && this.#isAway(one));
  }

  #isAway(element: Element): boolean {
    const hiding = this.#suspects.get(element);
    return hiding !== undefined && hiding !== "aria" && hiding.way === "away" && textContent(element).trim() !== "";
  }
}

/** The source of a formula is hidden beside its drawing, and the drawing from readers of screens. */
function isFormula({ name, attribs }: Element): boolean {
  if (name === "math" || name === "mjx-container" || name === "mjx-assistive-mml") return true;
  return /(^|\s)(katex|mathjax|mwe-math|mathml)/i.test(attribs["class"] ?? "");
}
