/** The bytes to send: the head in two pieces, as Latin-1 with the empty line at its end, and the pieces of the body. */
export interface OutgoingRequest {
  readonly opening: string;
  readonly ending: string;
  readonly pieces: readonly Uint8Array[];
  readonly bodyBytes: number;
}

/** A body in memory; pieces follow each other. */
export type WholeBody = string | Uint8Array | readonly Uint8Array[];

export function piecesOf(body: WholeBody | undefined): readonly Uint8Array[] {
  if (body === undefined) return NOTHING;
  if (typeof body === "string") return [Buffer.from(body)];
  return body instanceof Uint8Array ? [body] : body;
}

export function bytesOf(pieces: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const piece of pieces) bytes += piece.length;
  return bytes;
}

/** The part of a socket that the writer uses; `write` returns the number of accepted bytes, or -1 if it is closed. */
interface Writable {
  write(bytes: Uint8Array, from: number, length: number): number;
}

/** Bodies up to this size are appended to the head; longer ones follow without a copy, in separate writes. */
const JOINED_BYTES_MAX = 64 * 1024;

const NOTHING: readonly Uint8Array[] = [];

/** Smaller pieces of a longer body are written together. */
const SMALL_PIECE_BYTES_MAX = 4 * 1024;

/** The size of usual heads. */
const HEAD_BYTES = 8 * 1024;

/** The buffer in which all requests are assembled. Bytes that a socket does not accept at once are copied. */
const shared = Buffer.allocUnsafeSlow(HEAD_BYTES + JOINED_BYTES_MAX);

/** Writes one request after the other, each as fast as the socket accepts it. */
export class RequestWriter {
  /** Bytes that the socket has not accepted yet. */
  #pending: Uint8Array | undefined;
  /** The following pieces, and the number of written ones. */
  #next: readonly Uint8Array[] = NOTHING;
  #written = 0;
  #hasWritten = false;

  /** Whether the socket has accepted a byte of the current request. */
  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  get isDone(): boolean {
    return this.#pending === undefined;
  }

  /** False if the socket is closed. */
  start(socket: Writable, request: OutgoingRequest): boolean {
    this.#pending = undefined;
    this.#hasWritten = false;
    const { opening, ending, pieces, bodyBytes } = request;
    const headBytes = opening.length + ending.length;
    const isJoined = bodyBytes <= JOINED_BYTES_MAX;
    const length = headBytes + (isJoined ? bodyBytes : 0);
    const bytes = length <= shared.length ? shared : Buffer.allocUnsafe(length);
    bytes.write(opening, 0, "latin1");
    bytes.write(ending, opening.length, "latin1");
    if (isJoined) {
      putPieces(bytes, headBytes, pieces);
      this.#next = NOTHING;
      return this.#write(socket, bytes, length);
    }
    this.#next = pieces;
    this.#written = 0;
    return this.#write(socket, bytes, this.#join(bytes, headBytes)) && this.#continueWriting(socket);
  }

  /** Copies the next small pieces into the buffer for one write; returns their end. */
  #join(bytes: Buffer, from: number): number {
    let end = from;
    for (;;) {
      const piece = this.#next[this.#written];
      if (piece === undefined || piece.length > SMALL_PIECE_BYTES_MAX || end + piece.length > bytes.length) return end;
      bytes.set(piece, end);
      end += piece.length;
      this.#written += 1;
    }
  }

  /** The socket accepts more data. False if it is closed. */
  drain(socket: Writable): boolean {
    const pending = this.#pending;
    if (pending === undefined) return true;
    this.#pending = undefined;
    return this.#write(socket, pending, pending.length) && this.#continueWriting(socket);
  }

  /** Bytes that the socket no longer needs are freed. */
  stop(): void {
    this.#pending = undefined;
    this.#next = NOTHING;
  }

  #continueWriting(socket: Writable): boolean {
    while (this.#pending === undefined) {
      const joined = this.#join(shared, 0);
      if (joined > 0) {
        if (!this.#write(socket, shared, joined)) return false;
        continue;
      }
      const piece = this.#next[this.#written];
      if (piece === undefined) {
        // The body is freed, because its reply may take long.
        this.#next = NOTHING;
        break;
      }
      this.#written += 1;
      if (!this.#write(socket, piece, piece.length)) return false;
    }
    return true;
  }

  #write(socket: Writable, bytes: Uint8Array, length: number): boolean {
    const taken = length === 0 ? 0 : socket.write(bytes, 0, length);
    if (taken < 0) return false;
    if (taken > 0) this.#hasWritten = true;
    if (taken === length) return true;
    const rest = bytes.subarray(taken, length);
    this.#pending = bytes === shared ? Buffer.from(rest) : rest;
    return true;
  }
}

function putPieces(bytes: Buffer, start: number, pieces: readonly Uint8Array[]): void {
  let at = start;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
}
