/** Ledger operations as the parameters of `ledger_commit`, and its answer as their outcomes. */
import type { Parameter } from "../../../storage/index.ts";
import type { LedgerOperation, LedgerOutcome, Outcomes } from "../../operations.ts";

/** What `ledger_commit` answers: an element for each operation. */
export interface CommitRow {
  outcomes: string[] | null;
  /** The room of a refused hold, the shortfall of a settlement, the number of swept holds. */
  figures: (bigint | null)[];
  /** The account that refused a hold. */
  names: (string | null)[];
  /** The accounts of all chains and, at the same places, their parents; null where the caller gave the chains. */
  link_ids: string[] | null;
  parent_ids: (string | null)[] | null;
}

/** The parameters of `ledger_commit`, but for the last one. */
export function batchParameters(operations: readonly LedgerOperation[]): Parameter[] {
  const { kinds, ids, accountIds, amounts, ats, leases, purposes, parts, sweepAt } = new Batch(operations);
  return [kinds, ids, accountIds, amounts, ats, leases, purposes, parts, sweepAt];
}

/** One array a field, an element an operation; null where an operation has no such field. */
class Batch {
  readonly kinds: string[] = [];
  readonly ids: (string | null)[] = [];
  readonly accountIds: (string | null)[] = [];
  readonly amounts: (string | null)[] = [];
  readonly ats: (string | null)[] = [];
  readonly leases: (string | null)[] = [];
  readonly purposes: (string | null)[] = [];
  /** Counted from 1 upwards; within a part no id occurs twice, and a sweep is alone. */
  readonly parts: string[] = [];
  /** The latest moment that a sweep of the batch asks for. */
  sweepAt: number | null = null;
  #part = 1;
  #idsOfPart = new Set<string>();

  constructor(operations: readonly LedgerOperation[]) {
    for (const operation of operations) this.#add(operation);
  }

  #add(operation: LedgerOperation): void {
    const { kind } = operation;
    this.#choosePart(operation);
    this.kinds.push(kind);
    this.parts.push(String(this.#part));
    this.ids.push(kind === "sweep" ? null : operation.id);
    this.ats.push(kind === "renew" ? null : String(operation.at));
    this.accountIds.push(kind === "hold" || kind === "grant" ? operation.accountId : null);
    this.amounts.push(amountOf(operation));
    this.leases.push(kind === "hold" || kind === "renew" ? String(operation.leaseUntil) : null);
    this.purposes.push(kind === "hold" ? operation.purpose : null);
  }

  #choosePart(operation: LedgerOperation): void {
    if (operation.kind === "sweep") {
      this.sweepAt = Math.max(this.sweepAt ?? operation.at, operation.at);
      if (this.parts.length > 0) this.#part += 1;
    } else if (this.#idsOfPart.has(operation.id) || this.kinds.at(-1) === "sweep") {
      this.#part += 1;
      this.#idsOfPart = new Set([operation.id]);
    } else {
      this.#idsOfPart.add(operation.id);
    }
  }
}

function amountOf(operation: LedgerOperation): string | null {
  switch (operation.kind) {
    case "hold":
    case "settle":
    case "grant":
      return String(operation.amount);
    case "renew":
      return operation.observed?.toString() ?? null;
    case "release":
    case "sweep":
      return null;
  }
}

export function toOutcomes(operations: readonly LedgerOperation[], row: CommitRow): LedgerOutcome[] {
  return operations.map(({ kind }, index) => {
    const outcome = row.outcomes?.[index];
    if (outcome === undefined) throw new Error(`ledger_commit gave no outcome for ${kind}`);
    return toOutcome(kind, outcome, row.figures[index] ?? 0n, row.names[index] ?? "");
  });
}

/** The words are those of `ledger_commit`, which are the ledger's own. */
function toOutcome(kind: LedgerOperation["kind"], outcome: string, figure: bigint, name: string): LedgerOutcome {
  if (outcome === "insufficient") return { outcome, accountId: name, available: figure };
  if (outcome === "swept") return { outcome, expired: Number(figure) };
  if (kind === "settle" && (outcome === "settled" || outcome === "exists")) return { outcome, shortfall: figure };
  return { outcome } as Exclude<LedgerOutcome, Outcomes["settle"] | Outcomes["sweep"]>;
}
