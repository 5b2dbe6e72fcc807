import { analyse } from "chardet";
import sniff from "html-encoding-sniffer";

/** Bytes of a document in which its own declaration is looked for. The standard demands 1,024; real pages put it later. */
const prescanBytesMax = 8 * 1024;
const prescanStep = 512;

/** Bytes in which the declaration of an XML document must end. */
const xmlDeclarationBytesMax = 1024;

/** Bytes of a document without a declared encoding from which the encoding is guessed. */
const sampleBytesMax = 64 * 1024;

/** Bytes that are decoded at a time, of a long document. */
const pieceBytes = 64 * 1024;

/** The least confidence, in percent, at which a guess by statistics is believed. */
const confidenceMin = 30;

/** Encodings of one byte a character, in which nearly every text is valid: pages that have moved to UTF-8 still declare them. */
const byteEncodings = /^(?:windows-125|iso-8859-)\d/;

/** Bytes beyond ASCII that a text in one of those has hardly ever in the order of UTF-8. */
const provingBytesMin = 6;

const LESS_THAN = 0x3c;

export interface DecodeOptions {
  /** The `charset` of the reply's content type, if it has one. */
  label: string | undefined;
  /** The document is XML: its declaration counts, and meta tags don't. */
  xml?: boolean;
  /** The document is neither HTML nor XML, so that it can declare nothing. */
  plain?: boolean;
}

export interface DecodedText {
  text: string;
  /** The WHATWG name of the encoding, in lower case. */
  encoding: string;
}

/**
 * Decodes a document by its byte order mark, the reply's header, its own declaration, or statistics, in that order. Bytes
 * that the encoding does not allow become U+FFFD.
 */
export function decodeText(bytes: Uint8Array, options: DecodeOptions): DecodedText {
  const encoding = encodingOf(bytes, options);
  return { text: decoderOf(encoding).decode(bytes), encoding };
}

/** Decodes a long document piece by piece, by the encoding of its beginning. */
export function* decodePieces(bytes: Uint8Array, options: DecodeOptions): Generator<string> {
  // Up to an ASCII character, lest a part of another one looks like an error.
  const end = bytes.subarray(0, sampleBytesMax).findLastIndex((byte) => byte < 0x80) + 1;
  const sample = bytes.subarray(0, end === 0 ? sampleBytesMax : end);
  const decoder = decoderOf(encodingOf(sample, options));
  for (let start = 0; start < bytes.length; start += pieceBytes)
    yield decoder.decode(bytes.subarray(start, start + pieceBytes), { stream: true });
  yield decoder.decode();
}

/** Bun decodes all encodings of the standard, of which its types name a few. */
export function decoderOf(encoding: string, options?: { fatal: boolean }): TextDecoder {
  return new TextDecoder(encoding as Bun.Encoding, options);
}

function encodingOf(bytes: Uint8Array, { label, xml = false, plain = false }: DecodeOptions): string {
  const own = declared(plain ? bytes.subarray(0, 4) : bytes, undefined, xml);
  const named = declared(bytes.subarray(0, 4), label, xml) ?? own;
  if (named === undefined) return guess(bytes);
  // Servers that add a default to every reply are wrong more often than pages are, and UTF-8 can be proved.
  if (named !== own && isUtf8(own) !== isUtf8(named) && own !== undefined) {
    const valid = isValidUtf8(bytes);
    if (isUtf8(own) ? valid && hasHighBytes(bytes) : !valid) return own;
  }
  return byteEncodings.test(named) && isCertainlyUtf8(bytes) ? "utf-8" : named;
}

function declared(bytes: Uint8Array, label: string | undefined, xml: boolean): string | undefined {
  const name = standardName(bytes, label, xml);
  if (name !== undefined) return name;
  if (xml) return xmlDeclared(bytes);
  // The library reads 1,024 bytes; the parts overlap, so that a tag on a border is whole in one of them.
  for (let start = prescanStep; start < Math.min(bytes.length, prescanBytesMax); start += prescanStep) {
    const later = standardName(bytes.subarray(start, prescanBytesMax), undefined, xml);
    if (later !== undefined) return later;
  }
  return undefined;
}

function xmlDeclared(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, xmlDeclarationBytesMax)).toString("latin1");
  const label = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(start)?.[1];
  if (label === undefined) return undefined;
  const name = standardName(new Uint8Array(), label, true);
  // A declaration that is readable as ASCII is not in UTF-16.
  return name?.startsWith("utf-16") === true ? "utf-8" : name;
}

/** The WHATWG name of an encoding, in lower case: of a byte order mark, a label, or a declaration in the first 1,024 bytes. */
export function standardName(bytes: Uint8Array, label: string | undefined, xml: boolean): string | undefined {
  const name = sniff(bytes, {
    xml,
    defaultEncoding: "none",
    ...(label !== undefined && { transportLayerEncodingLabel: label }),
  }).toLowerCase();
  // The standard's "replacement" decoder is for encodings that were used for attacks.
  return name === "none" || name === "replacement" ? undefined : name;
}

function guess(bytes: Uint8Array): string {
  // Markup begins with "<", which has a zero beside it in UTF-16.
  if (bytes[0] === LESS_THAN && bytes[1] === 0) return "utf-16le";
  if (bytes[0] === 0 && bytes[1] === LESS_THAN) return "utf-16be";
  if (isValidUtf8(bytes)) return "utf-8";
  const sample = bytes.subarray(0, sampleBytesMax);
  for (const { name, confidence } of analyse(sample)) {
    if (confidence < confidenceMin) break;
    const encoding = standardName(new Uint8Array(), name, false);
    // Languages of similar statistics differ in the bytes that their encodings have no character for.
    if (encoding !== undefined && !isUtf8(encoding) && isValid(sample, encoding, { isSample: true })) return encoding;
  }
  return "windows-1252";
}

function isUtf8(encoding: string | undefined): boolean {
  return encoding === "utf-8";
}

function isValidUtf8(bytes: Uint8Array): boolean {
  return isValid(bytes, "utf-8", { isSample: false });
}

/** A sample may end within a character. */
function isValid(bytes: Uint8Array, encoding: string, { isSample }: { isSample: boolean }): boolean {
  try {
    decoderOf(encoding, { fatal: true }).decode(bytes, { stream: isSample });
    return true;
  } catch {
    return false;
  }
}

function isCertainlyUtf8(bytes: Uint8Array): boolean {
  let high = 0;
  for (const byte of bytes) if (byte > 0x7f) high += 1;
  return high >= provingBytesMin && isValidUtf8(bytes);
}

function hasHighBytes(bytes: Uint8Array): boolean {
  return bytes.some((byte) => byte > 0x7f);
}
