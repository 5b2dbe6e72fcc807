import type { Clock } from "../core/index.ts";
import type { Ledger } from "./ledger.ts";

/** How often holds are looked for whose process stopped renewing them. */
const SWEEP_MS = 15_000;

export interface SweeperOptions {
  ledger: Ledger;
  clock: Clock;
  /** Told how many holds were ended, where there were any. */
  onExpired: (count: number) => void;
  onError: (reason: unknown) => void;
}

/** Ends left holds now and every 15 seconds. Returns the way to stop. */
export function startSweeper({ ledger, clock, onExpired, onError }: SweeperOptions): () => void {
  const sweep = async (): Promise<void> => {
    try {
      const { expired } = await ledger.submit({ kind: "sweep", at: clock() });
      if (expired > 0) onExpired(expired);
    } catch (reason) {
      onError(reason);
    }
  };
  void sweep();
  const timer = setInterval(() => void sweep(), SWEEP_MS);
  timer.unref();
  return () => clearInterval(timer);
}
