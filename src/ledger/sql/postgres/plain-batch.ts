/** Converts operations whose outcomes do not depend on each other to the parameters of `ledger_commit_plain`. */
import type { Parameter } from "../../../storage/index.ts";
import { plainRows } from "./plain-commit-function.ts";
import type {
  Hold,
  LedgerOperation,
  LedgerOutcome,
  Park,
  RateState,
  Release,
  Renew,
  Settle,
  TopUp,
} from "../../operations.ts";
import { type CallCounts, seenRates } from "../../rates.ts";
import { toGenerationColumns } from "../generations.ts";
import { AccountChange } from "./account-change.ts";
import { jobColumns } from "./batch.ts";
import { rowsLiteral, storable } from "./columns.ts";
import type { LedgerCache, ChainAccount, RememberedHold } from "./ledger-cache.ts";

/** The result of `ledger_commit_plain`: the counts of each account whose new holds have limits. */
export type PlainAnswer = ({ id: string } & CallCounts)[];

type PlainRow<Kind extends keyof typeof plainRows> = Partial<
  Record<keyof (typeof plainRows)[Kind], string | number | bigint | boolean | null | undefined>
>;

const columns = {
  link: namesOf(plainRows.link),
  hold: namesOf(plainRows.hold),
  end: namesOf(plainRows.end),
  change: namesOf(plainRows.change),
  job: namesOf(plainRows.job),
};

function namesOf<Columns extends object>(row: Columns): (keyof Columns)[] {
  // The type of an object literal lists all its keys.
  return Object.keys(row) as (keyof Columns)[];
}

export class PlainBatch {
  readonly #memory: LedgerCache;
  readonly #outcomes: LedgerOutcome[] = [];
  readonly #accounts = new Map<string, AccountChange>();
  readonly #holds: (PlainRow<"hold"> & { id: string })[] = [];
  readonly #ends: PlainRow<"end">[] = [];
  /** Changes of holds that stay open. */
  readonly #changes: PlainRow<"change">[] = [];
  /** Rows of jobs that holds are handed over to. */
  readonly #jobs: PlainRow<"job">[] = [];
  /** New holds with limits, by their position, and the counts for those. */
  readonly #rated = new Map<number, { hold: Hold; seen: RateState[] }>();
  #earliest = Infinity;
  #latest = 0;

  private constructor(memory: LedgerCache) {
    this.#memory = memory;
  }

  /** The batch, or undefined if it is not plain, or not known to be. */
  static of(operations: readonly LedgerOperation[], memory: LedgerCache): PlainBatch | undefined {
    const ids = new Set(operations.map((operation) => ("id" in operation ? operation.id : undefined)));
    if (ids.size < operations.length) return undefined;
    const batch = new PlainBatch(memory);
    return operations.every((operation) => batch.#add(operation)) && batch.#isWithinMinute() ? batch : undefined;
  }

  #add(operation: LedgerOperation): boolean {
    const { kind } = operation;
    if (kind === "grant" || kind === "refund" || kind === "sweep" || kind === "keep-answer" || kind === "move")
      return false;
    if ("at" in operation) {
      this.#earliest = Math.min(this.#earliest, operation.at);
      this.#latest = Math.max(this.#latest, operation.at);
    }
    if (operation.kind === "hold") return this.#addHold(operation);
    const hold = this.#memory.hold(operation.id);
    const chain = hold && this.#memory.chain(hold.accountId);
    if (hold === undefined || chain === undefined || this.#memory.isBudgeted(hold.accountId)) return false;
    switch (operation.kind) {
      case "settle":
      case "release":
        return this.#addEnd(operation, hold, chain);
      case "top-up":
        return this.#addTopUp(operation, hold, chain);
      case "renew":
        return this.#addRenew(operation, hold, chain);
      case "park":
        return this.#addPark(operation, hold, chain);
    }
  }

  /** An account then begins at most one minute. Batches that collect for longer are not plain. */
  #isWithinMinute(): boolean {
    return this.#latest - this.#earliest < 60_000;
  }

  #changeOf(link: ChainAccount): AccountChange {
    const known = this.#accounts.get(link.id);
    if (known !== undefined) return known;
    const change = new AccountChange(link);
    this.#accounts.set(link.id, change);
    return change;
  }

  #addHold(hold: Hold): boolean {
    const { id, accountId, amount, operation, provider, model, dialect, streamed, leaseUntil, at, tokens = 0 } = hold;
    const chain = this.#memory.chain(accountId);
    if (chain === undefined || hold.retry !== undefined || this.#memory.wasRefused(accountId)) return false;
    if (this.#memory.isBudgeted(accountId)) return false;
    const place = this.#outcomes.length;
    for (const [level, link] of chain.entries()) {
      const change = this.#changeOf(link);
      change.take(amount);
      change.beginCall(hold, { place, level, limits: level === 0 ? hold.rates : hold.ratesAbove?.[level - 1] });
    }
    const { parent, session, isPart } = hold;
    const call = { operation, provider, model, dialect, streamed, parent, session, is_part: isPart };
    this.#holds.push({ id, account: accountId, amount, lease: leaseUntil, at, tokens, ...call });
    if (hold.rates !== undefined || hold.ratesAbove !== undefined) this.#rated.set(place, { hold, seen: [] });
    this.#outcomes.push({ outcome: "held" });
    return true;
  }

  #addEnd(end: Settle | Release, hold: RememberedHold, chain: readonly ChainAccount[]): boolean {
    const { kind, id, at, record } = end;
    const charge = end.kind === "settle" ? end.amount : 0n;
    if (charge > hold.amount || hold.key !== undefined) return false;
    const used = end.kind === "settle" ? (end.tokens ?? hold.tokens) : 0;
    for (const link of chain) {
      const change = this.#changeOf(link);
      change.post(hold.amount, charge);
      change.endCall(hold, used - hold.tokens);
    }
    const generation = record && toGenerationColumns(record);
    this.#ends.push({ id, kind, account: hold.accountId, held: hold.amount, charge, at, ...generation });
    this.#outcomes.push(end.kind === "settle" ? { outcome: "settled", shortfall: 0n } : { outcome: "released" });
    return true;
  }

  #addTopUp({ id, amount }: TopUp, hold: RememberedHold, chain: readonly ChainAccount[]): boolean {
    if (amount <= hold.amount) return false;
    for (const link of chain) this.#changeOf(link).take(amount - hold.amount);
    this.#changes.push({ id, account: hold.accountId, held: hold.amount, amount });
    this.#outcomes.push({ outcome: "raised" });
    return true;
  }

  /** Every change of a hold locks its account, so two changes cannot deadlock. */
  #addRenew(
    { id, leaseUntil, observed, keeper }: Renew,
    { accountId, amount }: RememberedHold,
    chain: readonly ChainAccount[],
  ): boolean {
    for (const link of chain.slice(0, 1)) this.#changeOf(link);
    this.#changes.push({ id, account: accountId, held: amount, amount, lease: leaseUntil, observed, keeper });
    this.#outcomes.push({ outcome: "renewed" });
    return true;
  }

  #addPark(
    { id, leaseUntil, job }: Park,
    { accountId, amount }: RememberedHold,
    chain: readonly ChainAccount[],
  ): boolean {
    for (const link of chain.slice(0, 1)) this.#changeOf(link);
    const change = { id, account: accountId, held: amount, amount, lease: leaseUntil };
    this.#changes.push({ ...change, keeper: "job", parks: true });
    this.#jobs.push(jobColumns(job));
    this.#outcomes.push({ outcome: "parked" });
    return true;
  }

  /** In the order of the function's parameters. */
  parameters(): Parameter[] {
    const accounts = [...this.#accounts.values()].toSorted((a, b) => (a.order < b.order ? -1 : 1));
    const holdIds = this.#holds.map(({ id }) => id);
    return [
      this.#latest,
      storable(holdIds.reduce((first, id) => (id < first ? id : first), holdIds[0] ?? "")),
      storable(holdIds.reduce((last, id) => (id > last ? id : last), "")),
      accounts.some(({ rated }) => rated),
      rowsLiteral(columns.link, accounts),
      rowsLiteral(columns.hold, this.#holds),
      rowsLiteral(columns.end, this.#ends),
      rowsLiteral(columns.change, this.#changes),
      rowsLiteral(columns.job, this.#jobs),
    ];
  }

  outcomes(answer: PlainAnswer): LedgerOutcome[] {
    for (const { id, ...counts } of answer) {
      for (const { place, level, rates } of this.#accounts.get(id)?.rates(counts) ?? []) {
        const rated = this.#rated.get(place);
        if (rated !== undefined) rated.seen[level] = rates;
      }
    }
    for (const [place, { hold, seen }] of this.#rated) {
      this.#outcomes[place] = { outcome: "held", ...seenRates(hold, seen) };
    }
    return this.#outcomes;
  }
}
