/** What is sent: the head in two pieces, as latin1 with the empty line at its end, and the body. */
export interface OutgoingRequest {
  readonly opening: string;
  readonly ending: string;
  readonly body: string | Uint8Array | undefined;
  readonly bodyBytes: number;
}

/** What the writer needs of a socket; `write` returns how many bytes it took, or -1 where it is closed. */
interface Writable {
  write(bytes: Uint8Array, from: number, length: number): number;
}

/** Bodies up to here are put behind the head; longer ones follow it uncopied, in a second write. */
const JOINED_BYTES_MAX = 64 * 1024;

/** Heads of usual sizes. */
const HEAD_BYTES = 8 * 1024;

/** Where requests are put together, all in the same place: what a socket does not take of one at once is copied. */
const shared = Buffer.allocUnsafeSlow(HEAD_BYTES + JOINED_BYTES_MAX);

/** Writes one request after the other, each as fast as the socket takes it. */
export class RequestWriter {
  /** What the socket would not take yet. */
  #pending: Uint8Array | undefined;
  /** What follows that. */
  #next: string | Uint8Array | undefined;

  get isDone(): boolean {
    return this.#pending === undefined;
  }

  /** False where the socket is closed. */
  start(socket: Writable, request: OutgoingRequest): boolean {
    this.#pending = undefined;
    const { opening, ending, body, bodyBytes } = request;
    const isJoined = bodyBytes <= JOINED_BYTES_MAX;
    this.#next = isJoined ? undefined : body;
    const headBytes = opening.length + ending.length;
    const length = headBytes + (isJoined ? bodyBytes : 0);
    const bytes = length <= shared.length ? shared : Buffer.allocUnsafe(length);
    bytes.write(opening, 0, "latin1");
    bytes.write(ending, opening.length, "latin1");
    if (isJoined) put(bytes, headBytes, body);
    return this.#write(socket, bytes, length) && this.#goOn(socket);
  }

  /** The socket takes more. False where it is closed. */
  drain(socket: Writable): boolean {
    const pending = this.#pending;
    if (pending === undefined) return true;
    this.#pending = undefined;
    return this.#write(socket, pending, pending.length) && this.#goOn(socket);
  }

  /** What the socket does not need any more is let go. */
  stop(): void {
    this.#pending = undefined;
    this.#next = undefined;
  }

  #goOn(socket: Writable): boolean {
    const next = this.#next;
    if (next === undefined || this.#pending !== undefined) return true;
    this.#next = undefined;
    const bytes = typeof next === "string" ? Buffer.from(next) : next;
    return this.#write(socket, bytes, bytes.length);
  }

  #write(socket: Writable, bytes: Uint8Array, length: number): boolean {
    const taken = length === 0 ? 0 : socket.write(bytes, 0, length);
    if (taken < 0) return false;
    if (taken === length) return true;
    const rest = bytes.subarray(taken, length);
    this.#pending = bytes === shared ? Buffer.from(rest) : rest;
    return true;
  }
}

function put(bytes: Buffer, at: number, body: string | Uint8Array | undefined): void {
  if (typeof body === "string") bytes.write(body, at, "utf8");
  else if (body !== undefined) bytes.set(body, at);
}
