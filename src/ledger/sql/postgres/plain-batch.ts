/** Operations of which no outcome depends on another, as the parameters of `ledger_commit_plain`. */
import type { Parameter } from "../../../storage/index.ts";
import type { Hold, LedgerOperation, LedgerOutcome, Release, Renew, Settle } from "../../operations.ts";
import type { LedgerMemory, RememberedHold } from "./memory.ts";

/** What changes in one account. */
interface LinkChange {
  parentId: string | undefined;
  /** The sum of its new holds; undefined where there are none. */
  taken: bigint | undefined;
  pending: bigint;
  posted: bigint;
}

type End = { operation: Settle | Release; hold: RememberedHold; charge: bigint };

export class PlainBatch {
  readonly outcomes: LedgerOutcome[] = [];
  readonly #changes = new Map<string, LinkChange>();
  readonly #holds: Hold[] = [];
  readonly #ends: End[] = [];
  readonly #renews: Renew[] = [];
  readonly #memory: LedgerMemory;
  #latest = 0;

  private constructor(memory: LedgerMemory) {
    this.#memory = memory;
  }

  /** The batch, or undefined where it is not plain, or not known to be. */
  static of(operations: readonly LedgerOperation[], memory: LedgerMemory): PlainBatch | undefined {
    const ids = new Set(operations.map((operation) => ("id" in operation ? operation.id : undefined)));
    if (ids.size < operations.length) return undefined;
    const batch = new PlainBatch(memory);
    return operations.every((operation) => batch.#add(operation)) ? batch : undefined;
  }

  #add(operation: LedgerOperation): boolean {
    switch (operation.kind) {
      case "hold":
        return this.#addHold(operation);
      case "settle":
        return this.#addEnd(operation, operation.amount);
      case "release":
        return this.#addEnd(operation, 0n);
      case "renew":
        this.#renews.push(operation);
        this.outcomes.push({ outcome: "renewed" });
        return true;
      case "grant":
      case "sweep":
        return false;
    }
  }

  #addHold(hold: Hold): boolean {
    const chain = this.#memory.chain(hold.accountId);
    if (chain === undefined) return false;
    for (const link of this.#links(chain)) {
      link.taken = (link.taken ?? 0n) + hold.amount;
      link.pending += hold.amount;
    }
    this.#holds.push(hold);
    this.#latest = Math.max(this.#latest, hold.at);
    this.outcomes.push({ outcome: "held" });
    return true;
  }

  #addEnd(operation: Settle | Release, charge: bigint): boolean {
    const hold = this.#memory.hold(operation.id);
    const chain = hold === undefined ? undefined : this.#memory.chain(hold.accountId);
    if (hold === undefined || chain === undefined || charge > hold.amount) return false;
    for (const link of this.#links(chain)) {
      link.pending -= hold.amount;
      link.posted += charge;
    }
    this.#ends.push({ operation, hold, charge });
    this.#latest = Math.max(this.#latest, operation.at);
    this.outcomes.push(operation.kind === "settle" ? { outcome: "settled", shortfall: 0n } : { outcome: "released" });
    return true;
  }

  /** The changes of each account of a chain. */
  #links(chain: readonly string[]): LinkChange[] {
    return chain.map((id, index) => {
      const known = this.#changes.get(id);
      if (known !== undefined) return known;
      const change = { parentId: chain[index + 1], taken: undefined, pending: 0n, posted: 0n };
      this.#changes.set(id, change);
      return change;
    });
  }

  /** In the order of the function's parameters. */
  parameters(): Parameter[] {
    const links = [...this.#changes].toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const [holds, ends, renews] = [this.#holds, this.#ends, this.#renews];
    return [
      links.map(([id]) => id),
      links.map(([, { parentId }]) => parentId ?? null),
      links.map(([, { taken }]) => taken?.toString() ?? null),
      links.map(([, { pending }]) => String(pending)),
      links.map(([, { posted }]) => String(posted)),
      this.#latest,
      holds.map(({ id }) => id),
      holds.map(({ accountId }) => accountId),
      holds.map(({ amount }) => String(amount)),
      holds.map(({ purpose }) => purpose),
      holds.map(({ leaseUntil }) => String(leaseUntil)),
      holds.map(({ at }) => String(at)),
      ends.map(({ operation }) => operation.id),
      ends.map(({ operation }) => operation.kind),
      ends.map(({ hold }) => hold.accountId),
      ends.map(({ hold }) => String(hold.amount)),
      ends.map(({ charge }) => String(charge)),
      ends.map(({ operation }) => String(operation.at)),
      renews.map(({ id }) => id),
      renews.map(({ leaseUntil }) => String(leaseUntil)),
      renews.map(({ observed }) => observed?.toString() ?? null),
    ];
  }
}
