/**
 * Ends a call from outside, once, with a reason. An `AbortController` satisfies these interfaces, but it and its signal
 * are native objects: they cost a call more time than its parsing, and garbage collection even more.
 */

export interface AbortListener {
  handleEvent(): void;
}

/** The part of `AbortSignal` that a call needs. */
export interface CallSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: AbortListener): void;
  removeEventListener(type: "abort", listener: AbortListener): void;
}

/** The part of `AbortController` that a call needs. */
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
    // A listener may remove another one.
    for (let next = this.#listeners.shift(); next !== undefined; next = this.#listeners.shift()) next.handleEvent();
  }

  /** The listener is called at most once, and never for an abort that happened before it was added. */
  addEventListener(_type: "abort", listener: AbortListener): void {
    if (!this.aborted) this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: AbortListener): void {
    const listeners = this.#listeners;
    // Mostly it is the only one or the last one; `splice` would allocate an array.
    if (listeners.at(-1) === listener) {
      listeners.pop();
      return;
    }
    const at = listeners.indexOf(listener);
    if (at !== -1) listeners.splice(at, 1);
  }
}

/** Returns the signal itself if it is an `AbortSignal`, otherwise an `AbortSignal` that follows it. */
export function abortSignalOf(signal: CallSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  else signal.addEventListener("abort", { handleEvent: () => controller.abort(signal.reason) });
  return controller.signal;
}

/** Resolves as the work does, which looks at no signal itself. Rejects with the reason of an abort as soon as there is one. */
export async function untilAborted<Result>(signal: CallSignal, work: Promise<Result>): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const listener = { handleEvent: () => reject(signal.reason) };
  if (signal.aborted) listener.handleEvent();
  else signal.addEventListener("abort", listener);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", listener);
  }
}
