import type { Logger } from "../telemetry/index.ts";
import type { RunningPart } from "./feature.ts";

/** The interval at which expired records are deleted, a bounded number at a time. */
const DELETE_MS = 60_000;

/** Deletes expired records, now and regularly; several nodes may do so simultaneously. */
export function startDeleting(deleteExpired: () => Promise<unknown>, logger: Pick<Logger, "error">): RunningPart {
  const run = async (): Promise<void> => {
    try {
      await deleteExpired();
    } catch (reason) {
      logger.error({ reason: String(reason) }, "expired records could not be deleted");
    }
  };
  void run();
  const timer = setInterval(() => void run(), DELETE_MS);
  timer.unref();
  const stop = (): void => clearInterval(timer);
  return { retire: stop, stop };
}
