import { type ChildNode, type Document, type Element, isTag } from "domhandler";
import { textContent } from "domutils";
import type { PageMetadata } from "../page.ts";
import { elementsOf } from "./walk.ts";

/** Where a heading is not that of the content. */
const margins = new Set(["nav", "footer", "aside"]);

/** Characters of a heading that is compared. */
const headingCharactersMax = 500;

/**
 * Puts the heading of the page in front of its content, if the content has none of the first level and the page's title
 * consists of it. Many pages have it apart from their text, beside a picture or the date.
 */
export function withTitle(
  nodes: readonly ChildNode[],
  document: Document,
  { title, ogTitle }: PageMetadata,
): ChildNode[] {
  if (nodes.some((node) => isTag(node) && hasHeading(node))) return [...nodes];
  const titles = [title, ogTitle].map((text) => fold(text ?? ""));
  for (const element of elementsOf(document, ({ name }) => !margins.has(name))) {
    if (element.name !== "h1" && element.name !== "h2") continue;
    const text = fold(textContent(element).slice(0, headingCharactersMax));
    if (titles.some((candidate) => isTitle(text, candidate))) return [element, ...nodes];
  }
  return [...nodes];
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
