/** The bounds of a request to a server of tools. */
import { CallAborter, type CallSignal, GatewayError } from "../core/index.ts";
import type { Ticker } from "../streaming/index.ts";

interface Asked {
  /** For messages: the name of the server. */
  name: string;
  ticker: Ticker;
  timeoutMs: number;
  signal?: CallSignal | undefined;
}

/**
 * Asks a server until it has answered, its time is over, or the caller leaves. Rejects with the reason of the signal, or with a
 * `GatewayError`: `upstream_timeout`, and `upstream_unreachable` for every failure that is none.
 */
export async function askServer<Answer>(
  { name, ticker, timeoutMs, signal }: Asked,
  ask: (abort: CallAborter) => Promise<Answer>,
): Promise<Answer> {
  if (signal?.aborted === true) throw signal.reason;
  const abort = new CallAborter();
  const follow = { handleEvent: () => abort.abort(signal?.reason) };
  signal?.addEventListener("abort", follow);
  const stopTimer = ticker.after(timeoutMs, () => abort.abort(tooLate(name)));
  try {
    return await ask(abort);
  } catch (thrown) {
    if (abort.aborted) throw abort.reason;
    if (thrown instanceof GatewayError) throw thrown;
    throw new GatewayError("upstream_unreachable", `The server ${name} cannot be reached.`, { cause: thrown });
  } finally {
    stopTimer();
    signal?.removeEventListener("abort", follow);
  }
}

export function tooLate(name: string): GatewayError {
  return new GatewayError("upstream_timeout", `The server ${name} does not answer in time.`);
}

export function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError("upstream_invalid_answer", `The answer of the server is longer than ${bytesMax} bytes.`);
}
