import { limits } from "../core/index.ts";
import { BadReply } from "./bad-reply.ts";
import { ChunkReader } from "./chunk-reader.ts";
import { HeadBytes, ReplyHead } from "./reply-head.ts";

/**
 * Reads one reply after the other from the bytes of a connection:
 *
 *   head (→ head after each 1xx) ─┬─ fixed | chunked ──┬─ over
 *                                 ├─ (no body) ────────┤
 *                                 └─ until-close ──────┘ `close`
 */
type State = "head" | "fixed" | "chunked" | "until-close" | "over";

/** Up to this size a copy is cheaper than the first view of bytes, which allocates an object for their memory. */
const COPIED_BYTES_MAX = 2_048;

export class ReplyReader {
  /** Set once it has arrived. */
  head: ReplyHead | null = null;
  /** Bytes of any kind have arrived for the current reply. */
  hasBytes = false;
  /** Bytes have arrived after the end of the reply. */
  hasExcess = false;
  #state: State = "head";
  /** The remaining bytes of a body with a known length. */
  #remaining = 0;
  #interim = 0;
  readonly #headBytes = new HeadBytes();
  readonly #chunks = new ChunkReader();

  get isOver(): boolean {
    return this.#state === "over";
  }

  /** Prepares for the next reply. */
  start(): void {
    this.head = null;
    this.hasBytes = false;
    this.hasExcess = false;
    this.#state = "head";
    this.#interim = 0;
    this.#headBytes.clear();
  }

  /** The body data within the next bytes, in one piece. The reader owns the bytes from now on. Throws `BadReply`. */
  read(bytes: Buffer): Buffer | undefined {
    this.hasBytes = true;
    let at = 0;
    while (this.#state === "head") {
      const text = this.#headBytes.read(bytes, at);
      if (text === undefined) return undefined;
      at = this.#headBytes.nextAt;
      this.#readHead(text);
    }
    return this.#readBody(bytes, at);
  }

  /** The upstream has closed the connection. Returns true if that ends the reply. */
  close(): boolean {
    if (this.#state !== "until-close") return false;
    this.#state = "over";
    return true;
  }

  #readHead(text: string): void {
    const head = new ReplyHead(text);
    if (head.status >= 200) {
      this.head = head;
      this.#state = this.#startBody(head);
      return;
    }
    // No request offers to change the protocol.
    if (head.status === 101) throw new BadReply("a change of protocol");
    this.#interim += 1;
    if (this.#interim > limits.interimRepliesMax) throw new BadReply("too many interim replies");
  }

  #startBody(head: ReplyHead): State {
    if (!head.hasBody) return "over";
    if (head.isChunked) {
      this.#chunks.start();
      return "chunked";
    }
    if (head.contentLength === undefined) {
      head.keepsAlive = false;
      return "until-close";
    }
    this.#remaining = head.contentLength;
    return head.contentLength === 0 ? "over" : "fixed";
  }

  #readBody(bytes: Buffer, at: number): Buffer | undefined {
    switch (this.#state) {
      case "chunked":
        return this.#readChunks(bytes, at);
      case "fixed":
        return this.#readFixed(bytes, at);
      case "until-close":
        return this.#piece(bytes, at, bytes.length);
      case "head":
      case "over":
        this.hasExcess = at < bytes.length;
        return undefined;
    }
  }

  #readChunks(bytes: Buffer, at: number): Buffer | undefined {
    const chunks = this.#chunks;
    chunks.read(bytes, at);
    if (chunks.isOver) this.#end(bytes, chunks.nextAt);
    return this.#piece(bytes, chunks.pieceAt, chunks.pieceEnd);
  }

  #readFixed(bytes: Buffer, at: number): Buffer | undefined {
    const end = Math.min(bytes.length, at + this.#remaining);
    this.#remaining -= end - at;
    if (this.#remaining === 0) this.#end(bytes, end);
    return this.#piece(bytes, at, end);
  }

  #piece(bytes: Buffer, from: number, to: number): Buffer | undefined {
    if (from === to) return undefined;
    if (from === 0 && to === bytes.length) return bytes;
    // A stream is split further and needs views in any case.
    return this.isOver && to - from <= COPIED_BYTES_MAX ? copied(bytes, from, to) : bytes.subarray(from, to);
  }

  #end(bytes: Buffer, at: number): void {
    this.#state = "over";
    this.hasExcess = at < bytes.length;
  }
}

function copied(bytes: Buffer, from: number, to: number): Buffer {
  const copy = Buffer.allocUnsafe(to - from);
  bytes.copy(copy, 0, from, to);
  return copy;
}
