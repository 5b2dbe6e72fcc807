/** Operations of which no outcome depends on another, as the parameters of `ledger_commit_plain`. */
import { type Parameter, plainRelations } from "../../../storage/index.ts";
import type { Hold, LedgerOperation, LedgerOutcome, Release, Renew, Settle, TopUp } from "../../operations.ts";
import type { CallCounts } from "../../rates.ts";
import { toGenerationColumns } from "../generations.ts";
import { AccountChange } from "./account-change.ts";
import { type Row, toArrays } from "./columns.ts";
import type { LedgerMemory, Link, RememberedHold } from "./memory.ts";

/** What `ledger_commit_plain` answers: what is counted of each account whose new holds have limits. */
export type PlainAnswer = ({ id: string } & CallCounts)[];

type PlainRow<Name extends keyof typeof plainRelations> = Row<
  (typeof plainRelations)[Name]["texts" | "numbers"][number]
>;

export class PlainBatch {
  readonly #memory: LedgerMemory;
  readonly #outcomes: LedgerOutcome[] = [];
  readonly #accounts = new Map<string, AccountChange>();
  readonly #holds: PlainRow<"holds">[] = [];
  readonly #ends: PlainRow<"ends">[] = [];
  /** Of holds that stay open. */
  readonly #changes: PlainRow<"changes">[] = [];
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
        return this.#addEnd(operation, hold, chain);
      case "top-up":
        return this.#addTopUp(operation, hold, chain);
      case "renew":
        return this.#addRenew(operation, hold, chain);
    }
  }

  /** So that an account begins one minute at most; batches that gather for longer are none. */
  #isWithinMinute(): boolean {
    return this.#latest - this.#earliest < 60_000;
  }

  #change(link: Link): AccountChange {
    const known = this.#accounts.get(link.id);
    if (known !== undefined) return known;
    const change = new AccountChange(link);
    this.#accounts.set(link.id, change);
    return change;
  }

  #addHold(hold: Hold): boolean {
    const { id, accountId, amount, purpose, leaseUntil, at, tokens = 0, retry } = hold;
    const chain = this.#memory.chain(accountId);
    if (chain === undefined || retry !== undefined || this.#memory.wasRefused(accountId)) return false;
    for (const link of chain) this.#change(link).take(amount);
    this.#accounts.get(accountId)?.beginCall(hold, this.#outcomes.length);
    this.#holds.push({ id, account: accountId, amount, purpose, lease: leaseUntil, at, tokens });
    this.#outcomes.push({ outcome: "held" });
    return true;
  }

  #addEnd(end: Settle | Release, hold: RememberedHold, chain: readonly Link[]): boolean {
    const { kind, id, at, record } = end;
    const charge = end.kind === "settle" ? end.amount : 0n;
    if (charge > hold.amount || hold.key !== undefined) return false;
    for (const link of chain) this.#change(link).post(hold.amount, charge);
    const used = end.kind === "settle" ? (end.tokens ?? hold.tokens) : 0;
    this.#accounts.get(hold.accountId)?.endCall(hold.at, used - hold.tokens);
    const columns = record && toGenerationColumns(record);
    const streamed = Number(record?.streamed ?? false);
    this.#ends.push({ id, kind, account: hold.accountId, held: hold.amount, charge, at, ...columns, streamed });
    this.#outcomes.push(end.kind === "settle" ? { outcome: "settled", shortfall: 0n } : { outcome: "released" });
    return true;
  }

  #addTopUp({ id, amount }: TopUp, hold: RememberedHold, chain: readonly Link[]): boolean {
    if (amount <= hold.amount) return false;
    for (const link of chain) this.#change(link).take(amount - hold.amount);
    this.#changes.push({ id, account: hold.accountId, held: hold.amount, amount });
    this.#outcomes.push({ outcome: "raised" });
    return true;
  }

  /** Whoever changes a hold has locked its account, so that no two of them wait for each other. */
  #addRenew(
    { id, leaseUntil, observed }: Renew,
    { accountId, amount }: RememberedHold,
    chain: readonly Link[],
  ): boolean {
    for (const link of chain.slice(0, 1)) this.#change(link);
    this.#changes.push({ id, account: accountId, held: amount, amount, lease: leaseUntil, observed });
    this.#outcomes.push({ outcome: "renewed" });
    return true;
  }

  /** In the order of the function's. */
  parameters(): Parameter[] {
    const { links, holds, ends, changes } = plainRelations;
    const accounts = [...this.#accounts.values()].toSorted((a, b) => (a.order < b.order ? -1 : 1));
    return [
      this.#latest,
      ...toArrays(links, accounts),
      ...toArrays(holds, this.#holds),
      ...toArrays(ends, this.#ends),
      ...toArrays(changes, this.#changes),
    ];
  }

  outcomes(answer: PlainAnswer): LedgerOutcome[] {
    for (const { id, ...counts } of answer) {
      for (const { place, rates } of this.#accounts.get(id)?.rates(counts) ?? []) {
        this.#outcomes[place] = { outcome: "held", rates };
      }
    }
    return this.#outcomes;
  }
}
