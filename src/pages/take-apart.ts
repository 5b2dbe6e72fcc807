import { type DecodedText, decodeText } from "./charset/decode.ts";
import { charsetOf, isXhtml, kindOf } from "./documents/kind.ts";
import { readFeed } from "./documents/read-feed.ts";
import { readText } from "./documents/read-text.ts";
import { readHtml } from "./html/read-html.ts";
import type { Page, DocumentKind, OfficeKind, PageRequest } from "./page.ts";

/**
 * Takes a document apart, in this process.
 * @throws PageError
 */
export async function takeApart(bytes: Uint8Array, request: PageRequest): Promise<Page> {
  const kind = kindOf(bytes, request.contentType, request.url);
  return { kind, ...(await readKind(kind, bytes, request)) };
}

async function readKind(kind: DocumentKind, bytes: Uint8Array, request: PageRequest): Promise<Omit<Page, "kind">> {
  if (isBinary(kind)) return binaryReaders[kind](bytes, request);
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
const binaryReaders: Readonly<
  Record<OfficeKind | "pdf", (bytes: Uint8Array, request: PageRequest) => Promise<Omit<Page, "kind">>>
> = {
  async pdf(bytes, request) {
    if (!request.pdf.parse) return { markdown: bytes.toBase64(), metadata: {}, needsBrowser: false };
    return (await import("./documents/pdf/read-pdf.ts")).readPdf(bytes, request);
  },
  docx: async (bytes, request) => (await import("./documents/office/read-docx.ts")).readDocx(bytes, request),
  xlsx: async (bytes, request) => (await import("./documents/office/read-xlsx.ts")).readXlsx(bytes, request),
  pptx: async (bytes, request) => (await import("./documents/office/read-pptx.ts")).readPptx(bytes, request),
  opendocument: async (bytes, request) =>
    (await import("./documents/office/read-open-document.ts")).readOpenDocument(bytes, request),
  rtf: async (bytes, request) => (await import("./documents/office/read-rtf.ts")).readRtf(bytes, request),
  epub: async (bytes, request) => (await import("./documents/office/read-epub.ts")).readEpub(bytes, request),
};

function isBinary(kind: DocumentKind): kind is keyof typeof binaryReaders {
  return Object.hasOwn(binaryReaders, kind);
}

function decode(kind: DocumentKind, bytes: Uint8Array, { contentType }: PageRequest): DecodedText {
  const isXml = kind === "xml" || kind === "feed";
  return decodeText(bytes, { label: charsetOf(contentType), xml: isXml, plain: kind !== "html" && !isXml });
}
