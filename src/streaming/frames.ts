/**
 * Messages with bytes on a pipe. Bun's own channel between processes decodes a message in one go: 20 MB of it held up
 * the gateway's thread for 60 to 120 ms. Here the bytes are copied piece by piece, as they arrive.
 *
 *   frame: number of parts | length of the text | length of each part | text | parts      (numbers: 4 bytes, big-endian)
 */

const WORD_BYTES = 4;

export interface FrameBounds {
  /** Bytes of a frame. */
  bytesMax: number;
  partsMax: number;
}

export interface Frame {
  text: string;
  parts: readonly Uint8Array[];
}

/** Bytes of a piece. To write 50 MB in one go held up the gateway's thread for 60 ms, in such pieces for 2. */
const PIECE_BYTES = 1024 * 1024;

/** The pieces of a frame, in their order. */
export function frameOf({ text, parts }: Frame): Uint8Array[] {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc((2 + parts.length) * WORD_BYTES);
  [parts.length, bytes.length, ...parts.map(({ length }) => length)].forEach((number, at) =>
    head.writeUInt32BE(number, at * WORD_BYTES),
  );
  return [head, bytes, ...parts].flatMap(divided);
}

function divided(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / PIECE_BYTES);
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES));
}

/** Takes a stream of frames apart, whatever pieces it arrives in. Throws if a frame exceeds its bounds. */
export class FrameReader {
  readonly #bounds: FrameBounds;
  readonly #onFrame: (frame: Frame) => void;
  /** The part that the next bytes belong to, and how much of it has arrived. */
  #current = Buffer.alloc(2 * WORD_BYTES);
  #filled = 0;
  /** The current frame; undefined while its head arrives. */
  #lengths: number[] | undefined;
  #received: Buffer[] = [];

  constructor(bounds: FrameBounds, onFrame: (frame: Frame) => void) {
    this.#bounds = bounds;
    this.#onFrame = onFrame;
  }

  push(bytes: Uint8Array): void {
    let at = 0;
    do {
      const taken = bytes.subarray(at, at + this.#current.length - this.#filled);
      this.#current.set(taken, this.#filled);
      this.#filled += taken.length;
      at += taken.length;
      while (this.#filled === this.#current.length) this.#complete();
    } while (at < bytes.length);
  }

  #complete(): void {
    const complete = this.#current;
    if (this.#lengths === undefined) return this.#completeHead(complete);
    this.#received.push(complete);
    const next = this.#lengths[this.#received.length];
    if (next !== undefined) return this.#await(next);
    const [text = Buffer.alloc(0), ...parts] = this.#received;
    this.#lengths = undefined;
    this.#received = [];
    this.#await(2 * WORD_BYTES);
    this.#onFrame({ text: text.toString(), parts });
  }

  #completeHead(head: Buffer): void {
    const count = head.readUInt32BE(0);
    if (count > this.#bounds.partsMax) throw new RangeError(`a frame has ${count} parts`);
    const wholeBytes = (2 + count) * WORD_BYTES;
    if (head.length < wholeBytes) {
      this.#await(wholeBytes);
      this.#current.set(head);
      this.#filled = head.length;
      return;
    }
    const lengths = Array.from({ length: count + 1 }, (_, at) => head.readUInt32BE((1 + at) * WORD_BYTES));
    const sum = lengths.reduce((total, length) => total + length, 0);
    if (sum > this.#bounds.bytesMax) throw new RangeError(`a frame has ${sum} bytes`);
    this.#lengths = lengths;
    this.#await(lengths[0] ?? 0);
  }

  #await(bytes: number): void {
    this.#current = Buffer.allocUnsafeSlow(bytes);
    this.#filled = 0;
  }
}
