/** What the queue needs of a Bun TCP socket. `write` returns how many bytes the kernel took, or -1 on a closed socket. */
interface Writable {
  write(bytes: Uint8Array): number;
}

/** Keeps what the kernel would not take yet (a 1 MB request body never fits at once) until the socket drains. */
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
