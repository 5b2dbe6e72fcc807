/**
 * Reads HTTP/1.1 messages off a byte stream: the same framing code serves the load generator (answers) and the fixed
 * upstream (requests), so a mistake in it cannot favour one of the proxies.
 *
 *   head ─┬─ fixed ──────────────────────────────┬─ end → head
 *         ├─ chunk-size ⇄ chunk-data/chunk-break ┤
 *         │      └─ trailer ─────────────────────┤
 *         └─ (no body) ──────────────────────────┘
 */
export interface MessageSink {
  /** The start line and the headers, without the blank line. Called once a message. */
  onHead(head: string): void;
  /** A piece of the body with the framing taken off. */
  onBody(piece: Buffer): void;
  onEnd(): void;
}

export type MessageKind = "request" | "response";

const headBytesMax = 64 * 1024;
const contentLengthHeader = /\r\ncontent-length:[ \t]*(\d+)/i;
const chunkedHeader = /\r\ntransfer-encoding:[ \t]*chunked/i;
const headEnd = "\r\n\r\n";

const lineFeed = 0x0a;
const semicolon = 0x3b;
const carriageReturn = 0x0d;

type State = "head" | "fixed" | "chunk-size" | "chunk-data" | "chunk-break" | "trailer";

export class MessageReader {
  readonly #kind: MessageKind;
  readonly #sink: MessageSink;
  #state: State = "head";
  #partialHead: Buffer | null = null;
  #remaining = 0;
  #inChunkExtension = false;
  #chunkDigits = 0;
  #lineLength = 0;

  constructor(kind: MessageKind, sink: MessageSink) {
    this.#kind = kind;
    this.#sink = sink;
  }

  /** True between two messages: a connection that closes now was not cut. */
  get idle(): boolean {
    return this.#state === "head" && this.#partialHead === null;
  }

  /** Takes the next bytes of the connection. Throws an Error on bytes that are no HTTP/1.1 message. */
  push(bytes: Buffer): void {
    let position = 0;
    while (position < bytes.length) position = this.#step(bytes, position);
  }

  #step(bytes: Buffer, position: number): number {
    switch (this.#state) {
      case "head":
        return this.#readHead(bytes, position);
      case "fixed":
        return this.#readFixed(bytes, position);
      case "chunk-size":
        return this.#readChunkSize(bytes, position);
      case "chunk-data":
        return this.#readChunkData(bytes, position);
      case "chunk-break":
        return this.#readChunkBreak(bytes, position);
      case "trailer":
        return this.#readTrailer(bytes, position);
    }
  }

  #readHead(bytes: Buffer, position: number): number {
    if (this.#partialHead !== null) return this.#continueHead(bytes);
    const end = bytes.indexOf(headEnd, position, "latin1");
    if (end < 0) {
      this.#partialHead = Buffer.from(bytes.subarray(position));
      return bytes.length;
    }
    this.#acceptHead(bytes.toString("latin1", position, end));
    return end + headEnd.length;
  }

  #continueHead(bytes: Buffer): number {
    const before = this.#partialHead ?? Buffer.alloc(0);
    const joined = Buffer.concat([before, bytes]);
    const end = joined.indexOf(headEnd, Math.max(0, before.length - headEnd.length), "latin1");
    if (end < 0) {
      if (joined.length > headBytesMax) throw new Error("a message head of more than 64 KiB");
      this.#partialHead = joined;
      return bytes.length;
    }
    this.#partialHead = null;
    this.#acceptHead(joined.toString("latin1", 0, end));
    return end + headEnd.length - before.length;
  }

  #acceptHead(head: string): void {
    this.#sink.onHead(head);
    if (chunkedHeader.test(head)) {
      this.#startChunk();
      return;
    }
    const length = contentLengthHeader.exec(head)?.[1];
    if (length === undefined && this.#kind === "response") {
      throw new Error("an answer with neither content-length nor chunked encoding");
    }
    this.#remaining = Number(length ?? 0);
    if (this.#remaining === 0) this.#finish();
    else this.#state = "fixed";
  }

  #readFixed(bytes: Buffer, position: number): number {
    const end = Math.min(bytes.length, position + this.#remaining);
    this.#remaining -= end - position;
    this.#sink.onBody(position === 0 && end === bytes.length ? bytes : bytes.subarray(position, end));
    if (this.#remaining === 0) this.#finish();
    return end;
  }

  #startChunk(): void {
    this.#state = "chunk-size";
    this.#remaining = 0;
    this.#chunkDigits = 0;
    this.#inChunkExtension = false;
  }

  #readChunkSize(bytes: Buffer, position: number): number {
    for (let index = position; index < bytes.length; index += 1) {
      const byte = bytes[index] ?? 0;
      if (byte === lineFeed) {
        this.#acceptChunkSize();
        return index + 1;
      }
      if (byte === semicolon) this.#inChunkExtension = true;
      else if (byte !== carriageReturn && !this.#inChunkExtension) this.#addChunkDigit(byte);
    }
    return bytes.length;
  }

  #addChunkDigit(byte: number): void {
    const digit = Number.parseInt(String.fromCharCode(byte), 16);
    if (Number.isNaN(digit)) throw new Error("a chunk size that is not hexadecimal");
    this.#chunkDigits += 1;
    this.#remaining = this.#remaining * 16 + digit;
  }

  #acceptChunkSize(): void {
    if (this.#chunkDigits === 0) throw new Error("a chunk without a size");
    this.#lineLength = 0;
    this.#state = this.#remaining === 0 ? "trailer" : "chunk-data";
  }

  #readChunkData(bytes: Buffer, position: number): number {
    const end = Math.min(bytes.length, position + this.#remaining);
    this.#remaining -= end - position;
    this.#sink.onBody(bytes.subarray(position, end));
    if (this.#remaining === 0) this.#state = "chunk-break";
    return end;
  }

  #readChunkBreak(bytes: Buffer, position: number): number {
    const byte = bytes[position];
    if (byte === lineFeed) this.#startChunk();
    else if (byte !== carriageReturn) throw new Error("a chunk longer than its size");
    return position + 1;
  }

  #readTrailer(bytes: Buffer, position: number): number {
    const byte = bytes[position];
    if (byte === lineFeed) {
      if (this.#lineLength === 0) this.#finish();
      this.#lineLength = 0;
    } else if (byte !== carriageReturn) {
      this.#lineLength += 1;
    }
    return position + 1;
  }

  #finish(): void {
    // The state goes first: the sink may answer or send the next request from inside the call.
    this.#state = "head";
    this.#sink.onEnd();
  }
}
