import type { BodySink, CallAborter, ReplyBody } from "../../../src/core/index.ts";

/** The answer of an upstream as a connection delivers it: nothing while it is paused, but for a few chunks on their way. */
export class UpstreamBody implements ReplyBody {
  isPaused = true;
  #sink: BodySink | undefined;
  readonly #waiting: ((sink: BodySink) => void)[] = [];
  #isCancelled = false;
  /** How many chunks still arrive after a pause. */
  readonly #lateMax: number;
  #late = 0;
  readonly #onResume: () => void;

  constructor(abort: CallAborter, lateMax: number, onResume: () => void) {
    this.#lateMax = lateMax;
    this.#onResume = onResume;
    abort.addEventListener("abort", { handleEvent: () => this.#tell((sink) => sink.onFailure(abort.reason)) });
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  flowTo(sink: BodySink): void {
    this.#sink = sink;
    this.resume();
  }

  pause(): void {
    this.isPaused = true;
    this.#late = this.#lateMax;
  }

  resume(): void {
    this.isPaused = false;
    this.#onResume();
    this.#deliver();
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#waiting.length = 0;
  }

  send(bytes: Buffer): void {
    if (
      this.isPaused &&
      this.#sink !== undefined &&
      this.#late > 0 &&
      this.#waiting.length === 0 &&
      !this.#isCancelled
    ) {
      this.#late -= 1;
      this.#sink.onBytes(bytes);
    } else this.#tell((sink) => sink.onBytes(bytes));
  }

  end(): void {
    this.#tell((sink) => sink.onEnd());
  }

  fail(cause: unknown): void {
    this.#tell((sink) => sink.onFailure(cause));
  }

  #tell(what: (sink: BodySink) => void): void {
    if (this.#isCancelled) return;
    this.#waiting.push(what);
    this.#deliver();
  }

  #deliver(): void {
    while (this.#sink !== undefined && !this.isPaused) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      next(this.#sink);
    }
  }
}
