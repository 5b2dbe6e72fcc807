import { compile } from "css-select";
import type { AnyNode, Document, Element } from "domhandler";
import { removeElement } from "domutils";
import { PageError } from "../page-error.ts";
import { elementsOf } from "./walk.ts";

/** Selectors of one request, and characters of one. */
const selectorsMax = 100;
const selectorCharactersMax = 1_000;

/** Whether an element matches any of several selectors. */
export type Matches = (element: Element) => boolean;

/**
 * @param selectors CSS selectors; a tag name is one too.
 * @returns undefined if there are none.
 * @throws PageError `selector` for one that can't be read, naming it.
 */
export function compileSelectors(selectors: readonly string[]): Matches | undefined {
  if (selectors.length === 0) return undefined;
  if (selectors.length > selectorsMax) throw new PageError("selector", `more than ${selectorsMax} selectors`);
  const tests = selectors.map(compileOne);
  return (element) => tests.some((test) => test(element));
}

function compileOne(selector: string): Matches {
  if (selector.length > selectorCharactersMax)
    throw new PageError("selector", `a selector has more than ${selectorCharactersMax} characters`);
  // A name alone is compared faster than by a compiled selector.
  if (/^[a-z][a-z0-9]*$/i.test(selector)) {
    const wanted = selector.toLowerCase();
    return ({ name }) => name === wanted;
  }
  try {
    return compile<AnyNode, Element>(selector);
  } catch (error) {
    throw new PageError("selector", `not a CSS selector: ${selector}`, { cause: error });
  }
}

/** The outermost elements that match, in document order. */
export function outermost(document: Document, matches: Matches): Element[] {
  const found: Element[] = [];
  const isFound = new Set<Element>();
  for (const element of elementsOf(document, (candidate) => !isFound.has(candidate))) {
    if (!matches(element)) continue;
    found.push(element);
    isFound.add(element);
  }
  return found;
}

/** Removes the elements that match from the tree. */
export function removeMatches(root: Document, matches: Matches): void {
  for (const element of outermost(root, matches)) removeElement(element);
}
