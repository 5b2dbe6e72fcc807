import mammoth from "mammoth";
import type { Page, PageRequest } from "../../page.ts";
import { PageError } from "../../page-error.ts";
import { Archive } from "./archive.ts";
import { readFacts } from "./facts.ts";
import { officePage } from "./office-page.ts";

/** Paragraphs with a meaning by their style, beyond headings and lists. */
const styleMap = [
  ["Title", "h1:fresh"],
  ["Quote", "blockquote > p:fresh"],
  ["Intense Quote", "blockquote > p:fresh"],
  ["HTML Preformatted", "pre:separator('\\n')"],
  ["Source Code", "pre:separator('\\n')"],
  ["Code", "pre:separator('\\n')"],
].flatMap(([name = "", html = ""]) => [
  `p[style-name='${name}'] => ${html}`,
  // A document without a list of its styles has their identifiers only.
  `p.${name.replaceAll(" ", "")} => ${html}`,
]);

/**
 * Reads a document of Microsoft Word by way of HTML.
 * @throws PageError `too_large` for one that unpacks to too much, `malformed` for one that is broken.
 */
export async function readDocx(bytes: Uint8Array, request: PageRequest): Promise<Omit<Page, "kind">> {
  const archive = new Archive(bytes);
  const html = await toHtml(bytes, request);
  return officePage({ html, metadata: readFacts(archive.text("docProps/core.xml")) }, request);
}

async function toHtml(bytes: Uint8Array, { removeBase64Images }: PageRequest): Promise<string> {
  try {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const noImages = mammoth.images.imgElement(async () => ({ src: "" }));
    const { value } = await mammoth.convertToHtml(
      { buffer },
      { idPrefix: "", styleMap, ...(removeBase64Images && { convertImage: noImages }) },
    );
    return value;
  } catch (error) {
    throw new PageError("malformed", "the Word document is broken", { cause: error });
  }
}
