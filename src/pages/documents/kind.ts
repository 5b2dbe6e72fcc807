import { decoderOf, standardName } from "../charset/decode.ts";
import { PageError } from "../page-error.ts";
import type { DocumentKind, OfficeKind } from "../page.ts";
import { zipEntries } from "./zip-entries.ts";

/** Kinds that are not read, by hexadecimal bytes at an offset, with the name that an error gives them. */
const unreadable: readonly (readonly [name: string, hex: string, offset?: number])[] = [
  ["a PNG image", "89504e47"],
  ["a JPEG image", "ffd8ff"],
  ["a GIF image", "474946383961"],
  ["a GIF image", "474946383761"],
  ["a WebP image", "57454250", 8],
  ["a WAV file", "57415645", 8],
  ["an AVI video", "41564920", 8],
  ["a video or an AVIF image", "66747970", 4],
  ["an icon", "00000100"],
  ["a TIFF image", "49492a00"],
  ["a TIFF image", "4d4d002a"],
  ["a Matroska or WebM video", "1a45dfa3"],
  ["an Ogg file", "4f676753"],
  ["an MP3 file", "494433"],
  ["an MP3 file", "fffb"],
  ["a FLAC file", "664c6143"],
  ["a gzip archive", "1f8b"],
  ["a 7z archive", "377abcaf"],
  ["a RAR archive", "52617221"],
  ["an XZ archive", "fd377a58"],
  ["a Zstandard archive", "28b52ffd"],
  ["a document of Microsoft Office 97", "d0cf11e0"],
  ["a font", "774f4646"],
  ["a font", "774f4632"],
  ["a font", "4f54544f"],
  ["a font", "00010000"],
  ["a program", "7f454c46"],
  ["a program", "4d5a9000"],
  ["a PostScript document", "25215053"],
  ["a WebAssembly module", "0061736d"],
];

/** Media types → kinds. A type that is less exact than the bytes is not here. */
const kindsByType: Readonly<Record<string, DocumentKind>> = {
  "text/html": "html",
  "application/xhtml+xml": "html",
  "application/json": "json",
  "text/json": "json",
  "application/xml": "xml",
  "text/xml": "xml",
  "application/rss+xml": "feed",
  "application/atom+xml": "feed",
  "application/rdf+xml": "xml",
  "text/csv": "csv",
  "text/tab-separated-values": "csv",
  "text/markdown": "markdown",
  "text/x-markdown": "markdown",
  "application/x-ndjson": "text",
  "application/javascript": "text",
  "application/x-javascript": "text",
  "application/x-sh": "text",
  "application/yaml": "text",
  "application/x-yaml": "text",
  "application/toml": "text",
  "application/sql": "text",
};

const kindsByExtension: Readonly<Record<string, DocumentKind>> = {
  md: "markdown",
  markdown: "markdown",
  mdx: "markdown",
  csv: "csv",
  tsv: "csv",
  json: "json",
};

/** Bytes that the kind is read from. */
const headBytesMax = 2_048;

/**
 * The kind of a document: by its bytes if they leave no doubt, then by the type in the header, then by its address.
 * @throws PageError `unsupported`, naming the kind, for a kind without a reader.
 */
export function kindOf(bytes: Uint8Array, contentType: string | undefined, url: string): DocumentKind {
  const head = readHead(bytes.subarray(0, headBytesMax), contentType);
  if (/%PDF-\d/.test(head.slice(0, 1_024))) return "pdf";
  if (head.startsWith("PK\u0003\u0004")) return zipKind(bytes, head);
  if (head.startsWith("{\\rtf")) return "rtf";
  const type = mediaTypeOf(contentType);
  // A certain text may begin with any letters.
  const name = unreadable.find(([, hex, offset = 0]) => hexAt(bytes, offset, hex.length / 2) === hex)?.[0];
  if (name !== undefined && !(isText(type) && /^[\t\n\r -~]+$/.test(head))) throw unsupported(name);
  if (isBinary(head, type)) throw unsupported(type === "" ? "binary data" : `binary data (${type})`);
  const text = withoutMark(head).trimStart();
  // Interfaces that forget their type answer with that of pages.
  if (type === "text/html" && looksLikeJson(text, bytes)) return "json";
  if (type === "text/html" && bytes.length > largeBytesMin && !bytes.includes(TAG)) return "text";
  return markupKind(text, type) ?? kindByType(type, url) ?? (looksLikeJson(text, bytes) ? "json" : "text");
}

/** A text that servers call a page: read as HTML it is one element, which is longer than a parser has memory for. */
const largeBytesMin = 1024 * 1024;
const TAG = 0x3c;

function hexAt(bytes: Uint8Array, offset: number, length: number): string {
  return bytes.subarray(offset, offset + length).toHex();
}

/** Whether the document is XHTML to browsers, whose elements may end in themselves. */
export function isXhtml(contentType: string | undefined): boolean {
  return mediaTypeOf(contentType) === "application/xhtml+xml";
}

const mediaType = /^[!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+$/;

/**
 * The media type without parameters, in lower case; "" if there is none, or none of use. Of several, which
 * servers send by mistake, the last valid one, as in browsers.
 */
function mediaTypeOf(contentType: string | undefined): string {
  const types = (contentType ?? "").split(",").map((part) => (part.split(";", 1)[0] ?? "").trim().toLowerCase());
  return types.findLast((type) => mediaType.test(type) && type !== "*/*") ?? "";
}

/** The `charset` of a content type. */
export function charsetOf(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType ?? "")?.[1];
}

/** As Latin-1, which has a character for each byte, unless the document is in UTF-16. */
function readHead(bytes: Uint8Array, contentType: string | undefined): string {
  const encoding = standardName(bytes.subarray(0, 4), charsetOf(contentType), false);
  if (encoding?.startsWith("utf-16") === true) return decoderOf(encoding).decode(bytes);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

function withoutMark(text: string): string {
  return text.replace(/^(\u00ef\u00bb\u00bf|\ufeff)/, "");
}

/** The part of a text's characters that may be zeros. Pages have a few by mistake, and parsers pass over them. */
const zerosShareMax = 0.01;

/** Zeros distinguish binary data from text, but UTF-16 without a mark has them too, in every second byte. */
function isBinary(head: string, type: string): boolean {
  const zeros = head.split("\0").length - 1;
  if (zeros === 0 || /^(<\0[!?a-z]\0|\0<\0[!?a-z])/i.test(head)) return false;
  return !isText(type) || zeros > zerosShareMax * head.length;
}

function isText(type: string): boolean {
  return type.startsWith("text/") || kindsByType[type] !== undefined;
}

function markupKind(text: string, type: string): DocumentKind | undefined {
  const isGeneric = type === "" || type === "application/octet-stream" || type === "text/html" || /xml/.test(type);
  if (!isGeneric) return undefined;
  const start = text.replaceAll(/^(<\?xml[^>]*\?>|<!--[\s\S]*?-->|<\?xml-stylesheet[^>]*\?>|\s+)+/g, "");
  if (/^<(rss|feed|rdf:RDF)[\s>]/.test(start)) return "feed";
  if (/^<(!doctype\s+html|html)[\s>]/i.test(start)) return "html";
  if (text.startsWith("<?xml") && type !== "text/html" && type !== "application/xhtml+xml") return "xml";
  if (type === "" || type === "application/octet-stream")
    return /^<(head|body|title|meta|div|p|h1|table|script|article|!--)[\s>-]/i.test(text) ? "html" : undefined;
  return undefined;
}

function kindByType(type: string, url: string): DocumentKind | undefined {
  const known = kindsByType[type];
  if (known !== undefined) return known;
  if (type.endsWith("+json")) return "json";
  if (type.endsWith("+xml") && !type.startsWith("image/")) return "xml";
  if (type === "" || type === "text/plain" || type === "application/octet-stream")
    return kindsByExtension[extensionOf(url)] ?? (type === "text/plain" ? "text" : undefined);
  if (type.startsWith("text/")) return "text";
  throw unsupported(nameOfType(type));
}

function extensionOf(url: string): string {
  return /\.(\w{1,10})$/.exec(URL.parse(url)?.pathname ?? "")?.[1]?.toLowerCase() ?? "";
}

function nameOfType(type: string): string {
  const [group = ""] = type.split("/");
  return ["image", "video", "audio", "font"].includes(group)
    ? `${/^[aeiou]/.test(group) ? "an" : "a"} ${group} (${type})`
    : type;
}

/** A page of HTML is never valid JSON. */
function looksLikeJson(text: string, bytes: Uint8Array): boolean {
  if (!/^[[{]/.test(text)) return false;
  try {
    JSON.parse(new TextDecoder().decode(bytes));
    return true;
  } catch {
    return false;
  }
}

/** The part that only documents of a kind have. */
const kindsByPart: ReadonlyMap<string, OfficeKind> = new Map([
  ["word/document.xml", "docx"],
  ["xl/workbook.xml", "xlsx"],
  ["ppt/presentation.xml", "pptx"],
  ["META-INF/container.xml", "epub"],
]);

/** By the media type that stands at the beginning, as in OpenDocument and EPUB, or by the names of the parts. */
function zipKind(bytes: Uint8Array, head: string): OfficeKind {
  const [, type = ""] = /^.{26,30}mimetype(application\/[a-z.+-]+)/s.exec(head) ?? [];
  if (/^application\/vnd\.oasis\.opendocument\.(?:text|spreadsheet|presentation)/.test(type)) return "opendocument";
  for (const { name } of zipEntries(bytes) ?? []) {
    const kind = kindsByPart.get(name);
    if (kind !== undefined) return kind;
  }
  throw unsupported("a ZIP archive");
}

function unsupported(name: string): PageError {
  return new PageError("unsupported", `the address leads to ${name}, which can't be read as a page`);
}
