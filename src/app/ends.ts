/** Ends of work that no running call makes: those that earlier processes left, and those of processes that died. */
import { type EndDependencies, endHold } from "../charges/index.ts";
import type { Environment } from "../core/index.ts";
import { type Ledger, startSweeper } from "../ledger/index.ts";
import type { Logger } from "../telemetry/index.ts";

/** Submits the ends that earlier processes could not write to the ledger. */
export function submitLeftEnds(deps: EndDependencies, logger: Logger): void {
  const ends = deps.journal.takeOver();
  if (ends.length > 0) logger.info({ ends: ends.length }, "submits the ends in the journal");
  for (const end of ends) void endHold(deps, end);
}

/** Ends the holds that no process renews. Returns a function that stops it. */
export function sweep(ledger: Ledger, environment: Environment, logger: Logger): () => void {
  return startSweeper({
    ledger,
    clock: environment.clock,
    onExpired: (count) => logger.warn({ holds: count }, "ended holds whose process stopped renewing them"),
    onError: (reason) => logger.error({ reason: String(reason) }, "sweep failed"),
  });
}
