import { type ChildNode, type Document, type Element, isTag } from "domhandler";
import { textContent } from "domutils";
import { elementsOf } from "../html/walk.ts";

/** Places of headings that are not those of the content. */
const margins = new Set(["nav", "footer", "aside"]);

/** Characters of a heading that is compared. */
const headingCharactersMax = 500;

/** A copy of the first heading that one of the page's titles consists of. */
export function titleHeading(document: Document, titles: readonly string[]): Element | undefined {
  const folded = titles.map(fold);
  for (const element of elementsOf(document, ({ name }) => !margins.has(name))) {
    if (element.name !== "h1" && element.name !== "h2") continue;
    const text = fold(textContent(element).slice(0, headingCharactersMax));
    if (folded.some((title) => isTitle(text, title))) return element.cloneNode(true);
  }
  return undefined;
}

/**
 * Puts a heading in front of content that has none of the first level. Many pages have theirs apart from their text,
 * beside a picture or the date.
 */
export function withHeading(nodes: ChildNode[], heading: Element | undefined): ChildNode[] {
  const hasOne = heading === undefined || nodes.some((node) => isTag(node) && hasHeading(node));
  return hasOne ? nodes : [heading, ...nodes];
}

/** The part of a page's title that its heading is, at least; the name of the site is less. */
const titleShareMin = 0.5;

function isTitle(heading: string, title: string): boolean {
  return (
    heading !== "" &&
    title.includes(heading) &&
    (heading.length >= titleShareMin * title.length || title.startsWith(heading))
  );
}

function hasHeading(element: Element): boolean {
  if (element.name === "h1") return true;
  for (const { name } of elementsOf(element)) if (name === "h1") return true;
  return false;
}

function fold(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim().toLowerCase();
}
