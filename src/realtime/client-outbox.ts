import type { Clock, Socket } from "../core/index.ts";
import type { Message } from "./gated-queue.ts";

/** Bytes that are written to the client at once. */
const FLUSH_BYTES = 256 * 1024;

interface ClientOutboxOptions {
  client: Socket;
  now: Clock;
  /** The client does not read: messages wait in its socket. */
  onStalled: () => void;
}

/** The messages of a session to its client: those of the same turn of the event loop are written together. */
export class ClientOutbox {
  /** The client does not read, since this time. */
  stalledAt: number | undefined;
  readonly #options: ClientOutboxOptions;
  #messages: Message[] = [];
  #bytes = 0;
  #isScheduled = false;
  #isClientGone = false;

  constructor(options: ClientOutboxOptions) {
    this.#options = options;
  }

  send(message: Message): void {
    if (this.#isClientGone) return;
    this.#messages.push(message);
    this.#bytes += message.length;
    if (this.#bytes >= FLUSH_BYTES) this.#flush();
    else if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(this.#flush);
    }
  }

  readonly #flush = (): void => {
    this.#isScheduled = false;
    const messages = this.#messages;
    if (messages.length === 0 || this.#isClientGone) return;
    const { client, now, onStalled } = this.#options;
    this.#messages = [];
    this.#bytes = 0;
    let isWaiting = false;
    client.cork(() => {
      for (const message of messages) isWaiting = client.send(message) === "waiting" || isWaiting;
    });
    if (!isWaiting || this.stalledAt !== undefined) return;
    this.stalledAt = now();
    onStalled();
  };

  /** The client has closed its socket. */
  leave(): void {
    this.#isClientGone = true;
  }

  /** Closes the client's socket. A client that does not read would keep its connection open for ever. */
  farewell(code: number, reason: string): void {
    if (this.#isClientGone) return;
    this.#flush();
    const { client } = this.#options;
    client.resume();
    if (this.stalledAt === undefined) client.close(code, reason);
    else client.terminate();
  }
}
