import type { Document, ParentNode } from "domhandler";
import { elementsOf } from "../html/walk.ts";

/** The body of a document; the document itself where frames take its place. */
export function bodyOf(document: Document): ParentNode {
  for (const element of elementsOf(document, ({ name }) => name === "html"))
    if (element.name === "body") return element;
  return document;
}
