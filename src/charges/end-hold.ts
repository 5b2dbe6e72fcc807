/** The end of a hold on its way to the ledger. */
import type { Ledger, Release, Settle, OutcomeOf, QueuedOperation } from "../ledger/index.ts";
import type { Ticker } from "../streaming/index.ts";
import type { WorkObserver } from "./work-observer.ts";

export interface EndDependencies {
  ledger: Ledger;
  ticker: Ticker;
  onUnsettled: (id: string, reason: unknown) => void;
  /** Ends that the store has not accepted yet. */
  unsettled: Map<string, Settle | Release>;
  observer: WorkObserver;
}

/** The first and the longest delay before an end that the store did not accept is retried. */
const RETRY_MS = 250;
const RETRY_MS_MAX = 5_000;

/**
 * Ends a hold. Resolves after the first attempt, so that a store that is down delays no answer; further attempts follow
 * on the ticker. A refused end is reported, because it would be a charge without a payer, unless `harmless` recognises
 * the refusal as expected. Never throws or rejects.
 */
export function endHold(deps: EndDependencies, operation: Settle | Release, harmless?: "no-hold"): Promise<void> {
  const end = new EndOfHold(deps, operation, harmless);
  deps.ledger.enqueue(end);
  return end.tried;
}

class EndOfHold implements QueuedOperation<Settle | Release> {
  readonly operation: Settle | Release;
  readonly #deps: EndDependencies;
  readonly #harmless: "no-hold" | undefined;
  readonly #tried = Promise.withResolvers<void>();
  #waitMs = RETRY_MS;

  constructor(deps: EndDependencies, operation: Settle | Release, harmless: "no-hold" | undefined) {
    this.operation = operation;
    this.#deps = deps;
    this.#harmless = harmless;
  }

  get tried(): Promise<void> {
    return this.#tried.promise;
  }

  resolve(result: OutcomeOf<Settle | Release>): void {
    const { unsettled, onUnsettled, observer } = this.#deps;
    const { id, record } = this.operation;
    const { outcome } = result;
    unsettled.delete(id);
    this.#tried.resolve();
    if (outcome === "conflict" || outcome === "no-hold") {
      if (outcome !== this.#harmless) onUnsettled(id, outcome);
    } else if (record !== undefined && outcome !== "exists") {
      observer.committed?.({ id, shortfall: "shortfall" in result ? result.shortfall : 0n });
    }
  }

  reject(reason: unknown): void {
    const { ledger, ticker, unsettled, onUnsettled } = this.#deps;
    const { id } = this.operation;
    unsettled.set(id, this.operation);
    ticker.after(this.#waitMs, () => ledger.enqueue(this));
    this.#waitMs = Math.min(2 * this.#waitMs, RETRY_MS_MAX);
    this.#tried.resolve();
    onUnsettled(id, reason);
  }
}
