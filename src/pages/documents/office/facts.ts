import type { PageMetadata } from "../../page.ts";
import { readXml } from "./xml.ts";

/** Elements of Dublin Core, and those of Office and OpenDocument beside them → facts of a page. */
const facts: Readonly<Record<string, string>> = {
  "dc:title": "title",
  "dc:creator": "author",
  "meta:initial-creator": "author",
  "dc:description": "description",
  "dc:subject": "description",
  "dc:language": "language",
  "cp:keywords": "keywords",
  "meta:keyword": "keywords",
  "dcterms:created": "publishedTime",
  "meta:creation-date": "publishedTime",
  "dc:date": "modifiedTime",
  "dcterms:modified": "modifiedTime",
};

const charactersMax = 1_000;

/** The facts about a document in the part that is made for them; the first of each. */
export function readFacts(xml: string | undefined): PageMetadata {
  const found: Record<string, string> = {};
  let name: string | undefined;
  let text = "";
  if (xml === undefined) return found;
  readXml(xml, {
    open(element) {
      name = facts[element];
      text = "";
    },
    text: (more) => {
      if (name !== undefined && text.length < charactersMax) text += more;
    },
    close() {
      const value = text.trim();
      if (name !== undefined && value !== "") found[name] ??= value;
      name = undefined;
    },
  });
  return found;
}
