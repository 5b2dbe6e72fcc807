import { limits } from "../core/index.ts";
import { BadReply } from "./bad-reply.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const COLON = 0x3a;
const SEMICOLON = 0x3b;
const SPACE = 0x20;
const TAB = 0x09;

const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]/;

/** Hexadecimal digits of a size: a larger one could not be represented exactly. */
const SIZE_DIGITS_MAX = 13;

/**
 * Decodes the chunked transfer encoding:
 *
 *   size → (size-blank →) (extension →) size-end → data → data-end → data-break → size …
 *                                └─ of size 0 → trailer → trailer-name → trailer-value → trailer … → over
 */
type State =
  | "size"
  | "size-blank"
  | "extension"
  | "size-end"
  | "data"
  | "data-end"
  | "data-break"
  | "trailer"
  | "trailer-name"
  | "trailer-value"
  | "over";

export class ChunkReader {
  /** The range of the last read bytes that contains body data, in one piece; empty if both are equal. */
  pieceAt = 0;
  pieceEnd = 0;
  /** The offset after the body in the last read bytes. */
  nextAt = 0;
  #state: State = "size";
  /** Of the current chunk: its size so far, then its remaining bytes. */
  #remaining = 0;
  #digits = 0;
  /** The bytes of the current line, or of all trailers. */
  #lineBytes = 0;
  #lastByte = 0;

  get isOver(): boolean {
    return this.#state === "over";
  }

  start(): void {
    this.#state = "size";
    this.#startSize();
  }

  /**
   * Finds the body data in the bytes from that offset. Chunks are moved together within the bytes, because an upstream
   * may send each event as a chunk. Throws `BadReply`.
   */
  read(bytes: Buffer, from: number): void {
    let start = from;
    let end = from;
    let at = from;
    while (at < bytes.length && this.#state !== "over") {
      if (this.#state !== "data") {
        at = this.#step(bytes[at] ?? 0, at);
        continue;
      }
      const next = Math.min(bytes.length, at + this.#remaining);
      this.#remaining -= next - at;
      if (this.#remaining === 0) this.#state = "data-end";
      if (start === end) {
        start = at;
        end = next;
      } else {
        bytes.copyWithin(end, at, next);
        end += next - at;
      }
      at = next;
    }
    this.pieceAt = start;
    this.pieceEnd = end;
    this.nextAt = at;
  }

  #startSize(): void {
    this.#remaining = 0;
    this.#digits = 0;
    this.#lineBytes = 0;
  }

  /** Processes one byte outside the data. */
  #step(byte: number, at: number): number {
    switch (this.#state) {
      case "size":
        this.#readSize(byte);
        break;
      case "size-blank":
        this.#readBlank(byte);
        break;
      case "extension":
        this.#readExtension(byte);
        break;
      case "size-end":
        if (byte !== LINE_FEED) throw new BadReply("a chunk's size without a line end");
        this.#state = this.#remaining === 0 ? "trailer" : "data";
        this.#lineBytes = 0;
        this.#lastByte = 0;
        break;
      case "data-end":
        if (byte !== CARRIAGE_RETURN) throw new BadReply("a chunk that is longer than its size");
        this.#state = "data-break";
        break;
      case "data-break":
        if (byte !== LINE_FEED) throw new BadReply("a chunk that is longer than its size");
        this.#state = "size";
        this.#startSize();
        break;
      case "trailer":
      case "trailer-name":
      case "trailer-value":
        this.#readTrailer(byte);
        break;
      case "data":
      case "over":
    }
    return at + 1;
  }

  #readSize(byte: number): void {
    const digit = hexadecimal(byte);
    if (digit !== -1) {
      this.#digits += 1;
      if (this.#digits > SIZE_DIGITS_MAX) throw new BadReply("a chunk's size that is too long");
      this.#remaining = this.#remaining * 16 + digit;
      return;
    }
    if (this.#digits === 0) throw new BadReply("a chunk without a size");
    if (byte === CARRIAGE_RETURN) this.#state = "size-end";
    else if (byte === SEMICOLON) this.#state = "extension";
    else if (byte === SPACE || byte === TAB) this.#state = "size-blank";
    else throw new BadReply("a chunk's size that is no number");
  }

  #readBlank(byte: number): void {
    this.#lineBytes += 1;
    if (this.#lineBytes > limits.chunkLineBytesMax) throw new BadReply("a chunk's size that is too long");
    if (byte === CARRIAGE_RETURN) this.#state = "size-end";
    else if (byte === SEMICOLON) this.#state = "extension";
    else if (byte !== SPACE && byte !== TAB) throw new BadReply("a chunk's size that is no number");
  }

  #readExtension(byte: number): void {
    this.#lineBytes += 1;
    if (this.#lineBytes > limits.chunkLineBytesMax) throw new BadReply("a chunk's extension that is too long");
    if (byte === CARRIAGE_RETURN) this.#state = "size-end";
    else if (byte === LINE_FEED) throw new BadReply("a chunk's size without a line end");
  }

  /** Trailers are ignored: nothing reads them. */
  #readTrailer(byte: number): void {
    this.#lineBytes += 1;
    if (this.#lineBytes > limits.replyHeadBytesMax) throw new BadReply("trailers that are too long");
    const isLineEnd = byte === LINE_FEED;
    if (isLineEnd !== (this.#lastByte === CARRIAGE_RETURN)) throw new BadReply("a trailer without a line end");
    this.#lastByte = byte;
    if (isLineEnd) {
      this.#state = this.#state === "trailer" ? "over" : "trailer";
    } else if (byte === COLON && this.#state === "trailer-name") {
      this.#state = "trailer-value";
    } else if (this.#state !== "trailer-value" && (byte !== CARRIAGE_RETURN || this.#state === "trailer-name")) {
      // Anything else may be the next reply of a connection that has lost its bounds.
      if (!isTokenByte(byte)) throw new BadReply("a trailer that is no header");
      this.#state = "trailer-name";
    }
  }
}

/** Whether a header's name may contain it. */
function isTokenByte(byte: number): boolean {
  return TOKEN.test(String.fromCharCode(byte));
}

/** -1 if it is not a digit. */
function hexadecimal(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
