import { type ChildNode, type Document, type Element, isTag } from "domhandler";
import { elementsOf } from "./walk.ts";

const around = new Set(["nav", "header", "footer", "aside"]);

/** The nodes of a page without what frames it. */
export function mainPart(document: Document): ChildNode[] {
  const main: Element[] = [];
  let body: Element | undefined;
  for (const element of elementsOf(document, ({ name }) => name !== "main")) {
    if (element.name === "main" || element.attribs["role"] === "main") main.push(element);
    if (element.name === "body") body ??= element;
  }
  if (main.length > 0) return main;
  return body?.children.filter((child) => !isTag(child) || !around.has(child.name)) ?? [];
}
