import { setImmediate } from "node:timers/promises";
import { GatewayError } from "../core/index.ts";

/**
 * Reads one batch of rows after the other, for all callers: a batch takes a few milliseconds, and other work runs between two of
 * them.
 */
export class Turns {
  #turns: Promise<unknown> = Promise.resolve();

  /** Throws a `GatewayError` if the caller has disconnected meanwhile. */
  take<T>({ signal }: { signal?: AbortSignal | undefined }, read: () => Promise<T>): Promise<T> {
    const turn = this.#turns.then(() => {
      if (signal?.aborted === true) throw new GatewayError("request_interrupted", "The client went away.");
      return read();
    });
    this.#turns = turn.then(letOthers, letOthers);
    return turn;
  }
}

/** Events that have arrived meanwhile are handled before the next batch. */
const letOthers = (): Promise<unknown> => setImmediate();
