/**
 * What ends a call from outside, once, with a reason. An `AbortController` will do wherever one of these is asked for; but
 * it and its signal are native objects, which cost a call more than being parsed does, and garbage collection more still.
 */

export interface AbortListener {
  handleEvent(): void;
}

/** As much of an `AbortSignal` as a call needs. */
export interface CallSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: AbortListener): void;
  removeEventListener(type: "abort", listener: AbortListener): void;
}

/** As much of an `AbortController` as a call needs. */
export interface CallAbort {
  readonly signal: CallSignal;
  abort(reason: unknown): void;
}

/** The abort of one call, and its signal. */
export class CallAborter implements CallAbort, CallSignal {
  readonly signal: CallSignal = this;
  aborted = false;
  reason: unknown = undefined;
  readonly #listeners: AbortListener[] = [];

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    // One of them may remove another.
    for (let next = this.#listeners.shift(); next !== undefined; next = this.#listeners.shift()) next.handleEvent();
  }

  /** Told once; never of an abort that has been. */
  addEventListener(_type: "abort", listener: AbortListener): void {
    if (!this.aborted) this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: AbortListener): void {
    const listeners = this.#listeners;
    // Mostly the only one; taking one out of the midst makes an array.
    if (listeners.at(-1) === listener) {
      listeners.pop();
      return;
    }
    const at = listeners.indexOf(listener);
    if (at !== -1) listeners.splice(at, 1);
  }
}

/** The signal itself where it is one of the platform's, else one that follows it. */
export function abortSignalOf(signal: CallSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  else signal.addEventListener("abort", { handleEvent: () => controller.abort(signal.reason) });
  return controller.signal;
}
