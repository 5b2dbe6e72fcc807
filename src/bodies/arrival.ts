import { GatewayError } from "../core/index.ts";

/** A callback on a ticker, from `watch` until `leave`. */
interface Watched {
  slot: number;
  onTick(now: number): void;
}

/** The part of a ticker that a wait needs. */
interface Watch {
  now(): number;
  watch(watched: Watched): void;
  leave(watched: Watched): void;
}

export interface BodyLimits {
  bytesMax: number;
  /** The time-out for the arrival of a body. */
  arrivalMsMax: number;
  ticker: Watch;
}

/**
 * Waits for a body that is being read. Throws 408 if that takes too long, and the error that `failureOf` creates for a
 * failure. The reader must stop by itself then.
 */
export function receiveInTime<T>(
  arriving: Promise<T>,
  limits: BodyLimits,
  failureOf = (cause: unknown): unknown => cause,
): Promise<T> {
  return new Arrival(arriving, limits, failureOf).arrived.promise;
}

class Arrival<T> implements Watched {
  slot = -1;
  readonly #ticker: Watch;
  readonly #due: number;
  readonly arrived = Promise.withResolvers<T>();

  constructor(arriving: Promise<T>, { arrivalMsMax, ticker }: BodyLimits, failureOf: (cause: unknown) => unknown) {
    this.#ticker = ticker;
    this.#due = ticker.now() + arrivalMsMax;
    ticker.watch(this);
    void arriving.then(
      (body) => this.#end().resolve(body),
      (cause: unknown) => this.#end().reject(failureOf(cause)),
    );
  }

  onTick(now: number): void {
    if (now < this.#due) return;
    this.#end().reject(new GatewayError("request_timeout", "The request body did not arrive in time."));
  }

  #end(): PromiseWithResolvers<T> {
    this.#ticker.leave(this);
    return this.arrived;
  }
}

/** The declared size of a request's body, if any. Throws 413 if it exceeds the bound. */
export function refuseDeclaredSize(headers: Headers, bytesMax: number): number | undefined {
  const declared = headers.get("content-length");
  if (declared === null) return undefined;
  if (Number(declared) > bytesMax) throw bodyTooLarge(bytesMax);
  return Number(declared);
}

export function bodyTooLarge(bytesMax: number): GatewayError {
  return new GatewayError("body_too_large", `The request body is over the limit of ${bytesMax} bytes.`);
}

/** The client disconnected before the end of its body. */
export function bodyInterrupted(cause: unknown): GatewayError {
  return new GatewayError("request_interrupted", "The request body broke off.", { cause });
}
