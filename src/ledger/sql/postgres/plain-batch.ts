/** Operations of which no outcome depends on another, as the parameters of `ledger_commit_plain`. */
import type { Parameter } from "../../../storage/index.ts";
import type { Hold, LedgerOperation, LedgerOutcome, Release, Renew, Settle, TopUp } from "../../operations.ts";
import type { CallCounts } from "../../rates.ts";
import { toGenerationColumns } from "../generations.ts";
import { AccountChange, accountColumns } from "./account-change.ts";
import { type Row, toColumns } from "./columns.ts";
import type { LedgerMemory, RememberedHold } from "./memory.ts";

/** What `ledger_commit_plain` answers: with `done`, what is counted of the accounts whose holds came with limits. */
export interface PlainRow {
  done: boolean;
  rated_ids: string[] | null;
  minutes: bigint[] | null;
  requests: bigint[] | null;
  tokens: bigint[] | null;
  calls: bigint[] | null;
}

/** In the order of the parameters of `ledger_commit_plain`. */
const holdColumns = ["id", "account", "amount", "purpose", "lease", "at", "tokens"] as const;
const endColumns = ["id", "kind", "account", "held", "charge", "at"] as const;
const changeColumns = ["id", "account", "held", "amount", "lease", "observed"] as const;

export class PlainBatch {
  readonly #memory: LedgerMemory;
  readonly #outcomes: LedgerOutcome[] = [];
  readonly #accounts = new Map<string, AccountChange>();
  readonly #holds: Row<(typeof holdColumns)[number]>[] = [];
  readonly #ends: Row<(typeof endColumns)[number]>[] = [];
  /** Rows of `generations`. */
  readonly #records: object[] = [];
  /** Of holds that stay open. */
  readonly #changes: Row<(typeof changeColumns)[number]>[] = [];
  #earliest = Infinity;
  #latest = 0;

  private constructor(memory: LedgerMemory) {
    this.#memory = memory;
  }

  /** The batch, or undefined where it is not plain, or not known to be. */
  static of(operations: readonly LedgerOperation[], memory: LedgerMemory): PlainBatch | undefined {
    const ids = new Set(operations.map((operation) => ("id" in operation ? operation.id : undefined)));
    if (ids.size < operations.length) return undefined;
    const batch = new PlainBatch(memory);
    return operations.every((operation) => batch.#add(operation)) && batch.#isWithinMinute() ? batch : undefined;
  }

  #add(operation: LedgerOperation): boolean {
    if (operation.kind === "grant" || operation.kind === "sweep") return false;
    if (operation.kind !== "renew") {
      this.#earliest = Math.min(this.#earliest, operation.at);
      this.#latest = Math.max(this.#latest, operation.at);
    }
    if (operation.kind === "hold") return this.#addHold(operation);
    const hold = this.#memory.hold(operation.id);
    const chain = hold && this.#memory.chain(hold.accountId);
    if (hold === undefined || chain === undefined) return false;
    switch (operation.kind) {
      case "settle":
      case "release":
        return this.#addEnd(operation, hold, this.#links(chain));
      case "top-up":
        return this.#addTopUp(operation, hold, this.#links(chain));
      case "renew":
        // Whoever changes a hold has locked its account: that keeps two of them from waiting for each other.
        this.#link(chain, 0);
        return this.#addRenew(operation, hold);
    }
  }

  /** So that an account begins one minute at most; batches that gather for longer are none. */
  #isWithinMinute(): boolean {
    return this.#latest - this.#earliest < 60_000;
  }

  /** The changes of each account of a chain. */
  #links(chain: readonly string[]): AccountChange[] {
    return chain.map((_, level) => this.#link(chain, level));
  }

  #link(chain: readonly string[], level: number): AccountChange {
    const id = chain[level] ?? "";
    const change = this.#accounts.get(id) ?? new AccountChange(id, chain[level + 1]);
    this.#accounts.set(id, change);
    return change;
  }

  #addHold(hold: Hold): boolean {
    const { id, accountId, amount, purpose, leaseUntil, at, tokens = 0, retry } = hold;
    const chain = this.#memory.chain(accountId);
    if (chain === undefined || retry !== undefined || this.#memory.wasRefused(accountId)) return false;
    const links = this.#links(chain);
    for (const link of links) link.take(amount);
    links[0]?.beginCall(hold, this.#outcomes.length);
    this.#holds.push({ id, account: accountId, amount, purpose, lease: leaseUntil, at, tokens });
    this.#outcomes.push({ outcome: "held" });
    return true;
  }

  #addEnd(end: Settle | Release, hold: RememberedHold, links: AccountChange[]): boolean {
    const { kind, id, at, record } = end;
    const charge = end.kind === "settle" ? end.amount : 0n;
    if (charge > hold.amount || hold.hasKey) return false;
    for (const link of links) link.post(hold.amount, charge);
    const used = end.kind === "settle" ? (end.tokens ?? hold.tokens) : 0;
    links[0]?.endCall(hold.at, used - hold.tokens);
    this.#ends.push({ id, kind, account: hold.accountId, held: hold.amount, charge, at });
    if (record !== undefined) {
      const credits = String(charge);
      this.#records.push({ id, account_id: hold.accountId, credits, ...toGenerationColumns(record) });
    }
    this.#outcomes.push(end.kind === "settle" ? { outcome: "settled", shortfall: 0n } : { outcome: "released" });
    return true;
  }

  #addTopUp({ id, amount }: TopUp, hold: RememberedHold, links: AccountChange[]): boolean {
    if (amount <= hold.amount) return false;
    for (const link of links) link.take(amount - hold.amount);
    this.#changes.push({ id, account: hold.accountId, held: hold.amount, amount });
    this.#outcomes.push({ outcome: "raised" });
    return true;
  }

  #addRenew({ id, leaseUntil, observed }: Renew, hold: RememberedHold): boolean {
    const { accountId, amount } = hold;
    this.#changes.push({ id, account: accountId, held: amount, amount, lease: leaseUntil, observed });
    this.#outcomes.push({ outcome: "renewed" });
    return true;
  }

  /** In the order of the function's. */
  parameters(): Parameter[] {
    const accounts = [...this.#accounts.values()].toSorted((a, b) => (a.order < b.order ? -1 : 1));
    return [
      ...toColumns(
        accountColumns,
        accounts.map((change) => change.row()),
      ),
      this.#latest,
      ...toColumns(holdColumns, this.#holds),
      ...toColumns(endColumns, this.#ends),
      this.#records.length === 0 ? null : JSON.stringify(this.#records),
      ...toColumns(changeColumns, this.#changes),
    ];
  }

  /** Once it is done. */
  outcomes({ rated_ids: ids, ...counts }: PlainRow): LedgerOutcome[] {
    for (const [index, id] of (ids ?? []).entries()) {
      const after: CallCounts = {
        minuteStart: Number(counts.minutes?.[index]),
        minuteRequests: Number(counts.requests?.[index]),
        minuteTokens: Number(counts.tokens?.[index]),
        openCalls: Number(counts.calls?.[index]),
      };
      for (const { place, rates } of this.#accounts.get(id)?.rates(after) ?? []) {
        this.#outcomes[place] = { outcome: "held", rates };
      }
    }
    return this.#outcomes;
  }
}
