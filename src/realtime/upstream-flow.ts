import { GatewayError, limits, toGatewayError } from "../core/index.ts";
import { typeOfEvent } from "./events.ts";
import { GatedQueue, type GatedQueueOptions, type Message } from "./gated-queue.ts";
import type { UpstreamEvents } from "./upstream-events.ts";

/** The events that may contain an upstream's error. */
const hasError = /^(?:error|response\.done|.+\.failed)$/;

interface UpstreamFlowOptions {
  /** The upstream's socket. */
  source: GatedQueueOptions["source"];
  events: UpstreamEvents;
  /** While the hold of a response is used up, or not taken yet; once it is settled, this is asked again. */
  keepUp: (response: string) => Promise<void> | undefined;
  /** Replaces the upstream's keys in an event that may contain an error. */
  redact: (event: string) => string;
  /** Sends a message to the client. */
  send: (message: Message) => void;
  fail: (error: GatewayError) => void;
  /** Some that waited have passed, or a response has been charged. */
  onPassed: () => void;
}

/** The upstream's messages on their way to the client: no more than is held, and no end of a response before its charge. */
export class UpstreamFlow {
  readonly #options: UpstreamFlowOptions;
  /** A message waits for its charge, a hold is used up, or the client does not read. */
  readonly #queue: GatedQueue<"charge" | "hold" | "client">;
  #isEnding = false;

  constructor(options: UpstreamFlowOptions) {
    const { source, fail } = options;
    this.#options = options;
    this.#queue = new GatedQueue({
      pass: (message) => this.#pass(message),
      source,
      bytesMax: limits.withheldBytesMax,
      onOverflow: () =>
        fail(new GatewayError("upstream_interrupted", "The upstream went on sending while it was paused.")),
    });
  }

  push(message: Message): void {
    this.#queue.push(message);
  }

  get isHeld(): boolean {
    return this.#queue.isHeld;
  }

  /** Whether a response has ended and is not charged yet: its end has not reached the client. */
  get isCharging(): boolean {
    return this.#queue.isHeldBy("charge");
  }

  /** The client does not read. */
  holdForClient(): void {
    if (!this.#isEnding) this.#queue.hold("client");
  }

  clientDrained(): void {
    this.#queue.lift("client");
    this.#options.onPassed();
  }

  /** From now on, events are only read for what was used, and ends of responses passed on. */
  end(): void {
    this.#isEnding = true;
  }

  /** The usage of responses that were cancelled comes behind what was held back. */
  readForUsage(): void {
    this.#queue.lift("hold");
    this.#queue.lift("client");
  }

  #pass(message: Message): void {
    const { events, redact, send } = this.#options;
    const type = typeof message === "string" ? (typeOfEvent(message) ?? "") : "";
    const metered = typeof message === "string" ? events.count(type, message) : undefined;
    const shown = typeof message === "string" && hasError.test(type) ? redact(message) : message;
    if (metered?.kind === "charge") return void this.#passCharged(shown, metered.charged);
    if (!this.#isEnding) send(shown);
    if (metered?.kind === "refused") this.#options.onPassed();
    else if (metered !== undefined && !this.#isEnding) void this.#waitForHold(metered.response);
  }

  /** A response is complete for its client only after its charge is durable. */
  async #passCharged(message: Message, charged: Promise<void>): Promise<void> {
    const { send, fail, onPassed } = this.#options;
    this.#queue.hold("charge");
    try {
      await charged;
      send(message);
    } catch (thrown) {
      fail(toGatewayError(thrown));
    }
    this.#queue.lift("charge");
    onPassed();
  }

  /** Nothing more passes before the response is held as far as it has passed, however often a raise is tried. */
  async #waitForHold(response: string): Promise<void> {
    const { keepUp, onPassed } = this.#options;
    this.#queue.hold("hold");
    for (let raised = keepUp(response); raised !== undefined && !this.#isEnding; raised = keepUp(response)) {
      await raised;
      // Whatever it waited for, timers and sockets have a turn before it waits again.
      await new Promise(setImmediate);
    }
    this.#queue.lift("hold");
    onPassed();
  }
}
