import type { CallSignal, GatewayError } from "../core/index.ts";
import { requestTimeout } from "./request-timeout.ts";

interface Time {
  signal: CallSignal;
  ms: number;
  /** The reason of the abort when the time is over. */
  late: GatewayError;
}

/** Does the work under a signal that aborts when the time is over, too. Rejects with the reason of an abort of the given one. */
export async function within<Result>(
  { signal, ms, late }: Time,
  work: (either: CallSignal) => Promise<Result>,
): Promise<Result> {
  const timeout = requestTimeout(signal, Math.max(ms, 1), late);
  try {
    const result = await work(timeout.signal);
    if (signal.aborted) throw signal.reason;
    return result;
  } finally {
    timeout.end();
  }
}
