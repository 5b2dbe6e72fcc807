import { limits, type ReplyHeaders } from "../core/index.ts";
import { BadReply } from "./bad-reply.ts";

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

/** A status line and headers, each with its line end: no other versions, no folded lines, no control characters. */
const headGrammar =
  /^HTTP\/1\.[01] [1-5]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?\r\n(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;
const closeToken = /(?:^|[\s,])close(?:$|[\s,])/i;
const keepAliveToken = /(?:^|[\s,])keep-alive(?:$|[\s,])/i;
const keepAliveTimeout = /(?:^|[\s,;])timeout\s*=\s*"?(\d{1,9})/i;

/** A larger number could not be represented exactly. */
const decimalLength = /^\d{1,15}$/;

/** The head of a reply: one text. Only the headers that define the framing are parsed. */
export class ReplyHead implements ReplyHeaders {
  readonly status: number;
  /** The length of the body; undefined if the head does not contain it. */
  readonly contentLength: number | undefined;
  readonly isChunked: boolean;
  /** The connection may carry another request once the reply has been read. */
  keepsAlive: boolean;
  readonly contentEncoding: string | undefined;
  readonly #text: string;
  /** The end of each header's name, which makes look-ups of missing headers fast. */
  readonly #colons: number[] = [];

  /** `text` is Latin-1, each line with its line end, without the empty one. Throws `BadReply`. */
  constructor(text: string) {
    if (!headGrammar.test(text)) throw new BadReply("no status line and headers");
    this.#text = text;
    this.status = Number(text.slice(9, 12));
    for (let at = text.indexOf("\n") + 1; at < text.length; at = text.indexOf("\n", at) + 1) {
      this.#colons.push(text.indexOf(":", at));
    }
    this.contentEncoding = this.get("content-encoding") ?? undefined;
    this.contentLength = lengthIn(this.get("content-length"));
    const transfer = this.get("transfer-encoding");
    if (transfer !== null && transfer.toLowerCase() !== "chunked")
      throw new BadReply("a transfer encoding but chunked");
    this.isChunked = transfer !== null;
    const isFirstVersion = text[7] === "0";
    const connection = this.get("connection");
    const isKept = !isFirstVersion || (connection !== null && keepAliveToken.test(connection));
    // If a peer frames a body in two ways, or in a way newer than its version, its end cannot be trusted.
    const isDoubtful = this.isChunked && (isFirstVersion || this.contentLength !== undefined);
    this.keepsAlive = isKept && !(connection !== null && closeToken.test(connection)) && !isDoubtful;
  }

  /** A 204 or 304 has no body, whatever its head contains. */
  get hasBody(): boolean {
    return this.status !== 204 && this.status !== 304;
  }

  /** The keep-alive time announced by the upstream, in milliseconds. */
  get keepAliveMs(): number | undefined {
    const keepAlive = this.get("keep-alive");
    const seconds = keepAlive === null ? undefined : keepAliveTimeout.exec(keepAlive)?.[1];
    return seconds === undefined ? undefined : Number(seconds) * 1_000;
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

/** Intermediaries may join several headers into a list of the same number. */
function lengthIn(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (decimalLength.test(value)) return Number(value);
  let length: number | undefined;
  for (const part of value.split(",")) {
    const digits = part.trim();
    if (!decimalLength.test(digits)) throw new BadReply("a content-length that is no number");
    if ((length ?? Number(digits)) !== Number(digits)) throw new BadReply("several lengths of one body");
    length = Number(digits);
  }
  return length;
}

const headEnd = Buffer.from("\r\n\r\n");
const beginning = "HTTP/1.";

/** Finds the end of a head in bytes that arrive in pieces; usually in the first one, without a copy. */
export class HeadBytes {
  /** The offset after the head in the last read bytes. */
  nextAt = 0;
  #retained: Buffer | null = null;
  #retainedLength = 0;

  get isEmpty(): boolean {
    return this.#retained === null;
  }

  clear(): void {
    this.#retained = null;
    this.#retainedLength = 0;
  }

  /** The head as Latin-1 without its empty line, once it is complete; undefined before. Throws `BadReply`. */
  read(bytes: Buffer, from: number): string | undefined {
    if (this.#retained !== null) return this.#continue(this.#retained, bytes, from);
    const end = bytes.indexOf(headEnd, from);
    if (end - from > limits.replyHeadBytesMax) throw tooLong();
    if (end === -1) {
      this.#retain(Buffer.allocUnsafe(0), bytes, from);
      return undefined;
    }
    this.nextAt = end + headEnd.length;
    return bytes.toString("latin1", from, end + 2);
  }

  #continue(kept: Buffer, bytes: Buffer, from: number): string | undefined {
    const before = this.#retainedLength;
    const joined = this.#retain(kept, bytes, from);
    const end = joined.subarray(0, this.#retainedLength).indexOf(headEnd, Math.max(0, before - headEnd.length + 1));
    if (end === -1) return undefined;
    this.nextAt = from + end + headEnd.length - before;
    this.clear();
    return joined.toString("latin1", 0, end + 2);
  }

  /** Grows by doubling, so a head that arrives byte by byte is not copied for each. */
  #retain(kept: Buffer, bytes: Buffer, from: number): Buffer {
    // The end may be after the bound's last byte; anything after it does not belong to the head.
    const taken = Math.min(bytes.length - from, limits.replyHeadBytesMax + headEnd.length - this.#retainedLength);
    const length = this.#retainedLength + taken;
    let room = kept;
    if (length > kept.length) {
      room = Buffer.allocUnsafe(Math.max(length, 2 * kept.length, 1024));
      room.set(kept.subarray(0, this.#retainedLength));
    }
    room.set(bytes.subarray(from, from + taken), this.#retainedLength);
    this.#retained = room;
    this.#retainedLength = length;
    checkBeginning(room, length);
    const isTooLong = length >= limits.replyHeadBytesMax + headEnd.length;
    if (isTooLong && room.subarray(0, length).indexOf(headEnd) === -1) throw tooLong();
    return room;
  }
}

/** A peer with another protocol is rejected at once. */
function checkBeginning(bytes: Buffer, length: number): void {
  const seen = Math.min(length, beginning.length);
  if (bytes.toString("latin1", 0, seen) !== beginning.slice(0, seen)) throw new BadReply("no status line");
}

function tooLong(): BadReply {
  return new BadReply(`a head of more than ${limits.replyHeadBytesMax} bytes`);
}
