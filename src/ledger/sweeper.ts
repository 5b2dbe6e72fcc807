import { type Clock, type Every, everyUnref } from "../core/index.ts";
import type { Ledger } from "./ledger.ts";

/** The interval at which expired holds are searched. */
const SWEEP_MS = 15_000;

export interface SweeperOptions {
  ledger: Ledger;
  clock: Clock;
  every?: Every;
  /** Called with the number of ended holds, if there were any. */
  onExpired: (count: number) => void;
  onError: (reason: unknown) => void;
}

/** Ends expired holds now and every 15 seconds. Returns a function that stops it. */
export function startSweeper({ ledger, clock, every = everyUnref, onExpired, onError }: SweeperOptions): () => void {
  const sweep = async (): Promise<void> => {
    try {
      const { expired } = await ledger.submit({ kind: "sweep", at: clock() });
      if (expired > 0) onExpired(expired);
    } catch (reason) {
      onError(reason);
    }
  };
  void sweep();
  return every(SWEEP_MS, () => void sweep());
}
