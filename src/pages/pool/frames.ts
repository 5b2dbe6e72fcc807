/**
 * Messages between the gateway and a child, on the child's standard input and output: two lengths of four bytes each, a
 * header as JSON, and raw bytes. Documents and texts cross as they are, not as JSON.
 */
export interface PoolMessage {
  header: unknown;
  body: Uint8Array;
}

/** Bytes of one message: more than any result of a document within its bounds. */
const frameBytesMax = 512 * 1024 * 1024;

const prefixBytes = 8;

/** The parts of one message, in order. */
export function encodeFrame(header: unknown, body: readonly Uint8Array[]): Uint8Array[] {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const prefix = new Uint8Array(prefixBytes);
  const view = new DataView(prefix.buffer);
  view.setUint32(0, json.length);
  view.setUint32(
    4,
    body.reduce((sum, { length }) => sum + length, 0),
  );
  return [prefix, json, ...body];
}

/** Puts messages together from the pieces in which they arrive. */
export class MessageReader {
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #wanted = prefixBytes;

  /** @throws Error for a message above `frameBytesMax`. */
  *push(piece: Uint8Array): Generator<PoolMessage> {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    while (this.#bytes >= this.#wanted) {
      const bytes = this.#join();
      const view = new DataView(bytes.buffer, bytes.byteOffset);
      const headerEnd = prefixBytes + view.getUint32(0);
      const end = headerEnd + view.getUint32(4);
      if (end > frameBytesMax) throw new Error("a message is too long");
      if (bytes.length < end) {
        this.#wanted = end;
        return;
      }
      this.#keep(bytes.subarray(end));
      yield {
        header: JSON.parse(new TextDecoder().decode(bytes.subarray(prefixBytes, headerEnd))),
        body: bytes.subarray(headerEnd, end),
      };
    }
  }

  #join(): Uint8Array {
    const [only] = this.#pieces;
    const bytes = this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces, this.#bytes);
    this.#pieces = [bytes];
    return bytes;
  }

  #keep(rest: Uint8Array): void {
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    this.#wanted = prefixBytes;
  }
}
