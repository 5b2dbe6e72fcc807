import type { BodySink, CallSignal, ReplyBody } from "../core/index.ts";
import { OutboundError } from "./outbound-error.ts";

export interface BodyBounds {
  bytesMax: number;
  /** The signal of the request. */
  signal: CallSignal;
  /** Called once, when no more of the body will arrive. */
  onOver: () => void;
}

/** A reply's body that breaks off when it exceeds its bound. */
export class BoundedBody implements ReplyBody, BodySink {
  readonly #body: ReplyBody;
  readonly #bounds: BodyBounds;
  #sink: BodySink | undefined;
  #bytes = 0;
  #isOver = false;

  constructor(body: ReplyBody, bounds: BodyBounds) {
    this.#body = body;
    this.#bounds = bounds;
  }

  flowTo(sink: BodySink): void {
    this.#sink = sink;
    this.#body.flowTo(this);
  }

  pause(): void {
    this.#body.pause();
  }

  resume(): void {
    this.#body.resume();
  }

  cancel(): void {
    this.#body.cancel();
    this.#end();
  }

  onBytes(bytes: Buffer): void {
    if (this.#isOver) return;
    const { bytesMax } = this.#bounds;
    this.#bytes += bytes.length;
    if (this.#bytes <= bytesMax) {
      this.#sink?.onBytes(bytes);
      return;
    }
    this.#body.cancel();
    this.onFailure(new OutboundError("too_large", `its answer is longer than ${bytesMax} bytes`));
  }

  onEnd(): void {
    if (this.#end()) this.#sink?.onEnd();
  }

  onFailure(cause: unknown): void {
    if (!this.#end()) return;
    const { signal } = this.#bounds;
    const isKnown = cause instanceof OutboundError || (signal.aborted && cause === signal.reason);
    this.#sink?.onFailure(isKnown ? cause : brokenOff(cause));
  }

  /** False if it was over before. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#bounds.onOver();
    return true;
  }
}

function brokenOff(cause: unknown): OutboundError {
  const error = new OutboundError("unreachable", "its answer broke off", { cause });
  error.hasAnswered = true;
  return error;
}
