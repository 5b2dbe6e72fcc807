import { limits } from "../../core/index.ts";

const KEEP_ALIVE = Buffer.from(": keep-alive\n\n");

/** Bytes that may wait for a client before the upstream is paused. */
const WAITING_BYTES_MAX = 256 * 1024;

/** The client's end of a relayed stream. */
export class StreamClient {
  readonly #controller: ReadableStreamDefaultController<Uint8Array>;
  /** Whether the client can receive no more: it has disconnected, or has everything. */
  #closed = false;
  #lastCommentAt = 0;

  constructor(controller: ReadableStreamDefaultController<Uint8Array>) {
    this.#controller = controller;
  }

  /** Sends bytes. Returns whether the client is behind now. */
  send(bytes: Uint8Array): boolean {
    if (this.#closed || bytes.length === 0) return false;
    this.#controller.enqueue(bytes);
    return this.isBehind;
  }

  /** Whether the client has yet to take so many bytes that the upstream must be paused. */
  get isBehind(): boolean {
    return (this.#controller.desiredSize ?? 0) < -WAITING_BYTES_MAX;
  }

  /** Sends the last bytes, and ends the stream. */
  close(last: Uint8Array): void {
    if (this.#closed) return;
    this.#closed = true;
    if (last.length > 0) this.#controller.enqueue(last);
    this.#controller.close();
  }

  /** Breaks the connection off: nothing else distinguishes half a file from a whole one. */
  breakOff(error: unknown): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#controller.error(error);
  }

  /** The client has disconnected. */
  leave(): void {
    this.#closed = true;
  }

  /** Sends a comment if the client has taken all bytes and nothing was sent since `quietSince` or the last comment. */
  keepAlive(now: number, quietSince: number): void {
    const quiet = now - Math.max(quietSince, this.#lastCommentAt);
    if (this.#closed || quiet < limits.keepAliveMs || (this.#controller.desiredSize ?? 0) < 0) return;
    this.comment(now);
  }

  /** Sends a comment. */
  comment(now: number): void {
    this.#lastCommentAt = now;
    this.#controller.enqueue(KEEP_ALIVE);
  }
}
