import type { CallSignal, GatewayError } from "../../core/index.ts";
import { requestTimeout } from "../request-timeout.ts";

interface Time {
  signal: CallSignal;
  ms: number;
  /** The reason of the abort when the time is over. */
  late: GatewayError;
}

/**
 * Does the work under a signal that aborts when the time is over, too. Rejects with the reason of an abort at once, even if the work does
 * not look at its signal.
 */
export async function within<Result>(
  { signal, ms, late }: Time,
  work: (either: CallSignal) => Promise<Result>,
): Promise<Result> {
  const timeout = requestTimeout(signal, Math.max(ms, 1), late);
  const { signal: either } = timeout;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const listener = { handleEvent: () => reject(either.reason) };
  if (either.aborted) listener.handleEvent();
  else either.addEventListener("abort", listener);
  try {
    const result = await Promise.race([work(either), aborted]);
    if (signal.aborted) throw signal.reason;
    return result;
  } finally {
    either.removeEventListener("abort", listener);
    timeout.end();
  }
}
