/** Repeats calls of tools that may be repeated. */
import { type CallSignal, type Clock, GatewayError } from "../core/index.ts";

const ATTEMPTS_MAX = 3;

/** Before the second attempt; twice as long before the third. */
const PAUSE_MS = 250;

export interface RepeatOptions {
  /** Without it there is one attempt. */
  mayRepeat: boolean;
  /** For all attempts together. */
  timeoutMs: number;
  signal: CallSignal;
  clock: Clock;
  /** Resolves after so many milliseconds. */
  wait: (milliseconds: number) => Promise<void>;
}

/**
 * Makes another attempt if the answer to one is lost, as long as there is time. `attempt` gets the milliseconds that are left. Rejects
 * with the failure of the last attempt, or with the reason of the signal.
 */
export async function repeatLost<Answer>(
  { mayRepeat, timeoutMs, signal, clock, wait }: RepeatOptions,
  attempt: (timeoutMs: number) => Promise<Answer>,
): Promise<Answer> {
  const until = clock() + timeoutMs;
  let leftMs = timeoutMs;
  for (let attempts = 1, pauseMs = PAUSE_MS; ; attempts += 1, pauseMs *= 2) {
    try {
      return await attempt(leftMs);
    } catch (thrown) {
      leftMs = Math.min(until - clock() - pauseMs, timeoutMs);
      if (!mayRepeat || attempts >= ATTEMPTS_MAX || leftMs <= 0 || !isLost(thrown)) throw thrown;
    }
    await wait(pauseMs);
    if (signal.aborted) throw signal.reason;
  }
}

/** An answer that is there, and is none, would be the same again; after a call that took too long there is no time left. */
function isLost(thrown: unknown): boolean {
  return (
    thrown instanceof GatewayError && (thrown.code === "upstream_unreachable" || thrown.code === "upstream_interrupted")
  );
}
