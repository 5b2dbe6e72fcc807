import type { ContentSink } from "../charges/index.ts";

/** A body, or an answer, of more bytes is left out: to write it into a span it is parsed once more. */
const BYTES_MAX = 1024 * 1024;

/** The content of all calls that are under way; beyond it the oldest is left out. */
const TOTAL_BYTES_MAX = 32 * 1024 * 1024;

/** The content of one call; a part that was too large is undefined. */
export interface CallContent {
  body: Uint8Array | undefined;
  answer: Uint8Array | undefined;
}

/** The content of calls until they end. */
export class ContentStore {
  readonly #calls = new Map<string, OpenContent>();
  #bytes = 0;

  open(id: string, body: Uint8Array): ContentSink {
    const content = new OpenContent(body, (bytes) => this.#count(bytes));
    this.#calls.set(id, content);
    this.#count(content.bytes);
    return content;
  }

  /** The content of a call, which is forgotten here. */
  take(id: string): CallContent | undefined {
    const content = this.#calls.get(id);
    if (content === undefined) return undefined;
    this.#calls.delete(id);
    this.#bytes -= content.bytes;
    return content.close();
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    while (this.#bytes > TOTAL_BYTES_MAX) this.take(this.#calls.keys().next().value ?? "");
  }
}

class OpenContent implements ContentSink {
  bytes = 0;
  readonly #body: Uint8Array | undefined;
  readonly #onGrown: (bytes: number) => void;
  #pieces: Uint8Array[] | undefined = [];
  #answerBytes = 0;
  #isClosed = false;

  constructor(body: Uint8Array, onGrown: (bytes: number) => void) {
    this.#body = body.length > BYTES_MAX ? undefined : body;
    this.bytes = this.#body?.length ?? 0;
    this.#onGrown = onGrown;
  }

  add(piece: Uint8Array): void {
    if (this.#isClosed || this.#pieces === undefined) return;
    this.#answerBytes += piece.length;
    if (this.#answerBytes > BYTES_MAX) {
      this.#pieces = undefined;
      return;
    }
    this.#pieces.push(piece);
    this.bytes += piece.length;
    this.#onGrown(piece.length);
  }

  close(): CallContent {
    this.#isClosed = true;
    return { body: this.#body, answer: this.#pieces && Buffer.concat(this.#pieces) };
  }
}
