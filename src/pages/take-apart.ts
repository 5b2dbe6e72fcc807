import { type DecodedText, decodeText } from "./charset/decode.ts";
import { charsetOf, isXhtml, kindOf } from "./documents/kind.ts";
import { readFeed } from "./documents/read-feed.ts";
import { readText } from "./documents/read-text.ts";
import { readHtml } from "./html/read-html.ts";
import type { Page, DocumentKind, PageRequest } from "./page.ts";

/**
 * Takes a document apart, in this process.
 * @throws PageError
 */
export async function takeApart(bytes: Uint8Array, request: PageRequest): Promise<Page> {
  const kind = kindOf(bytes, request.contentType, request.url);
  return { kind, ...(await readKind(kind, bytes, request)) };
}

async function readKind(kind: DocumentKind, bytes: Uint8Array, request: PageRequest): Promise<Omit<Page, "kind">> {
  if (kind === "pdf" || kind === "docx") return readBinary(kind, bytes, request);
  const { text } = decode(kind, bytes, request);
  if (kind === "html") return readHtml(isXhtml(request.contentType) ? withEndTags(text) : text, request);
  return kind === "feed" ? readFeed(text, request) : readText(text, kind, request);
}

/** An HTML parser ignores the slash of `<script/>`: such an element would contain the rest of the page. */
function withEndTags(xhtml: string): string {
  return xhtml.replaceAll(
    /<(script|style|title|textarea|iframe|noscript|a|div|span|p|td|th|li|b|i|em|strong)\b([^<>]*)\/>/gi,
    "<$1$2></$1>",
  );
}

/** The readers of these documents are large, and are loaded when the first one comes. */
async function readBinary(kind: "pdf" | "docx", bytes: Uint8Array, request: PageRequest): Promise<Omit<Page, "kind">> {
  if (kind === "docx") {
    const { readDocx } = await import("./documents/read-docx.ts");
    return readDocx(bytes, request);
  }
  if (!request.pdf.parse) return { markdown: bytes.toBase64(), metadata: {}, needsBrowser: false };
  const { readPdf } = await import("./documents/pdf/read-pdf.ts");
  return readPdf(bytes, request);
}

function decode(kind: DocumentKind, bytes: Uint8Array, { contentType }: PageRequest): DecodedText {
  const isXml = kind === "xml" || kind === "feed";
  return decodeText(bytes, { label: charsetOf(contentType), xml: isXml, plain: kind !== "html" && !isXml });
}
