/** The accounts of the ledger, for transactions with other statements. */
import { Calendar, type Nano } from "../../core/index.ts";
import { firstOf, readerOf, sql, type Steps, type Storage, textsIn } from "../../storage/index.ts";
import type { Account, AccountState } from "../accounts.ts";
import type { Grant, Hold, LedgerOperation, LedgerOutcome, OutcomeOf, Refund } from "../operations.ts";
import { accountColumns, createAccount, putAccount, readAccountState } from "./account-statements.ts";
import { openLedgerStore } from "./open.ts";
import { batchParameters, type CommitRow, toOutcomes } from "./postgres/batch.ts";
import { LedgerCache } from "./postgres/ledger-cache.ts";
import { SqliteLedgerStore } from "./sqlite/store.ts";

/** Accounts whose rows become objects in one go, while the thread answers no call. */
const READ_AT_ONCE = 250;

export class LedgerSteps {
  readonly calendar: Calendar;
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.calendar = new Calendar(storage.timezone);
    this.#storage = storage;
  }

  /** Creates the account; an existing one stays unchanged. */
  *create(account: Account, at: number): Steps<void> {
    yield createAccount(account, at);
  }

  /** Sets the limits of an account, never its counters or its parent. */
  *put(account: Account, at: number): Steps<void> {
    yield putAccount(account, at, this.calendar);
  }

  /**
   * Creates an account whose running period begins with a charge: the spending of its holder before it was there. No limit applies to it;
   * set the account's by `put` afterwards.
   */
  *open(account: Account, spent: Nano, at: number): Steps<void> {
    yield* this.put({ ...account, maxBudget: undefined, raisedBy: undefined, raisedUntil: undefined }, at);
    const common = { id: `opening_${account.id}`, amount: spent, at };
    const call = { operation: "chat", dialect: undefined, provider: "opening", model: account.name } as const;
    const hold: Hold = { ...common, ...call, kind: "hold", accountId: account.id, streamed: false, leaseUntil: at };
    const [held, settled] = yield* this.#apply([hold, { ...common, kind: "settle" }]);
    const outcomes = [held, settled].map((each) => (each as LedgerOutcome).outcome);
    if (!Bun.deepEquals(outcomes, ["held", "settled"]))
      throw new Error(`the opening of ${account.id} is ${outcomes.join(", ")}`);
  }

  /** The account and its parents, upwards; empty if it does not exist. */
  *chain(id: string, at: number): Steps<AccountState[]> {
    const chain: AccountState[] = [];
    for (let next: string | undefined = id; next !== undefined;) {
      const account: AccountState | undefined = yield* firstOf(
        sql`SELECT ${accountColumns} FROM accounts WHERE id = ${next}`,
        (row) => readAccountState(row, at, this.calendar),
      );
      if (account === undefined) return chain;
      chain.push(account);
      next = account.parentId;
    }
    return chain;
  }

  /** The accounts with these ids, in no transaction and without their parents; missing ones are left out. */
  async read(ids: readonly string[], at: number): Promise<AccountState[]> {
    const found: AccountState[] = [];
    for (let from = 0; from < ids.length; from += READ_AT_ONCE) {
      const part = ids.slice(from, from + READ_AT_ONCE);
      const rows = await readerOf(this.#storage).rows(
        sql`SELECT ${accountColumns} FROM accounts WHERE id IN (${textsIn(part)})`,
        (row) => readAccountState(row, at, this.calendar),
      );
      for (const account of rows) found.push(account);
    }
    return found;
  }

  /** Gives the stored answers of an account's retry keys to another account. A key whose call is open stays with its hold. */
  *moveAnswers(from: string, to: string): Steps<void> {
    yield sql`UPDATE retry_keys SET account_id = ${to} WHERE account_id = ${from} AND status IS NOT NULL`;
  }

  /** The reason of an entry with this id. */
  reasonOf(id: string): Steps<string | undefined> {
    return firstOf(sql`SELECT reason FROM entries WHERE id = ${id}`, (row) => String(row["reason"]));
  }

  /** Applies one operation of the ledger, as `LedgerStore.commit` does. */
  *apply<Op extends Grant | Refund>(operation: Op): Steps<OutcomeOf<Op>> {
    const [outcome] = yield* this.#apply([operation]);
    if (outcome === undefined) throw new Error(`the store gave no outcome for ${operation.kind}`);
    return outcome as OutcomeOf<Op>;
  }

  *#apply(operations: readonly LedgerOperation[]): Steps<readonly unknown[]> {
    const store = openLedgerStore(this.#storage);
    // In a transaction of its connection, the store's own one is a part of it.
    if (store instanceof SqliteLedgerStore) {
      const outcomes = store.commit(operations);
      if (outcomes instanceof Promise) throw new Error("the file is locked inside of a transaction");
      return outcomes;
    }
    const [json, ends] = batchParameters(operations, new LedgerCache());
    const partEnds = Array.isArray(ends) ? `{${ends.join(",")}}` : "{}";
    const [row] = yield sql`SELECT * FROM ledger_commit(${String(json)}, ${partEnds}::text::int[], NULL::text[])`;
    if (row === undefined) throw new Error("ledger_commit gave no row");
    return toOutcomes(operations, row as unknown as CommitRow);
  }

  /** Call it after such a transaction, whether it was committed or not: the cached accounts are read again. */
  forget(): void {
    const store = openLedgerStore(this.#storage);
    if (store instanceof SqliteLedgerStore) store.forget();
  }
}
