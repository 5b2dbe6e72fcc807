/**
 * The part of a Bun TCP socket that the queue uses. `write` returns the number of bytes accepted by the kernel, or -1
 * on a closed socket.
 */
interface Writable {
  write(bytes: Uint8Array): number;
}

/** Keeps bytes that the kernel does not accept yet (a 1 MB request body never fits at once) until the socket drains. */
export class SendQueue {
  #pending: Uint8Array[] = [];

  send(socket: Writable, bytes: Uint8Array): void {
    if (this.#pending.length > 0) {
      this.#pending.push(bytes);
      return;
    }
    const written = socket.write(bytes);
    if (written >= 0 && written < bytes.length) this.#pending.push(bytes.subarray(written));
  }

  drain(socket: Writable): void {
    const waiting = this.#pending;
    this.#pending = [];
    for (const bytes of waiting) this.send(socket, bytes);
  }
}
