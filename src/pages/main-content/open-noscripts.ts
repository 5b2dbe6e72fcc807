import { isText, type Document } from "domhandler";
import { adopt } from "../html/adopt.ts";
import { dropHidden } from "../html/hidden/index.ts";
import { parseHtml } from "../html/parse.ts";
import { elementsOf } from "../html/walk.ts";
import { bodyOf } from "./body-of.ts";
import { countWords } from "./text-facts.ts";

/** Shorter ones are requests to switch scripts on. */
const wordsMin = 50;
const charactersMax = 2 * 1024 * 1024;

/**
 * Parses the contents of `noscript` elements, in place: to the parser they are text. Forums among others put all of their
 * posts there, and build the page that people see by script.
 */
export function openNoscripts(document: Document): void {
  let left = charactersMax;
  for (const element of elementsOf(document, ({ name }) => name !== "noscript")) {
    const [content] = element.children;
    if (element.name !== "noscript" || content === undefined || !isText(content)) continue;
    left -= content.data.length;
    if (left < 0) return;
    if (countWords(content.data.replaceAll(/<[^>]*>/g, " ")) < wordsMin) continue;
    const inner = parseHtml(content.data);
    dropHidden(inner);
    adopt(element, bodyOf(inner).children);
  }
}
