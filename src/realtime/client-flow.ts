import { GatewayError, limits, type UpstreamSocket } from "../core/index.ts";
import type { Ticker } from "../streaming/index.ts";
import { type Admitted, admitMessage, type ClientRules, RefusedEvent } from "./client-messages.ts";
import { errorEvent } from "./events.ts";
import { GatedQueue, type GatedQueueOptions, type Message } from "./gated-queue.ts";

/** Bytes that the upstream has not read: above the first the client is paused, below the second it continues. */
const UPSTREAM_QUEUE_MAX = 1024 * 1024;
const UPSTREAM_QUEUE_LOW = 256 * 1024;
const UPSTREAM_QUEUE_POLL_MS = 10;

interface ClientFlowOptions {
  /** The client's socket. */
  source: GatedQueueOptions["source"];
  upstream: UpstreamSocket;
  rules: ClientRules;
  ticker: Ticker;
  /** Sends an event to the client. */
  answer: (event: string) => void;
  /** The credits do not suffice for what a message adds. */
  onRefused: (thrown: unknown) => void;
  fail: (error: GatewayError) => void;
}

/** The client's messages on their way to the upstream: none passes before it is held for. */
export class ClientFlow {
  readonly #options: ClientFlowOptions;
  /** A message waits for a hold, or the upstream does not read. */
  readonly #queue: GatedQueue<"hold" | "upstream-queue">;
  #isClosed = false;
  #hasUpstream = true;

  constructor(options: ClientFlowOptions) {
    const { source, fail } = options;
    this.#options = options;
    this.#queue = new GatedQueue({
      pass: (message) => this.#admit(message),
      source,
      bytesMax: limits.withheldBytesMax,
      onOverflow: () =>
        fail(new GatewayError("rate_limit_exceeded", "The client sends more than the session can take.")),
    });
  }

  push(message: Message): void {
    if (!this.#isClosed) this.#queue.push(message);
  }

  /**
   * Nothing passes any more: what the client sends from now on would not be held. It is read and dropped, because the end of
   * a socket that is not read goes unnoticed.
   */
  close(): void {
    this.#isClosed = true;
    this.#queue.lift("hold");
    this.#queue.lift("upstream-queue");
  }

  /** The upstream has closed its socket. */
  loseUpstream(): void {
    this.#hasUpstream = false;
  }

  #admit(message: Message): void {
    if (this.#isClosed) return;
    try {
      const admitted = admitMessage(this.#options.rules, message);
      if (admitted.until === undefined) this.#send(admitted);
      else void this.#sendLater(admitted, admitted.until);
    } catch (thrown) {
      if (!(thrown instanceof RefusedEvent)) throw thrown;
      this.#options.answer(errorEvent(thrown, thrown.eventId));
    }
  }

  /** The client's messages wait until one of them is held for. */
  async #sendLater(admitted: Admitted, until: Promise<void>): Promise<void> {
    this.#queue.hold("hold");
    try {
      await until;
    } catch (thrown) {
      return this.#options.onRefused(thrown);
    }
    if (this.#isClosed) return;
    this.#send(admitted);
    this.#queue.lift("hold");
  }

  #send({ message, onSent }: Admitted): void {
    const { upstream } = this.#options;
    if (!this.#hasUpstream) return;
    upstream.send(message);
    onSent?.();
    if (upstream.queuedBytes <= UPSTREAM_QUEUE_MAX || this.#queue.isHeldBy("upstream-queue")) return;
    this.#queue.hold("upstream-queue");
    this.#waitForUpstream();
  }

  /** Bun's client has no event for it. */
  #waitForUpstream(): void {
    const { ticker, upstream } = this.#options;
    ticker.after(UPSTREAM_QUEUE_POLL_MS, () => {
      if (this.#isClosed) return;
      if (upstream.queuedBytes < UPSTREAM_QUEUE_LOW) this.#queue.lift("upstream-queue");
      else this.#waitForUpstream();
    });
  }
}
