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
