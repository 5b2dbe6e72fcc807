import { isText, type Document, type Element } from "domhandler";
import { isLinkedData } from "../html/json-ld.ts";
import { elementsOf } from "../html/walk.ts";

/** The facts about a page outside of its text. */
export interface HeadFacts {
  readonly title: string;
  readonly description: string;
  /** og:type, in lower case. */
  readonly openGraphType: string;
  /** The software that made the page, in lower case. */
  readonly generator: string;
  /** The values of @type in JSON-LD, in lower case. */
  readonly types: readonly string[];
  /** The scripts of JSON-LD. */
  readonly linkedData: readonly Element[];
}

/** Reads title, description and JSON-LD, wherever in the document they are. */
export function readHead(document: Document): HeadFacts {
  const metas = new Map<string, string>();
  const linkedData: Element[] = [];
  let title = "";
  for (const element of elementsOf(document)) {
    const { name, attribs } = element;
    if (name === "title" && title === "") title = textOf(element).trim();
    else if (name === "meta") {
      const key = (attribs["name"] ?? attribs["property"] ?? "").toLowerCase();
      if (!metas.has(key)) metas.set(key, attribs["content"] ?? "");
    } else if (name === "script" && isLinkedData(element)) linkedData.push(element);
  }
  return {
    title,
    description: metas.get("description") ?? metas.get("og:description") ?? "",
    openGraphType: (metas.get("og:type") ?? "").toLowerCase(),
    generator: (metas.get("generator") ?? "").toLowerCase(),
    types: linkedData.flatMap((script) => typesIn(textOf(script))),
    linkedData,
  };
}

function textOf({ children }: Element): string {
  return children.map((child) => (isText(child) ? child.data : "")).join("");
}

/** Found by their key, so that JSON with errors counts too. */
function typesIn(json: string): string[] {
  const types = json.matchAll(/"@type"\s*:\s*\[?\s*"(?:https?:\/\/schema\.org\/)?(\w+)"/g);
  return [...types].map(([, type = ""]) => type.toLowerCase());
}
