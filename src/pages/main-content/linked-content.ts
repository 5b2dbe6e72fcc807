import { Element, Text, type ChildNode } from "domhandler";
import { adopt } from "../html/adopt.ts";
import { type Json, linkedObjects, textOf } from "../html/json-ld.ts";
import { parseHtml } from "../html/parse.ts";
import { bodyOf } from "./body-of.ts";
import { countWords } from "./text-facts.ts";

/** Shorter texts are no content. */
const wordsMin = 20;
const markup = /<(?:p|br|ul|ol|li|div|h[1-6]|b|strong|em)\b/i;

/** Content that a page states as JSON-LD: of an article its text, of a product its description. */
export interface LinkedContent {
  readonly nodes: ChildNode[];
  readonly words: number;
}

export function linkedContent(scripts: readonly Element[]): LinkedContent | undefined {
  let longest: { title: string | undefined; text: string } | undefined;
  for (const object of linkedObjects(scripts)) {
    const text = contentOf(object);
    if (text === undefined || text.length <= (longest?.text.length ?? 0)) continue;
    longest = { title: textOf(object["headline"]) ?? textOf(object["name"]), text };
  }
  if (longest === undefined) return undefined;
  const words = countWords(longest.text);
  if (words < wordsMin) return undefined;
  const { title, text } = longest;
  const heading = title === undefined ? [] : [elementOf("h1", title)];
  return { nodes: [...heading, ...nodesOf(text)], words };
}

function contentOf(object: Json): string | undefined {
  return textOf(object["articleBody"]) ?? textOf(object["text"]) ?? textOf(object["description"]);
}

/** Some sites write HTML, others lines. */
function nodesOf(text: string): ChildNode[] {
  if (markup.test(text)) return [...bodyOf(parseHtml(text)).children];
  return text
    .split(/\n+/)
    .filter((line) => line.trim() !== "")
    .map((line) => elementOf("p", line));
}

function elementOf(name: string, text: string): Element {
  const element = new Element(name, {});
  adopt(element, [new Text(text)]);
  return element;
}
