import { GatewayError } from "../core/index.ts";

/** Something that is looked at now and then, from `watch` until `leave`. */
interface Watched {
  slot: number;
  onTick(now: number): void;
}

/** As much of a ticker as a wait needs. */
interface Watch {
  now(): number;
  watch(watched: Watched): void;
  leave(watched: Watched): void;
}

export interface BodyLimits {
  bytesMax: number;
  /** How long the body may take to arrive. */
  arrivalMsMax: number;
  ticker: Watch;
}

/**
 * Waits for a body that is being read; throws 408 when that takes too long, and what `failureOf` makes of a failure. Who
 * reads has to stop by himself then.
 */
export function receiveInTime<T>(
  arriving: Promise<T>,
  limits: BodyLimits,
  failureOf = (cause: unknown): unknown => cause,
): Promise<T> {
  return new Arrival(arriving, limits, failureOf).arrived;
}

class Arrival<T> implements Watched {
  slot = -1;
  readonly #ticker: Watch;
  readonly #due: number;
  readonly #arrived = Promise.withResolvers<T>();

  constructor(arriving: Promise<T>, { arrivalMsMax, ticker }: BodyLimits, failureOf: (cause: unknown) => unknown) {
    this.#ticker = ticker;
    this.#due = ticker.now() + arrivalMsMax;
    ticker.watch(this);
    void arriving.then(
      (body) => this.#end().resolve(body),
      (cause: unknown) => this.#end().reject(failureOf(cause)),
    );
  }

  get arrived(): Promise<T> {
    return this.#arrived.promise;
  }

  onTick(now: number): void {
    if (now < this.#due) return;
    this.#end().reject(new GatewayError("request_timeout", "The request body did not arrive in time."));
  }

  #end(): PromiseWithResolvers<T> {
    this.#ticker.leave(this);
    return this.#arrived;
  }
}

/** The size that a request says its body has, where it does. Throws 413 where that is over the bound. */
export function refuseDeclaredSize(headers: Headers, bytesMax: number): number | undefined {
  const declared = headers.get("content-length");
  if (declared === null) return undefined;
  if (Number(declared) > bytesMax) throw bodyTooLarge(bytesMax);
  return Number(declared);
}

export function bodyTooLarge(bytesMax: number): GatewayError {
  return new GatewayError("body_too_large", `The request body is over the limit of ${bytesMax} bytes.`);
}

/** The client went away before the end of its body. */
export function bodyInterrupted(cause: unknown): GatewayError {
  return new GatewayError("request_interrupted", "The request body broke off.", { cause });
}
