import { GatewayError } from "./errors.ts";

/** Calls back once, some milliseconds from now, unless cancelled before. */
export interface Alarm {
  after(milliseconds: number, onDue: () => void): () => void;
}

export interface BodyLimits {
  bytesMax: number;
  /** How long the body may take to arrive. */
  arrivalMsMax: number;
  ticker: Alarm;
}

/**
 * Waits for a body that is being read; throws 408 when that takes too long, and what `failureOf` makes of a failure. Who
 * reads has to stop by himself then.
 */
export function arriveInTime<T>(
  arriving: Promise<T>,
  { arrivalMsMax, ticker }: BodyLimits,
  failureOf = (cause: unknown): unknown => cause,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const cancelTimeout = ticker.after(arrivalMsMax, () =>
    reject(new GatewayError("request_timeout", "The request body did not arrive in time.")),
  );
  void arriving.then(
    (arrived) => {
      cancelTimeout();
      resolve(arrived);
    },
    (cause: unknown) => {
      cancelTimeout();
      reject(failureOf(cause));
    },
  );
  return promise;
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
