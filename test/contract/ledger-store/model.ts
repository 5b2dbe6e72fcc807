/**
 * A model of the ledger: lists of events, and every figure summed again whenever it is needed. Slow and obvious on
 * purpose; the stores must have the same outcomes and figures.
 */
import type {
  Account,
  AccountState,
  CallRecord,
  Grant,
  Hold,
  KeepAnswer,
  Move,
  LedgerOperation,
  LedgerOutcome,
  OpenHold,
  OutcomeOf,
  Park,
  Refund,
  Release,
  Renew,
  Settle,
  StoredAnswer,
  TopUp,
} from "../../../src/ledger/index.ts";
import { limits } from "../../../src/core/index.ts";
import { PaperAnswers, PaperMinutes, refusalByRates, seenOf } from "./model-calls.ts";
import { periodName, startOf } from "./model-periods.ts";

type Outcome<Kind extends LedgerOperation["kind"]> = OutcomeOf<Extract<LedgerOperation, { kind: Kind }>>;

interface Charge {
  holdId: string;
  account: string;
  amount: bigint;
}

/** By account, the period in which something was charged. */
type Periods = ReadonlyMap<string, string>;

interface PaperHold extends OpenHold {
  /** A late end makes an expired hold `made-good`: charged the cost of the call, even if that is nothing. */
  state: "open" | "settled" | "released" | "expired" | "made-good";
  /** The cost of the call according to its end. */
  cost: bigint;
  /** What was charged at its end, and beyond that by a late end; what a late end returned is off the first. */
  parts: { amount: bigint; periods: Periods }[];
  isRefunded: boolean;
  shortfall: bigint;
  tokens: number;
  retry: Hold["retry"];
  /** Whether it claims its retry key: an answer takes the place of the claim. */
  claims: boolean;
  /** The record of an ended call. */
  record: CallRecord | "expired" | undefined;
  parent: string | undefined;
  isPart: boolean;
  /** The budgets that it counts in beside its chain. */
  budgets: readonly string[];
}

/** The readable part of an ended call. */
export interface PaperGeneration {
  id: string;
  account: string;
  owner: string;
  outcome: string;
  credits: bigint;
  startedAt: number;
  parent: string | undefined;
}

/** The owner of a retry key: an open hold, or an answered one. */
export interface PaperKey {
  account: string;
  key: string;
  holdId: string;
  answered: boolean;
}

/** The amount that counts against a budget, and the first day of its period, or "". */
interface Spend {
  period: string;
  amount: bigint;
}

/** A budget beside the chains through an account: for the models that match one of the globs, or for all. */
export interface PaperBudget {
  account: Account;
  owner: string;
  models: readonly string[] | undefined;
}

export class PaperLedger {
  readonly #budgets: PaperBudget[] = [];
  readonly #accounts = new Map<string, Account>();
  readonly #grants = new Map<string, { account: string; amount: bigint }>();
  readonly #holds = new Map<string, PaperHold>();
  readonly #charges: Charge[] = [];
  readonly #spends = new Map<string, Spend>();
  readonly #minutes = new PaperMinutes();
  readonly #answers = new PaperAnswers();
  readonly #jobs = new Map<string, string>();

  put(account: Account): void {
    this.#accounts.set(account.id, account);
  }

  putBudget(budget: PaperBudget): void {
    this.put(budget.account);
    this.#budgets.push(budget);
  }

  apply(operation: LedgerOperation): LedgerOutcome {
    switch (operation.kind) {
      case "hold":
        return this.#hold(operation);
      case "top-up":
        return this.#topUp(operation);
      case "move":
        return this.#move(operation);
      case "settle":
        return this.#settle(operation);
      case "release":
        return this.#release(operation);
      case "renew":
        return this.#renew(operation);
      case "park":
        return this.#park(operation);
      case "keep-answer":
        return this.#keepAnswer(operation);
      case "grant":
        return this.#grant(operation);
      case "refund":
        return this.#refund(operation);
      case "sweep":
        return this.#sweep(operation.at);
    }
  }

  state(id: string, at: number): AccountState {
    const account = this.#accounts.get(id);
    if (account === undefined) throw new Error(`no account ${id}`);
    const charges = this.#charges.filter((charge) => charge.account === id);
    const grants = [...this.#grants.values()].filter((grant) => grant.account === id);
    const open = this.openHolds().filter((hold) => this.#counted(hold).some((link) => link.id === id));
    return {
      ...account,
      ...(account.raisedUntil !== undefined &&
        account.raisedUntil <= at && { raisedBy: undefined, raisedUntil: undefined }),
      creditsPosted: total(grants),
      debitsPosted: total(charges),
      debitsPending: total(open),
      periodDebits: this.#spendOf(account, at).amount,
    };
  }

  openHolds(): PaperHold[] {
    return [...this.#holds.values()].filter(({ state }) => state === "open");
  }

  generations(): PaperGeneration[] {
    return [...this.#holds.values()].flatMap(({ id, accountId, record, createdAt, parent }): PaperGeneration[] => {
      if (record === undefined) return [];
      const credits = this.#chargedFor(id, accountId);
      const common = { id, account: accountId, credits };
      return record === "expired"
        ? [{ ...common, owner: this.#ownerOf(accountId), outcome: "expired", startedAt: createdAt, parent }]
        : [{ ...common, ...readableOf(record) }];
    });
  }

  keys(): PaperKey[] {
    const claims = this.openHolds().flatMap(({ id, accountId, retry, claims: isClaimed }) =>
      retry === undefined || !isClaimed ? [] : [{ account: accountId, key: retry.key, holdId: id, answered: false }],
    );
    const answers = this.#answers.all().map(({ account, key, holdId }) => ({ account, key, holdId, answered: true }));
    return [...claims, ...answers];
  }

  /** The payload of each job that a hold was handed over to. */
  jobs(): ReadonlyMap<string, string> {
    return this.#jobs;
  }

  shortfall(): bigint {
    return [...this.#holds.values()].reduce((sum, hold) => sum + hold.shortfall, 0n);
  }

  #links(id: string): Account[] {
    const account = this.#accounts.get(id);
    if (account === undefined) return [];
    return account.parentId === undefined ? [account] : [account, ...this.#links(account.parentId)];
  }

  /** The accounts of a call: its chain, and the budgets beside it. */
  #counted({ accountId, budgets }: Pick<PaperHold, "accountId" | "budgets">): Account[] {
    return [...this.#links(accountId), ...this.#accountsOf(budgets)];
  }

  #accountsOf(ids: readonly string[]): Account[] {
    return ids.flatMap((id) => this.#accounts.get(id) ?? []);
  }

  /** Those of the token first, then upwards. */
  #budgetsFor(accountId: string, model: string): string[] {
    return this.#links(accountId).flatMap(({ id }) => {
      const own = this.#budgets.filter(({ owner, models }) => owner === id && (models?.some(matching(model)) ?? true));
      return own.map(({ account }) => account.id).toSorted();
    });
  }

  /** A token without a user above it stands alone here: nobody issued it. */
  #ownerOf(id: string): string {
    const links = this.#links(id);
    return (links.find(({ kind }) => kind === "user") ?? links[0])?.name ?? "";
  }

  #chargedFor(holdId: string, account: string): bigint {
    return total(this.#charges.filter((charge) => charge.holdId === holdId && charge.account === account));
  }

  #spendOf(account: Account, at: number): Spend {
    const now = periodName(account, at);
    const spend = this.#spends.get(account.id);
    return spend === undefined || spend.period < now ? { period: now, amount: 0n } : spend;
  }

  /** The account with the least room, the first of equals: the nearest to the token, and budgets last. */
  #tightest(accounts: readonly Account[], at: number): { id: string; room: bigint } | undefined {
    let tightest: { id: string; room: bigint } | undefined;
    for (const link of accounts) {
      const { creditsPosted, debitsPosted, debitsPending, periodDebits, raisedBy = 0n } = this.state(link.id, at);
      const balance = link.prepaid ? creditsPosted - debitsPosted - debitsPending : undefined;
      const budget =
        link.maxBudget === undefined ? undefined : link.maxBudget + raisedBy - periodDebits - debitsPending;
      for (const room of [balance, budget]) {
        if (room !== undefined && (tightest === undefined || room < tightest.room)) tightest = { id: link.id, room };
      }
    }
    return tightest;
  }

  #lackOfRoom(accounts: readonly Account[], amount: bigint, at: number) {
    const tightest = this.#tightest(accounts, at);
    return tightest !== undefined && tightest.room < amount
      ? ({ outcome: "insufficient", accountId: tightest.id, available: tightest.room } as const)
      : undefined;
  }

  #hold(hold: Hold): Outcome<"hold"> {
    const { id, accountId, amount, at, leaseUntil, tokens = 0, retry, parent, isPart = false } = hold;
    const before = this.#holds.get(id);
    if (!this.#accounts.has(accountId)) return { outcome: "no-account" };
    if (before !== undefined) {
      const same = before.accountId === accountId && before.amount === amount;
      return { outcome: same ? "exists" : "conflict" };
    }
    const budgets = this.#budgetsFor(accountId, `${hold.provider}/${hold.model}`);
    const counted = this.#counted({ accountId, budgets });
    const refusal =
      this.#refusalByKey(hold) ?? refusalByRates(hold, this.#seen(hold)) ?? this.#lackOfRoom(counted, amount, at);
    if (refusal !== undefined) return refusal;
    const begun = { observed: undefined, state: "open", keeper: "process" } as const;
    const open = { cost: 0n, shortfall: 0n, record: undefined, isRefunded: false } as const;
    const description = `${hold.operation} ${hold.provider}/${hold.model}`;
    const fields = {
      id,
      accountId,
      amount,
      leaseUntil,
      description,
      createdAt: at,
      tokens,
      retry,
      parent,
      budgets,
      isPart,
    };
    this.#holds.set(id, { ...fields, ...begun, ...open, parts: [], claims: retry !== undefined });
    for (const link of this.#links(accountId)) this.#minutes.count(link.id, at, { holdId: id, tokens, isPart });
    if (retry !== undefined) this.#answers.drop(accountId, retry.key);
    return { outcome: "held", ...seenOf(hold, this.#seen(hold)) };
  }

  /** The counts of each level of the chain: of its own calls, and of those below it. */
  #seen({ accountId, at }: Hold) {
    const calls = this.openHolds().filter(({ isPart }) => !isPart);
    const open = calls.map((hold) => this.#links(hold.accountId).map(({ id }) => id));
    return this.#links(accountId).map(({ id }) =>
      this.#minutes.seen(id, at, open.filter((links) => links.includes(id)).length),
    );
  }

  #refusalByKey({ retry, accountId, at }: Hold): Outcome<"hold"> | undefined {
    if (retry === undefined) return undefined;
    const running = this.openHolds().find(
      (open) => open.claims && open.accountId === accountId && open.retry?.key === retry.key,
    );
    const kept = this.#answers.find(accountId, retry.key, at);
    const fingerprint = running?.retry?.fingerprint ?? kept?.fingerprint;
    if (fingerprint === undefined) return undefined;
    if (fingerprint !== retry.fingerprint) return { outcome: "retry-mismatch" };
    return kept === undefined
      ? { outcome: "retry-running" }
      : { outcome: "replayed", id: kept.holdId, answer: kept.answer };
  }

  #topUp({ id, amount, at }: TopUp): Outcome<"top-up"> {
    const hold = this.#holds.get(id);
    if (hold?.state !== "open") return { outcome: "ended" };
    if (hold.amount >= amount) return { outcome: "exists" };
    const refusal = this.#lackOfRoom(this.#counted(hold), amount - hold.amount, at);
    if (refusal !== undefined) return refusal;
    hold.amount = amount;
    return { outcome: "raised" };
  }

  #move({ id, amount, at, provider, model }: Move): Outcome<"move"> {
    const hold = this.#holds.get(id);
    if (hold?.state !== "open") return { outcome: "ended" };
    const { accountId } = hold;
    const budgets = this.#budgetsFor(accountId, `${provider}/${model}`);
    const kept = this.#counted({ accountId, budgets: budgets.filter((each) => hold.budgets.includes(each)) });
    const added = this.#accountsOf(budgets.filter((each) => !hold.budgets.includes(each)));
    const refusal = amount > hold.amount ? this.#lackOfRoom(kept, amount - hold.amount, at) : undefined;
    const lack = refusal === undefined ? this.#lackOfRoom(added, amount, at) : undefined;
    const refused = refusal ?? (lack && { ...lack, available: lack.available - hold.amount });
    if (refused !== undefined) return refused;
    const operation = hold.description.slice(0, hold.description.indexOf(" "));
    Object.assign(hold, { amount, budgets, description: `${operation} ${provider}/${model}` });
    return { outcome: "moved" };
  }

  #settle({ id, amount, at, tokens, record, answer, answerUntil }: Settle): Outcome<"settle"> {
    const hold = this.#holds.get(id);
    if (hold === undefined) return { outcome: "no-hold" };
    if (hold.state === "released") return { outcome: "conflict" };
    if (isGivenBack(hold)) return { outcome: "exists", shortfall: hold.shortfall };
    if (hold.state === "settled" || hold.state === "made-good") {
      return hold.cost === amount ? { outcome: "exists", shortfall: hold.shortfall } : { outcome: "conflict" };
    }
    if (hold.state === "open") {
      this.#correct(hold, tokens ?? hold.tokens);
      if (answer !== undefined && hold.retry !== undefined)
        this.#answer(hold, hold.retry.key, answer, answerUntil ?? at + limits.retryAnswerTtlMs);
    }
    this.#end(hold, hold.state === "open" ? "settled" : "made-good", amount, at);
    hold.record = record ?? hold.record;
    return { outcome: "settled", shortfall: hold.shortfall };
  }

  #release({ id, at, record }: Release): Outcome<"release"> {
    const hold = this.#holds.get(id);
    if (hold === undefined) return { outcome: "no-hold" };
    const nothing = hold.state === "released" || (hold.state === "made-good" && hold.cost === 0n);
    if (nothing || isGivenBack(hold)) return { outcome: "exists" };
    if (hold.state === "settled" || hold.state === "made-good") return { outcome: "conflict" };
    if (hold.state === "open") this.#correct(hold, 0);
    this.#end(hold, hold.state === "open" ? "released" : "made-good", 0n, at);
    hold.record = record ?? hold.record;
    return { outcome: "released" };
  }

  #correct({ id, accountId, createdAt }: PaperHold, tokens: number): void {
    for (const link of this.#links(accountId)) this.#minutes.correct(link.id, createdAt, { holdId: id, tokens });
  }

  #renew({ id, leaseUntil, observed, keeper }: Renew): Outcome<"renew"> {
    const hold = this.#holds.get(id);
    if (hold?.state !== "open") return { outcome: "ended" };
    const isLent = keeper === "job" && hold.keeper === "job";
    hold.leaseUntil = isLent ? Math.max(hold.leaseUntil, leaseUntil) : leaseUntil;
    hold.observed = observed ?? hold.observed;
    hold.keeper = keeper ?? hold.keeper;
    return { outcome: "renewed" };
  }

  #park({ id, leaseUntil, job }: Park): Outcome<"park"> {
    const hold = this.#holds.get(id);
    if (hold?.state !== "open") return { outcome: "ended" };
    if (hold.keeper === "job") return { outcome: "exists" };
    if (this.#jobs.has(job.id)) return { outcome: "conflict" };
    this.#jobs.set(job.id, JSON.stringify(job.payload));
    Object.assign(hold, { keeper: "job", leaseUntil });
    return { outcome: "parked" };
  }

  #keepAnswer({ id, accountId, key, answer, until }: KeepAnswer): Outcome<"keep-answer"> {
    const stored = this.#answers.of(accountId, key, id);
    if (stored !== undefined) {
      stored.expiresAt = until;
      return { outcome: "kept" };
    }
    const hold = this.#holds.get(id);
    const isKept = answer !== undefined && hold?.accountId === accountId && this.#answer(hold, key, answer, until);
    return { outcome: isKept ? "kept" : "no-key" };
  }

  /** Takes the place of the hold's claim. Returns whether it has the key. */
  #answer(hold: PaperHold, key: string, answer: StoredAnswer, expiresAt: number): boolean {
    const { id: holdId, accountId: account, retry, claims, state } = hold;
    if (!claims || state !== "open" || retry?.key !== key) return false;
    hold.claims = false;
    this.#answers.keep({ account, ...retry, holdId, answer, expiresAt });
    return true;
  }

  #grant({ id, accountId: account, amount, at }: Grant): Outcome<"grant"> {
    const before = this.#grants.get(id);
    if (before !== undefined)
      return { outcome: before.account === account && before.amount === amount ? "exists" : "conflict" };
    if (!this.#accounts.has(account)) return { outcome: "no-account" };
    const { creditsPosted, debitsPosted, debitsPending } = this.state(account, at);
    const available = creditsPosted - debitsPosted - debitsPending;
    if (amount < 0n && available + amount < 0n) return { outcome: "insufficient", accountId: account, available };
    this.#grants.set(id, { account, amount });
    return { outcome: "granted" };
  }

  #refund({ id, at }: Refund): Outcome<"refund"> {
    const hold = this.#holds.get(id);
    if (hold === undefined) return { outcome: "no-call" };
    if (hold.state === "open") return { outcome: "running" };
    const amount = total(hold.parts);
    if (hold.isRefunded) return { outcome: "exists", amount };
    if (amount === 0n) return { outcome: "free" };
    hold.isRefunded = true;
    for (const part of hold.parts) this.#charge(hold, -part.amount, at, part.periods);
    return { outcome: "refunded", amount };
  }

  #sweep(at: number): Outcome<"sweep"> {
    const left = this.openHolds().filter((hold) => hold.leaseUntil < at);
    for (const hold of left.toSorted((a, b) => a.leaseUntil - b.leaseUntil)) {
      this.#end(hold, "expired", hold.keeper === "job" ? hold.amount : (hold.observed ?? 0n), at);
      hold.record = "expired";
    }
    this.#answers.forget(at);
    return { outcome: "swept", expired: left.length };
  }

  /** Without the hold, its call may be charged its cost as far as every account has credits. */
  #end(hold: PaperHold, state: PaperHold["state"], cost: bigint, at: number): void {
    const due = cost - this.#chargedFor(hold.id, hold.accountId);
    // The held part is charged whatever the current limits; only the excess needs available credits.
    const reserved = hold.state === "open" ? hold.amount : 0n;
    const room = this.#tightest(this.#counted(hold), at)?.room;
    hold.state = state;
    const over = due > reserved ? due - reserved : 0n;
    const allowed = room === undefined || over <= room ? over : largest(room, 0n);
    const charge = due - over + allowed;
    hold.cost = cost;
    hold.shortfall = over - allowed;
    const [first] = hold.parts;
    if (first !== undefined && charge < 0n) {
      first.amount += charge;
      this.#charge(hold, charge, at, first.periods);
    } else hold.parts.push({ amount: charge, periods: this.#charge(hold, charge, at) });
  }

  /** Charges every account, or returns what was charged in other periods. Returns the periods that it counts in. */
  #charge(hold: PaperHold, amount: bigint, at: number, chargedIn?: Periods): Periods {
    const { id: holdId } = hold;
    const links = this.#counted(hold);
    // If a clock went back, the charge counts in the latest period that the chain has been in, in every account.
    const date = Math.max(at, ...links.map(({ id }) => startOf(this.#spends.get(id)?.period ?? "")));
    const periods = new Map<string, string>();
    for (const link of links) {
      const spend = this.#spendOf(link, date);
      this.#charges.push({ holdId, account: link.id, amount });
      // A part that returns lowers the spending of the period that it was charged in.
      const counts = chargedIn === undefined || chargedIn.get(link.id) === spend.period;
      this.#spends.set(link.id, { ...spend, amount: counts ? spend.amount + amount : spend.amount });
      periods.set(link.id, spend.period);
    }
    return periods;
  }
}

const matching =
  (model: string) =>
  (glob: string): boolean =>
    new RegExp(`^${glob.replaceAll(/[^\w*]/g, "\\$&").replaceAll("*", ".*")}$`).test(model);

/** A late end changes nothing any more. */
const isGivenBack = ({ isRefunded, state }: PaperHold): boolean =>
  isRefunded && (state === "expired" || state === "made-good");

/** The readable part of a call's own record. */
const readableOf = ({ owner, outcome, startedAt, parent }: CallRecord) => ({ owner, outcome, startedAt, parent });

function total(rows: readonly { amount: bigint }[]): bigint {
  return rows.reduce((sum, { amount }) => sum + amount, 0n);
}

function largest(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
