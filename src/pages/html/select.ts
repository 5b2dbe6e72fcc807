import { compile, type Options } from "css-select";
import { type AnyNode, type Document, type Element, isTag } from "domhandler";
import * as DomUtils from "domutils";
import { removeElement } from "domutils";
import type { PageAttribute } from "../page.ts";
import { PageError } from "../page-error.ts";
import { selectorCharactersMax } from "./selector-cost.ts";
import { elementsOf } from "./walk.ts";

/** Selectors of one list. */
const selectorsMax = 100;

/** The processor time that the selectors of a request may take on one page. */
const selectorMsMax = 1_000;

/** Characters of all values of attributes: each selector may ask for the largest of a page again. */
const attributeCharactersMax = 10_000_000;

/** Steps through the page between two looks at the clock: a millisecond of them at most. */
const stepsUnwatched = 1_000;

/** Whether an element matches any of several selectors. */
export type Matches = (element: Element) => boolean;

/** The selectors of one request, which share the time for their page. */
export class Selectors {
  /** Undefined if there are none. */
  readonly included: Matches | undefined;
  readonly excluded: Matches | undefined;
  readonly #adapter: Adapter;
  #steps = 0;
  #begun = process.cpuUsage();
  #spentMs = 0;

  /**
   * Both are lists of CSS selectors; a tag name is one too.
   * @throws PageError `selector` for one that can't be read, naming it.
   */
  constructor({ includeTags, excludeTags }: { includeTags: readonly string[]; excludeTags: readonly string[] }) {
    this.#adapter = {
      ...DomUtils,
      // Each step of a comparison calls one of these.
      isTag: (node: AnyNode): node is Element => {
        this.#step();
        return isTag(node);
      },
      getParent: (element: Element) => {
        this.#step();
        return element.parent;
      },
      getText: (node: AnyNode) => {
        this.#look();
        return DomUtils.textContent(node);
      },
    };
    this.included = this.#compile(includeTags);
    this.excluded = this.#compile(excludeTags);
  }

  /**
   * The outermost elements that match, in document order.
   * @throws PageError `slow_selectors`
   */
  outermost(document: Document, matches: Matches): Element[] {
    this.#begun = process.cpuUsage();
    const found: Element[] = [];
    const isFound = new Set<Element>();
    for (const element of elementsOf(document, (candidate) => !isFound.has(candidate))) {
      if (!matches(element)) continue;
      found.push(element);
      isFound.add(element);
    }
    this.#spentMs = this.#look();
    return found;
  }

  /**
   * The values of attributes, as the page has them.
   * @throws PageError `selector`, `slow_selectors`, or `too_large` for more characters than an answer may have.
   */
  attributes(document: Document, wanted: readonly PageAttribute[]): (PageAttribute & { values: string[] })[] {
    const asked = wanted.map(({ selector, attribute }) => ({
      name: attribute,
      matches: this.#compileOne(selector),
      values: [] as string[],
    }));
    let left = attributeCharactersMax;
    this.#begun = process.cpuUsage();
    for (const element of elementsOf(document)) {
      for (const { name, matches, values } of asked) {
        // Those of SVG keep their capital letters.
        const value = element.attribs[name] ?? element.attribs[name.toLowerCase()];
        if (value === undefined || !matches(element)) continue;
        left -= value.length;
        if (left < 0) throw new PageError("too_large", "the values of its attributes are too large together");
        values.push(value);
      }
    }
    this.#spentMs = this.#look();
    return wanted.map((each, index) => ({ ...each, values: asked[index]?.values ?? [] }));
  }

  /**
   * Removes the elements that match from the tree.
   * @throws PageError `slow_selectors`
   */
  remove(root: Document, matches: Matches): void {
    for (const element of this.outermost(root, matches)) removeElement(element);
  }

  #compile(selectors: readonly string[]): Matches | undefined {
    if (selectors.length === 0) return undefined;
    if (selectors.length > selectorsMax) throw new PageError("selector", `more than ${selectorsMax} selectors`);
    const tests = selectors.map((selector) => this.#compileOne(selector));
    return (element) => tests.some((test) => test(element));
  }

  #compileOne(selector: string): Matches {
    if (selector.length > selectorCharactersMax)
      throw new PageError("selector", `a selector has more than ${selectorCharactersMax} characters`);
    // A name alone is compared faster than by a compiled selector.
    if (/^[a-z][a-z0-9]*$/i.test(selector)) {
      const wanted = selector.toLowerCase();
      return ({ name }) => name === wanted;
    }
    try {
      return compile<AnyNode, Element>(selector, { adapter: this.#adapter });
    } catch (error) {
      throw new PageError("selector", `not a CSS selector: ${selector}`, { cause: error });
    }
  }

  #step(): void {
    this.#steps += 1;
    if (this.#steps % stepsUnwatched === 0) this.#look();
  }

  /** The time that has been spent. */
  #look(): number {
    const { user, system } = process.cpuUsage(this.#begun);
    const spentMs = this.#spentMs + (user + system) / 1_000;
    if (spentMs <= selectorMsMax) return spentMs;
    throw new PageError("slow_selectors", `on this page they take more than ${selectorMsMax / 1_000} s of a processor`);
  }
}

type Adapter = NonNullable<Options<AnyNode, Element>["adapter"]>;
