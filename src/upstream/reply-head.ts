import type { ReplyHeaders } from "../core/index.ts";
import { BadReply } from "./bad-reply.ts";

const COLON = 0x3a;
const SPACE = 0x20;
const TAB = 0x09;
const ZERO = 0x30;

/** A status line and headers, each line with its line end: no other versions, no folded lines, no control characters. */
const headGrammar =
  /^HTTP\/1\.[01] [1-5]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?\r\n(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;
const decimal = /^\d{1,15}$/;
const closeToken = /(?:^|[\s,])close(?:$|[\s,])/i;
const keepAliveToken = /(?:^|[\s,])keep-alive(?:$|[\s,])/i;
const keepAliveTimeout = /(?:^|[\s,;])timeout\s*=\s*"?(\d{1,9})/i;

/** The head of a reply: one text, of which only those headers are taken apart that say how the reply is framed. */
export class ReplyHead implements ReplyHeaders {
  readonly status: number;
  /** Of the body; undefined where the head does not say. */
  contentLength: number | undefined;
  isChunked = false;
  /** The connection may carry another request once the reply has been read. */
  keepsAlive: boolean;
  contentEncoding: string | undefined;
  /** How long the upstream keeps the connection, as it says. */
  keepAliveMs: number | undefined;
  readonly #text: string;
  readonly #fieldsAt: number;
  #saysClose = false;
  #saysKeepAlive = false;

  /** `text` as latin1, each line with its line end, without the empty one. Throws `BadReply`. */
  constructor(text: string) {
    if (!headGrammar.test(text)) throw new BadReply("no status line and headers");
    this.#text = text;
    this.status = Number(text.slice(9, 12));
    this.#fieldsAt = text.indexOf("\n") + 1;
    for (let at = this.#fieldsAt; at < text.length;) at = this.#readField(at);
    const isFirstVersion = text.charCodeAt(7) === ZERO;
    // Whoever frames a body in two ways, or in one that came after his version, is not trusted with where it ends.
    const isDoubtful = this.isChunked && (isFirstVersion || this.contentLength !== undefined);
    this.keepsAlive = (!isFirstVersion || this.#saysKeepAlive) && !this.#saysClose && !isDoubtful;
  }

  /** A 204 or 304 has no body, whatever its head says. */
  get hasBody(): boolean {
    return this.status !== 204 && this.status !== 304;
  }

  get(name: string): string | null {
    const text = this.#text;
    let found: string | null = null;
    for (let at = this.#fieldsAt; at < text.length; at = text.indexOf("\n", at) + 1) {
      if (!isNamed(text, at, name)) continue;
      const value = valueFrom(text, at + name.length + 1);
      found = found === null ? value : `${found}, ${value}`;
    }
    return found;
  }

  /** Reads the header that begins there; returns where the next one does. */
  #readField(at: number): number {
    const text = this.#text;
    const colon = text.indexOf(":", at);
    switch (colon - at) {
      case "connection".length:
        if (isNamed(text, at, "connection")) this.#readConnection(valueFrom(text, colon + 1));
        else if (isNamed(text, at, "keep-alive")) this.#readKeepAlive(valueFrom(text, colon + 1));
        break;
      case "content-length".length:
        if (isNamed(text, at, "content-length")) this.#readLength(valueFrom(text, colon + 1));
        break;
      case "content-encoding".length:
        if (isNamed(text, at, "content-encoding")) this.contentEncoding = valueFrom(text, colon + 1);
        break;
      case "transfer-encoding".length:
        if (isNamed(text, at, "transfer-encoding")) this.#readTransfer(valueFrom(text, colon + 1));
        break;
      default:
    }
    return text.indexOf("\n", colon) + 1;
  }

  #readConnection(value: string): void {
    if (closeToken.test(value)) this.#saysClose = true;
    if (keepAliveToken.test(value)) this.#saysKeepAlive = true;
  }

  #readKeepAlive(value: string): void {
    const seconds = keepAliveTimeout.exec(value)?.[1];
    if (seconds !== undefined) this.keepAliveMs = Number(seconds) * 1_000;
  }

  #readLength(value: string): void {
    // A list of the same number is what becomes of several headers on their way.
    if (value.includes(",")) {
      for (const part of value.split(",")) this.#readLength(part.trim());
      return;
    }
    if (!decimal.test(value)) throw new BadReply("a content-length that is no number");
    const length = Number(value);
    if ((this.contentLength ?? length) !== length) throw new BadReply("several lengths of one body");
    this.contentLength = length;
  }

  #readTransfer(value: string): void {
    if (this.isChunked || value.toLowerCase() !== "chunked") throw new BadReply("a transfer encoding but chunked");
    this.isChunked = true;
  }
}

/** Whether the line that begins there is of the header. No name holds a colon, so that no comparison leaves its line. */
function isNamed(text: string, at: number, name: string): boolean {
  if (text.charCodeAt(at + name.length) !== COLON) return false;
  for (let index = 0; index < name.length; index += 1) {
    // Sets the bit that tells small letters from capitals; digits and the hyphen have it.
    if ((text.charCodeAt(at + index) | 0x20) !== name.charCodeAt(index)) return false;
  }
  return true;
}

function valueFrom(text: string, from: number): string {
  let start = from;
  let end = text.indexOf("\r", from);
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(character: number): boolean {
  return character === SPACE || character === TAB;
}
