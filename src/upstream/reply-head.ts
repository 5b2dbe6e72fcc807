import type { ReplyHeaders } from "../core/index.ts";
import { BadReply } from "./bad-reply.ts";

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const ZERO = 0x30;

/** A status line and headers, each with its line end: no other versions, no folded lines, no control characters. */
const headGrammar =
  /^HTTP\/1\.[01] [1-5]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?\r\n(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;
const closeToken = /(?:^|[\s,])close(?:$|[\s,])/i;
const keepAliveToken = /(?:^|[\s,])keep-alive(?:$|[\s,])/i;
const keepAliveTimeout = /(?:^|[\s,;])timeout\s*=\s*"?(\d{1,9})/i;

/** Decimal digits of a length: a larger one could not be represented exactly. */
const LENGTH_DIGITS_MAX = 15;

/** The head of a reply: one text. Only the headers that define the framing are parsed. */
export class ReplyHead implements ReplyHeaders {
  readonly status: number;
  /** The length of the body; undefined if the head does not contain it. */
  contentLength: number | undefined;
  isChunked = false;
  /** The connection may carry another request once the reply has been read. */
  keepsAlive: boolean;
  contentEncoding: string | undefined;
  /** The keep-alive time announced by the upstream. */
  keepAliveMs: number | undefined;
  readonly #text: string;
  /** The end of each header's name, which makes look-ups of missing headers fast. */
  readonly #colons: number[] = [];
  #hasClose = false;
  #hasKeepAlive = false;

  /** `text` is Latin-1, each line with its line end, without the empty one. Throws `BadReply`. */
  constructor(text: string) {
    if (!headGrammar.test(text)) throw new BadReply("no status line and headers");
    this.#text = text;
    this.status = digitAt(text, 9) * 100 + digitAt(text, 10) * 10 + digitAt(text, 11);
    for (let at = text.indexOf("\n") + 1; at < text.length;) at = this.#readField(at);
    const isFirstVersion = text.charCodeAt(7) === ZERO;
    // If a peer frames a body in two ways, or in a way newer than its version, its end cannot be trusted.
    const isDoubtful = this.isChunked && (isFirstVersion || this.contentLength !== undefined);
    this.keepsAlive = (!isFirstVersion || this.#hasKeepAlive) && !this.#hasClose && !isDoubtful;
  }

  /** A 204 or 304 has no body, whatever its head contains. */
  get hasBody(): boolean {
    return this.status !== 204 && this.status !== 304;
  }

  get(name: string): string | null {
    const text = this.#text;
    let found: string | null = null;
    for (const colon of this.#colons) {
      if (!isNamed(text, colon, name)) continue;
      const value = valueBehind(text, colon);
      found = found === null ? value : `${found}, ${value}`;
    }
    return found;
  }

  /** Reads the header that begins at this offset; returns the offset of the next one. */
  #readField(at: number): number {
    const text = this.#text;
    const colon = text.indexOf(":", at);
    this.#colons.push(colon);
    switch (colon - at) {
      case "connection".length:
        if (isNamed(text, colon, "connection")) this.#readConnection(valueBehind(text, colon));
        else if (isNamed(text, colon, "keep-alive")) this.#readKeepAlive(valueBehind(text, colon));
        break;
      case "content-length".length:
        if (isNamed(text, colon, "content-length")) this.#readLength(valueBehind(text, colon));
        break;
      case "content-encoding".length:
        if (isNamed(text, colon, "content-encoding")) this.contentEncoding = valueBehind(text, colon);
        break;
      case "transfer-encoding".length:
        if (isNamed(text, colon, "transfer-encoding")) this.#readTransfer(valueBehind(text, colon));
        break;
      default:
    }
    return text.indexOf("\n", colon) + 1;
  }

  #readConnection(value: string): void {
    if (closeToken.test(value)) this.#hasClose = true;
    if (keepAliveToken.test(value)) this.#hasKeepAlive = true;
  }

  #readKeepAlive(value: string): void {
    const seconds = keepAliveTimeout.exec(value)?.[1];
    if (seconds !== undefined) this.keepAliveMs = Number(seconds) * 1_000;
  }

  #readLength(value: string): void {
    const length = lengthOf(value);
    if (length === undefined) {
      // Intermediaries may join several headers into a list of the same number.
      if (!value.includes(",")) throw new BadReply("a content-length that is no number");
      for (const part of value.split(",")) this.#readLength(part.trim());
      return;
    }
    if ((this.contentLength ?? length) !== length) throw new BadReply("several lengths of one body");
    this.contentLength = length;
  }

  #readTransfer(value: string): void {
    if (this.isChunked || value.toLowerCase() !== "chunked") throw new BadReply("a transfer encoding but chunked");
    this.isChunked = true;
  }
}

/** Whether the header whose name ends at the colon has this name. No name contains a line end. */
function isNamed(text: string, colon: number, name: string): boolean {
  const at = colon - name.length;
  if (text.charCodeAt(at - 1) !== LINE_FEED) return false;
  for (let index = 0; index < name.length; index += 1) {
    // Sets the bit that distinguishes lower from upper case; digits and the hyphen have it already.
    if ((text.charCodeAt(at + index) | 0x20) !== name.charCodeAt(index)) return false;
  }
  return true;
}

function valueBehind(text: string, colon: number): string {
  let start = colon + 1;
  let end = text.indexOf("\r", start);
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(character: number): boolean {
  return character === SPACE || character === TAB;
}

/** Undefined if it contains anything but digits. */
function lengthOf(value: string): number | undefined {
  if (value.length === 0 || value.length > LENGTH_DIGITS_MAX) return undefined;
  let length = 0;
  for (let at = 0; at < value.length; at += 1) {
    const digit = digitAt(value, at);
    if (digit < 0 || digit > 9) return undefined;
    length = length * 10 + digit;
  }
  return length;
}

function digitAt(text: string, at: number): number {
  return text.charCodeAt(at) - ZERO;
}
