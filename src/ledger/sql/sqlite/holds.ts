import type { Nano } from "../../../core/index.ts";
import type { Hold } from "../../operations.ts";
import type { HoldRow } from "../rows.ts";
import type { LedgerStatements } from "./statements.ts";

/** What ends or raises a hold must know of it. */
export interface HeldAmount {
  readonly id: string;
  readonly accountId: string;
  amount: Nano;
  readonly tokens: number;
  readonly takenAt: number;
  /** The key that it claims. */
  readonly retryKey: string | null;
}

/**
 * The holds that are open. Those that this process has taken stay in memory too, so that their end needs no look at the
 * row; like the accounts in memory they are stale once another process has committed.
 */
export class Holds {
  readonly #sql: LedgerStatements;
  readonly #known = new Map<string, HeldAmount>();

  constructor(sql: LedgerStatements) {
    this.#sql = sql;
  }

  /** Forgets what is in memory. */
  clear(): void {
    this.#known.clear();
  }

  find(id: string): HeldAmount | undefined {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const row = this.#sql.hold.get(id);
    return row === null ? undefined : toHeld(row);
  }

  /** Whether it is new: one with the same id stays as it is. */
  insert({ id, accountId, amount, description, leaseUntil, at, tokens = 0, retry, parent }: Hold): boolean {
    const retryKey = retry?.key ?? null;
    const { changes } = this.#sql.insertHold.run(
      id,
      accountId,
      amount,
      description,
      leaseUntil,
      at,
      tokens,
      retryKey,
      parent ?? null,
    );
    if (changes === 0) return false;
    this.#known.set(id, { id, accountId, amount, tokens, takenAt: at, retryKey });
    return true;
  }

  raise(hold: HeldAmount, amount: Nano): void {
    this.#sql.raiseHold.run(amount, hold.id);
    hold.amount = amount;
  }

  /** Removes it; undefined where there is none. A `DELETE … RETURNING` would cost twice as much as the two statements. */
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
  };
}
