import type { Nano } from "../../../core/index.ts";
import type { Hold, Move, Outcomes, Park, Renew } from "../../operations.ts";
import { type CallBudgets, readBudgets, storedBudgets } from "../call-budgets.ts";
import type { HoldRow } from "../rows.ts";
import type { LedgerStatements } from "./statements.ts";

/** The data needed to end or raise a hold. */
export interface HeldAmount {
  readonly id: string;
  readonly accountId: string;
  amount: Nano;
  readonly tokens: number;
  readonly takenAt: number;
  /** The retry key that it claims. */
  readonly retryKey: string | null;
  /** See `Hold`. */
  readonly isPart: boolean;
  budgets: CallBudgets;
}

/**
 * The open holds. Those taken by this process are also cached, so that ending them needs no read of the row. Like the
 * cached accounts, they are stale once another process has committed.
 */
export class Holds {
  readonly #sql: LedgerStatements;
  readonly #known = new Map<string, HeldAmount>();

  constructor(sql: LedgerStatements) {
    this.#sql = sql;
  }

  /** Clears the cache. */
  clear(): void {
    this.#known.clear();
  }

  find(id: string): HeldAmount | undefined {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const row = this.#sql.hold.get(id);
    return row === null ? undefined : toHeld(row);
  }

  /** Returns whether the hold is new; an existing one with the same id stays unchanged. */
  insert(hold: Hold, budgets: CallBudgets): boolean {
    const { id, accountId, amount, at, tokens = 0, retry, isPart = false } = hold;
    const retryKey = retry?.key ?? null;
    const { changes } = this.#sql.insertHold.run(
      id,
      accountId,
      amount,
      hold.operation,
      hold.provider,
      hold.model,
      hold.dialect ?? null,
      hold.streamed ? 1 : 0,
      hold.leaseUntil,
      at,
      tokens,
      retryKey,
      hold.parent ?? null,
      hold.session ?? null,
      storedBudgets(budgets),
      isPart ? 1 : null,
    );
    if (changes === 0) return false;
    this.#known.set(id, { id, accountId, amount, tokens, takenAt: at, retryKey, isPart, budgets });
    return true;
  }

  /** Hands the hold over to a job and creates the job's row. */
  park({ id, leaseUntil, job }: Park): Outcomes["park"] {
    const keeper = this.#sql.hold.get(id)?.keeper;
    if (keeper === undefined) return { outcome: "ended" };
    if (keeper === "job") return { outcome: "exists" };
    const { kind, owner, payload, runAt, createdAt, lease } = job;
    const row = [job.id, kind, owner, JSON.stringify(payload), runAt, createdAt] as const;
    const leased = [lease?.token ?? null, lease?.node ?? null, lease?.until ?? null] as const;
    if (this.#sql.insertJob.run(...row, ...leased).changes === 0) return { outcome: "conflict" };
    this.#sql.renewHold.run(leaseUntil, null, "job", id);
    return { outcome: "parked" };
  }

  renew({ id, leaseUntil, observed, keeper }: Renew): Outcomes["renew"] {
    const { changes } = this.#sql.renewHold.run(leaseUntil, observed ?? null, keeper ?? null, id);
    return { outcome: changes === 0 ? "ended" : "renewed" };
  }

  raise(hold: HeldAmount, amount: Nano): void {
    this.#sql.raiseHold.run(amount, hold.id);
    hold.amount = amount;
  }

  move(hold: HeldAmount, { amount, provider, model }: Move, budgets: CallBudgets): void {
    this.#sql.moveHold.run(amount, provider, model, storedBudgets(budgets), hold.id);
    hold.amount = amount;
    hold.budgets = budgets;
  }

  /**
   * Removes the hold; undefined if it does not exist. A `DELETE … RETURNING` would cost twice as much as the two
   * statements.
   */
  take(id: string): HeldAmount | undefined {
    const hold = this.find(id);
    if (hold === undefined) return undefined;
    this.#known.delete(id);
    return this.#sql.deleteHold.run(id).changes === 0 ? undefined : hold;
  }
}

function toHeld(row: HoldRow): HeldAmount {
  return {
    id: row.id,
    accountId: row.account_id,
    amount: row.amount,
    tokens: Number(row.tokens),
    takenAt: Number(row.created_at),
    retryKey: row.retry_key,
    isPart: row.is_part === 1n || row.is_part === true,
    budgets: readBudgets(row.budgets),
  };
}
