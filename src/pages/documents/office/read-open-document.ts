import type { Page, PageRequest } from "../../page.ts";
import { Archive } from "./archive.ts";
import { readFacts } from "./facts.ts";
import { officePage } from "./office-page.ts";
import { OpenDocumentWriter } from "./open-document-writer.ts";
import { readXml } from "./xml.ts";

/**
 * Reads a text, a spreadsheet or a presentation of OpenDocument (ODT, ODS, ODP): the same elements are in all of them
 * (OpenDocument 1.3, part 3).
 * @throws PageError `too_large` for one that unpacks to too much, `malformed` for one that is broken.
 */
export function readOpenDocument(bytes: Uint8Array, request: PageRequest): Omit<Page, "kind"> {
  const archive = new Archive(bytes);
  const writer = new OpenDocumentWriter();
  readXml(archive.requiredText("content.xml"), writer);
  return officePage({ ...writer.result(), metadata: readFacts(archive.text("meta.xml")) }, request);
}
