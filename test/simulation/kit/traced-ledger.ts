import { Ledger, type LedgerOperation, type OutcomeOf, type QueuedOperation } from "../../../src/ledger/index.ts";

export interface LedgerWatch {
  begun: (operation: LedgerOperation) => void;
  /** `outcome` is undefined if the ledger could not answer. */
  answered: (operation: LedgerOperation, outcome: OutcomeOf<LedgerOperation> | undefined) => void;
}

/** The real ledger, which reports the beginning and the answer of each operation. */
export class TracedLedger extends Ledger {
  readonly #watch: LedgerWatch;

  constructor(options: ConstructorParameters<typeof Ledger>[0], watch: LedgerWatch) {
    super(options);
    this.#watch = watch;
  }

  override enqueue<Op extends LedgerOperation>(waiting: QueuedOperation<Op>): void {
    // A refused hold is submitted again with another operation.
    const { operation } = waiting;
    this.#watch.begun(operation);
    super.enqueue<Op>({
      operation,
      resolve: (outcome) => {
        this.#watch.answered(operation, outcome);
        waiting.resolve(outcome);
      },
      reject: (reason) => {
        this.#watch.answered(operation, undefined);
        waiting.reject(reason);
      },
    });
  }
}
