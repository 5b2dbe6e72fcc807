/**
 * Finds the positions of a form's parts in its bytes, in one pass over pieces of any size.
 *
 *   preamble ─▶ delimiter ─▶ header ─▶ content ─▶ delimiter … ─▶ closing ─▶ epilogue
 *
 * The boundary is significant wherever it occurs: unless it is a line of its own, ended as RFC 2046 demands, the form
 * is refused. Readers of forms differ in each such case (a bare line feed before it, blanks or other characters after
 * it), and each difference would let a client show the gateway another field than the upstream. It also keeps the
 * search linear: each match is the last one, or a delimiter.
 */
import { type GatewayError, limits } from "../../core/index.ts";
import { parsePartHeader, type PartHeader } from "./part-header.ts";
import { invalidForm, invalidPart } from "./refusals.ts";

/** A part and its position: offsets into the body. */
export interface ScannedPart extends PartHeader {
  /** The offset of the dashes that begin its delimiter. */
  readonly start: number;
  readonly headerStart: number;
  readonly contentStart: number;
  readonly contentEnd: number;
}

const CR = 0x0d;
const LF = 0x0a;
const LINE_BREAK = "\r\n";
const BLANK_LINE = "\r\n\r\n";

type State = "preamble" | "delimiter" | "header" | "content" | "closing" | "epilogue";

export class FormScanner {
  readonly parts: ScannedPart[] = [];
  readonly #boundary: Buffer;
  #state: State = "preamble";
  /** Received bytes that have not been processed. The body is treated as if a line had ended before it. */
  #window: Buffer = Buffer.from(LINE_BREAK);
  /** The window's offset in the body. */
  #offset = -LINE_BREAK.length;
  #at = 0;
  /** The start of the current part, and its known properties. */
  #partStart = 0;
  #header = "";
  #headerStart = 0;
  #contentStart = 0;
  #part: PartHeader | undefined;
  /** The number of bytes of headers and plain fields so far. */
  #readBytes = 0;

  constructor(boundary: string) {
    this.#boundary = Buffer.from(`--${boundary}`, "latin1");
  }

  /** Throws a 422 as soon as the form is known to be invalid. */
  push(chunk: Uint8Array): void {
    const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    // Only the seam is copied: the unprocessed rest is shorter than that.
    const seam = 2 * this.#boundary.length + BLANK_LINE.length;
    this.#scan(Buffer.concat([this.#window.subarray(this.#at), piece.subarray(0, seam)]));
    if (piece.length <= seam) return;
    this.#scan(piece.subarray(seam - (this.#window.length - this.#at)));
  }

  /** The end of the body. Throws a 422 if the form is incomplete. */
  end(): void {
    const isWhole = this.#state === "epilogue" || (this.#state === "closing" && this.#at === this.#window.length);
    if (isWhole) return;
    if (this.#part === undefined) throw invalidForm("The form breaks off: its final boundary is missing.");
    throw invalidPart(this.#part.name, "breaks off: the final boundary is missing.");
  }

  /** `window` begins with the unprocessed bytes. */
  #scan(window: Buffer): void {
    this.#offset += this.#at;
    this.#window = window;
    this.#at = 0;
    while (this.#step());
  }

  /** Whether the state changed; otherwise more bytes are needed. */
  #step(): boolean {
    switch (this.#state) {
      case "preamble":
        return this.#skipPreamble();
      case "delimiter":
        return this.#readDelimiterEnd();
      case "header":
        return this.#readHeader();
      case "content":
        return this.#readContent();
      case "closing":
        return this.#readClosingEnd();
      case "epilogue":
        return this.#skipEpilogue();
    }
  }

  #skipPreamble(): boolean {
    const found = this.#findBoundary();
    if (found === undefined) return false;
    if (!this.#isBehindLineBreak(found)) throw this.#strayBoundary();
    return this.#beginDelimiter(found);
  }

  #beginDelimiter(found: number): true {
    this.#partStart = this.#offset + found;
    this.#at = found + this.#boundary.length;
    this.#state = "delimiter";
    return true;
  }

  #readDelimiterEnd(): boolean {
    if (this.#window.length - this.#at < LINE_BREAK.length) return false;
    const ending = this.#window.toString("latin1", this.#at, this.#at + LINE_BREAK.length);
    if (ending === "--") {
      this.#part = undefined;
      this.#at += ending.length;
      this.#state = "closing";
      return true;
    }
    if (ending !== LINE_BREAK) throw this.#strayBoundary();
    if (this.parts.length === limits.formPartsMax) {
      throw invalidForm(`The form has more than ${limits.formPartsMax} parts.`);
    }
    // The line break stays: if another one follows directly, there is no header.
    this.#part = undefined;
    this.#header = "";
    this.#headerStart = this.#offset + this.#at + LINE_BREAK.length;
    this.#state = "header";
    return true;
  }

  #readHeader(): boolean {
    const room = limits.formHeaderBytesMax + LINE_BREAK.length - this.#header.length;
    const searched = this.#window.subarray(this.#at, this.#at + room + BLANK_LINE.length);
    const found = searched.indexOf(BLANK_LINE);
    const taken = found < 0 ? Math.max(searched.length - BLANK_LINE.length + 1, 0) : found;
    if (taken > room) {
      const { length } = this.parts;
      throw invalidForm(
        `The headers of part ${length + 1} of the form are over ${limits.formHeaderBytesMax} bytes.`,
        `parts.${length}`,
      );
    }
    this.#header += searched.toString("latin1", 0, taken);
    this.#at += taken;
    if (found < 0) return false;
    this.#part = parsePartHeader(this.#header.slice(LINE_BREAK.length), this.parts.length);
    this.#countRead(this.#part.name, this.#header.length);
    this.#at += BLANK_LINE.length;
    this.#contentStart = this.#offset + this.#at;
    this.#state = "content";
    return true;
  }

  #readContent(): boolean {
    const part = this.#part;
    if (part === undefined) throw new Error("content outside of a part");
    const found = this.#findBoundary();
    const contentEnd = this.#offset + (found === undefined ? this.#at : found - LINE_BREAK.length);
    const size = contentEnd - this.#contentStart;
    if (found !== undefined && (size < 0 || !this.#isBehindLineBreak(found))) throw this.#strayBoundary();
    if (part.filename === undefined && size > limits.formTextBytesMax) {
      throw invalidPart(
        part.name,
        `is over the limit of ${limits.formTextBytesMax} bytes for a field that is no file.`,
      );
    }
    if (found === undefined) return false;
    this.#endPart(part, contentEnd);
    return this.#beginDelimiter(found);
  }

  #endPart(part: PartHeader, contentEnd: number): void {
    const size = contentEnd - this.#contentStart;
    if (part.declared !== undefined && part.declared.size !== size) {
      throw invalidPart(part.name, "is not as long as its Content-Length says.");
    }
    if (part.filename === undefined) this.#countRead(part.name, size);
    this.parts.push({
      ...part,
      start: this.#partStart,
      headerStart: this.#headerStart,
      contentStart: this.#contentStart,
      contentEnd,
    });
  }

  #readClosingEnd(): boolean {
    if (this.#window.length - this.#at < LINE_BREAK.length) return false;
    if (this.#window[this.#at] !== CR || this.#window[this.#at + 1] !== LF) throw this.#strayBoundary();
    this.#at += LINE_BREAK.length;
    this.#state = "epilogue";
    return true;
  }

  #skipEpilogue(): false {
    if (this.#findBoundary() !== undefined) throw this.#strayBoundary();
    return false;
  }

  /**
   * The boundary's index in the window. Without a match, everything is processed except a possible beginning of it and
   * the line break before.
   */
  #findBoundary(): number | undefined {
    const found = this.#window.indexOf(this.#boundary, this.#at);
    if (found >= 0) return found;
    const left = this.#boundary.length - 1 + LINE_BREAK.length;
    this.#at = Math.max(this.#at, this.#window.length - left);
    return undefined;
  }

  #isBehindLineBreak(index: number): boolean {
    return this.#window[index - 2] === CR && this.#window[index - 1] === LF;
  }

  #countRead(name: string, size: number): void {
    this.#readBytes += size;
    if (this.#readBytes <= limits.formReadBytesMax) return;
    throw invalidPart(name, `brings headers and fields that are no files over ${limits.formReadBytesMax} bytes.`);
  }

  #strayBoundary(): GatewayError {
    const what = "holds the boundary in another way than as a line of its own, ended by CR LF.";
    return this.#part === undefined ? invalidForm(`The form ${what}`) : invalidPart(this.#part.name, what);
  }
}
