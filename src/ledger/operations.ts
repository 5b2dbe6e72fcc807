import type { Dialect, Nano, Operation, RateLimits, Usage } from "../core/index.ts";

/**
 * The words of the ledger. A **hold** sets an amount aside in every account of a chain, or in none. It ends once:
 * **settled** (the charge is posted, the rest returns), **released** (all returns) or **expired** (its process stopped
 * renewing it; settled at what had been observed by then, else released). A hold can be handed over to a job, which outlives
 * the process. If its lease runs out, the hold is charged in full: the upstream goes on with the
 * work and may bill it. A **grant** posts credits to an account.
 *
 * Every operation is idempotent by its id: the same id with the same fields succeeds again and changes nothing, with
 * other fields it is a `conflict`.
 */
export type LedgerOperation = Hold | TopUp | Settle | Release | Renew | Grant | Sweep;

export interface Hold {
  kind: "hold";
  id: string;
  /** The first account of the chain: a token's. */
  accountId: string;
  amount: Nano;
  /** What it is for, for the person who reads `ledger holds`: `<operation> <prefix>/<model>`. */
  description: string;
  at: number;
  /** Until then the hold is alive without a `renew`. */
  leaseUntil: number;
  /** What the first account may do in a minute and at once. Its calls are counted whether there are limits or not. */
  rates?: RateLimits;
  /** Tokens that the call is likely to use; they count towards the minute until its end names the real figure. */
  tokens?: number;
  /** A call that may be sent again, and is then answered as the first time. */
  retry?: RetryKey;
  /** The same as in the call's record: an expired hold leaves no record but the ledger's own. */
  parent?: string;
}

/** What the running minute of an account has seen; where none runs, the one that the call asked for would begin. */
export interface RateState {
  requests: number;
  tokens: number;
  /** Open calls; like the others, with the one asked for where it was admitted. */
  calls: number;
  minuteEndsAt: number;
}

/** The caller's `Idempotency-Key`, which is unique within the hold's account, and a hash of what it came with. */
export interface RetryKey {
  key: string;
  fingerprint: string;
}

/** An answer that is kept for a `RetryKey`, byte by byte. */
export interface StoredAnswer {
  status: number;
  headers: [name: string, value: string][];
  body: Uint8Array;
}

/**
 * Raises an open hold to `amount`, the new total, or leaves it as it is where there is no room for what it lacks. A hold
 * that is that large already stays so. From then on the new amount is the hold's.
 */
export interface TopUp {
  kind: "top-up";
  id: string;
  amount: Nano;
  at: number;
}

/**
 * What is written of a call in the same commit that ends its hold, with what was charged. Counts and names only: nothing
 * that was said. Of a call whose hold expired the ledger writes what its purpose tells; a late end puts the call's own
 * record in its place or, without one, what was charged in all.
 */
export interface CallRecord {
  /** The user whose call it was. */
  owner: string;
  operation: Operation;
  dialect: Dialect | undefined;
  provider: string;
  model: string;
  streamed: boolean;
  status: number;
  outcome: "complete" | "failed" | "interrupted" | "abandoned";
  usage: Usage;
  milliseconds: number;
  millisecondsToFirstByte: number | undefined;
  startedAt: number;
  /** The id of the series that the call belongs to: a session, a crawl. */
  parent?: string | undefined;
}

export interface Settle {
  kind: "settle";
  id: string;
  /** What the call cost. Above the hold, the rest is taken where there is room and recorded as shortfall where not. */
  amount: Nano;
  at: number;
  /**
   * Tokens that the call has used, in place of those its hold counted. They correct the minute in which the hold was
   * taken, unless a new one has begun; so does a release, which has used none. The request stays counted.
   */
  tokens?: number;
  record?: CallRecord;
  /** Kept for the hold's retry key; without one, with `release` and by expiry the key is free again. */
  answer?: StoredAnswer;
}

export interface Release {
  kind: "release";
  id: string;
  at: number;
  record?: CallRecord;
}

/** Who renews a hold: the process that took it, or a job, which any process may run. */
export type HoldKeeper = "process" | "job";

/** Prolongs the lease of an open hold and records what the call has cost so far. */
export interface Renew {
  kind: "renew";
  id: string;
  leaseUntil: number;
  observed: Nano | undefined;
  /**
   * The new keeper. Without one the keeper stays the same; a new hold's is its process. A job's lease is never shortened by
   * another hand-over to it.
   */
  keeper?: HoldKeeper;
}

export interface Grant {
  kind: "grant";
  id: string;
  accountId: string;
  /** Above zero. */
  amount: Nano;
  at: number;
}

/** Ends the holds whose lease has run out, and forgets answers that were kept long enough; a bounded number of each. */
export interface Sweep {
  kind: "sweep";
  at: number;
}

export interface HoldOutcomes {
  /** With `rates` where a hold that came with limits was taken. */
  held: { outcome: "held" | "exists"; rates?: RateState };
  /** A limit is reached, whether or not there is room; nothing was set aside or counted. */
  limited: { outcome: "limited"; limit: keyof RateLimits; rates: RateState };
  /** The retry key has an answer; the id is that of the call that got it. */
  replayed: { outcome: "replayed"; id: string; answer: StoredAnswer };
  /** The retry key's first call has not ended; or it came with another fingerprint. */
  retry: { outcome: "retry-running" | "retry-mismatch" };
  insufficient: { outcome: "insufficient"; accountId: string; available: Nano };
  refused: { outcome: "no-account" | "conflict" };
}

/** How each kind of operation may end. */
export interface Outcomes {
  hold: HoldOutcomes[keyof HoldOutcomes];
  "top-up":
    | { outcome: "raised" | "exists" | "ended" }
    | { outcome: "insufficient"; accountId: string; available: Nano };
  settle: { outcome: "settled" | "exists"; shortfall: Nano } | { outcome: "no-hold" | "conflict" };
  release: { outcome: "released" | "exists" | "no-hold" | "conflict" };
  renew: { outcome: "renewed" | "ended" };
  grant: { outcome: "granted" | "exists" | "no-account" | "conflict" };
  sweep: { outcome: "swept"; expired: number };
}

export type OutcomeOf<Op extends LedgerOperation> = Outcomes[Op["kind"]];
export type LedgerOutcome = Outcomes[keyof Outcomes];
