/** What is sent: the head, which ends with the empty line, and the body. */
export interface OutgoingRequest {
  readonly head: string;
  /** Else the head is latin1. */
  readonly isAscii: boolean;
  readonly body: string | Uint8Array | undefined;
  readonly bodyBytes: number;
}

/** What the writer needs of a socket; `write` returns how many bytes it took, or -1 where it is closed. */
interface Writable {
  write(data: string | Uint8Array): number;
}

/** Bodies up to here are put behind the head; longer ones follow it uncopied, in a second write. */
const JOINED_BYTES_MAX = 64 * 1024;

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
    this.#next = undefined;
    const { head, body, bodyBytes, isAscii } = request;
    if (bodyBytes > JOINED_BYTES_MAX) {
      this.#next = body;
      return this.#write(socket, isAscii ? head : Buffer.from(head, "latin1"), head.length) && this.#goOn(socket);
    }
    const length = head.length + bodyBytes;
    if (body === undefined && isAscii) return this.#write(socket, head, length);
    if (typeof body === "string" && isAscii) return this.#write(socket, head + body, length);
    return this.#write(socket, join(request), length);
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
    return this.#write(socket, next, typeof next === "string" ? Buffer.byteLength(next) : next.length);
  }

  #write(socket: Writable, data: string | Uint8Array, length: number): boolean {
    const taken = length === 0 ? 0 : socket.write(data);
    if (taken < 0) return false;
    if (taken < length) this.#pending = (typeof data === "string" ? Buffer.from(data) : data).subarray(taken);
    return true;
  }
}

function join({ head, body, bodyBytes }: OutgoingRequest): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + bodyBytes);
  bytes.write(head, "latin1");
  if (typeof body === "string") bytes.write(body, head.length, "utf8");
  else if (body !== undefined) bytes.set(body, head.length);
  return bytes;
}
