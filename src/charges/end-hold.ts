/** The end of a hold on its way to the ledger. */
import type { Release, Settle, OutcomeOf, QueuedOperation } from "../ledger/index.ts";
import { GatewayError, type Nano } from "../core/index.ts";
import type { EndDependencies } from "./dependencies.ts";

/** An end after its first attempt. */
export interface EndOutcome {
  /** Whether the end is durable, in the store or in the journal. If not, it is still retried while the process lives. */
  isDurable: boolean;
  /** The part of the charge that nobody could pay, in nano-credits; 0 as long as the store has not answered. */
  shortfall: Nano;
}

/** The first and the longest delay before an end that the store did not accept is retried. */
const RETRY_MS = 250;
const RETRY_MS_MAX = 5_000;

/**
 * Ends a hold. Resolves after the first attempt: if the store is down, once the end is in the journal, so that no answer
 * waits for the store; further attempts follow on the ticker. A refused end is reported, because it would be a charge
 * without a payer, unless `harmless` recognises the refusal as expected. Never throws or rejects.
 */
export function endHold(deps: EndDependencies, operation: Settle | Release, harmless?: "no-hold"): Promise<EndOutcome> {
  const end = new EndOfHold(deps, operation, harmless);
  deps.ledger.enqueue(end);
  return end.tried.promise;
}

/** Waits for the end of work. Resolves to its shortfall, in nano-credits; rejects if the end could not be made durable. */
export function durably(committed: Promise<EndOutcome>): Promise<Nano> {
  return committed.then(shortfallOf);
}

function shortfallOf({ isDurable, shortfall }: EndOutcome): Nano {
  if (!isDurable) throw new GatewayError("storage_unavailable", "The charge can't be written.");
  return shortfall;
}

class EndOfHold implements QueuedOperation<Settle | Release> {
  readonly operation: Settle | Release;
  readonly #deps: EndDependencies;
  readonly #harmless: "no-hold" | undefined;
  readonly tried = Promise.withResolvers<EndOutcome>();
  #waitMs = RETRY_MS;
  #isRetry = false;

  constructor(deps: EndDependencies, operation: Settle | Release, harmless: "no-hold" | undefined) {
    this.operation = operation;
    this.#deps = deps;
    this.#harmless = harmless;
  }

  resolve(result: OutcomeOf<Settle | Release>): void {
    const { unsettled, journal, onUnsettled, observer } = this.#deps;
    const { id, record } = this.operation;
    const { outcome } = result;
    const shortfall = "shortfall" in result ? result.shortfall : 0n;
    unsettled.delete(id);
    this.tried.resolve({ isDurable: true, shortfall });
    if ((outcome === "conflict" || outcome === "no-hold") && outcome !== this.#harmless) {
      // An entry of the journal stays there: its hold may be in another storage.
      onUnsettled(id, outcome);
      return;
    }
    // One that is tried again and exists was committed, but its answer was lost.
    const wasLost = outcome === "exists" && (this.#isRetry || journal.has(id));
    const isCommitted = outcome === "settled" || outcome === "released" || wasLost;
    if (record !== undefined && isCommitted) observer.committed?.({ id, shortfall });
    // Almost no end has been there.
    if (journal.has(id)) journal.remove(id).catch((reason: unknown) => onUnsettled(id, reason));
  }

  reject(reason: unknown): void {
    const { ledger, ticker, unsettled, onUnsettled } = this.#deps;
    const { id } = this.operation;
    unsettled.set(id, this.operation);
    ticker.after(this.#waitMs, () => ledger.enqueue(this));
    this.#waitMs = Math.min(2 * this.#waitMs, RETRY_MS_MAX);
    onUnsettled(id, reason);
    if (this.#isRetry) return;
    this.#isRetry = true;
    void this.#writeToJournal();
  }

  async #writeToJournal(): Promise<void> {
    const { journal, onUnsettled, unsettled } = this.#deps;
    const { id } = this.operation;
    let isDurable = true;
    try {
      if (!journal.has(id)) await journal.write(this.operation);
      // The store may have accepted it meanwhile.
      if (!unsettled.has(id)) await journal.remove(id);
    } catch (reason) {
      isDurable = false;
      onUnsettled(id, reason);
    }
    this.tried.resolve({ isDurable, shortfall: 0n });
  }
}
