/** A message of a socket. */
export type Message = string | Uint8Array;

export interface GatedQueueOptions {
  /** Passes a message on. It may hold back those that follow. */
  pass: (message: Message) => void;
  /** The sender. A few of its messages may still arrive after it was paused. */
  source: { pause(): void; resume(): void };
  /** Bytes that a paused sender may still have sent. */
  bytesMax: number;
  /** More has arrived; it is dropped, and so is what follows. */
  onOverflow: () => void;
}

/** The bytes that a message counts besides its own. */
const MESSAGE_BYTES = 100;

/**
 * One direction of a session. Messages pass in their order while there is no reason to hold them back; from the first reason
 * to the last, they wait, and the sender is paused.
 */
export class GatedQueue<Reason extends string> {
  readonly #options: GatedQueueOptions;
  readonly #reasons = new Set<Reason>();
  #waiting: Message[] = [];
  #waitingBytes = 0;
  #isPaused = false;

  constructor(options: GatedQueueOptions) {
    this.#options = options;
  }

  get isHeld(): boolean {
    return this.#reasons.size > 0;
  }

  isHeldBy(reason: Reason): boolean {
    return this.#reasons.has(reason);
  }

  push(message: Message): void {
    if (!this.isHeld && this.#waiting.length === 0) return this.#options.pass(message);
    const { bytesMax, onOverflow } = this.#options;
    if (this.#waitingBytes > bytesMax) return;
    this.#waitingBytes += message.length + MESSAGE_BYTES;
    if (this.#waitingBytes > bytesMax) onOverflow();
    else this.#waiting.push(message);
  }

  hold(reason: Reason): void {
    this.#reasons.add(reason);
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#options.source.pause();
  }

  /** Without any reason left, what has waited passes, and then what the sender sends. */
  lift(reason: Reason): void {
    if (!this.#reasons.delete(reason)) return;
    while (!this.isHeld) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#waitingBytes -= next.length + MESSAGE_BYTES;
      this.#options.pass(next);
    }
    if (this.isHeld || !this.#isPaused) return;
    this.#isPaused = false;
    this.#options.source.resume();
  }
}
