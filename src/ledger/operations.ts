import type { Dialect, JsonObject, Nano, Operation, PriceTerms, RateLimits, Usage, UsageSide } from "../core/index.ts";

/**
 * The operations of the ledger. A **hold** reserves an amount in every account of a chain, or in none. It ends once:
 * **settled** (the charge is posted, the remainder returns), **released** (everything returns) or **expired** (its
 * process stopped renewing it; settled at the cost observed by then, else released). A hold can be handed over to a
 * job, which outlives the process. If its lease expires, the hold is charged in full: the upstream continues the work
 * and may bill it. A **grant** posts credits to an account, or takes some back. A **refund** gives back all that an ended
 * call was charged.
 *
 * Every operation is idempotent by its id: the same id with the same fields succeeds again and changes nothing; with
 * other fields it is a `conflict`.
 */
export type LedgerOperation =
  | Hold
  | TopUp
  | Move
  | Settle
  | Release
  | Renew
  | Park
  | KeepAnswer
  | Grant
  | Refund
  | Sweep;

/** What a hold is for: the names in the record of a call whose process died, also shown by `ledger holds`. */
interface HeldCall extends Pick<CallRecord, "provider" | "model" | "dialect" | "streamed"> {
  operation: CallRecord["operation"] | FreeOperation;
}

/** The kind of a request that costs nothing, whose hold is released at once. */
type FreeOperation = "files";

export interface Hold extends HeldCall {
  kind: "hold";
  id: string;
  /** The first account of the chain: a token's. */
  accountId: string;
  amount: Nano;
  at: number;
  /** The hold expires at this time unless it is renewed. */
  leaseUntil: number;
  /** Limits of the first account: per minute and simultaneous. Its calls are counted with or without limits. */
  rates?: RateLimits;
  /** Limits of the accounts above it, upwards. Each account counts the calls below it. */
  ratesAbove?: readonly RateLimits[];
  /** The expected tokens of the call. They count towards the minute until its end reports the real number. */
  tokens?: number;
  /** The retry key of a call that can be repeated and is then answered with the stored answer. */
  retry?: RetryKey;
  /** The same as in the call's record: an expired hold leaves only the ledger's own record. */
  parent?: string;
  /** As in the call's record, for the same reason. */
  session?: string;
  /** Whether it is for a part of a call that has a hold of its own: its tokens count, but not as a request or an open call. */
  isPart?: boolean;
}

/**
 * The counts of an account's running minute, or, if none runs, of the one that the requested call would begin: of its own calls, and
 * of those below it.
 */
export interface RateState {
  requests: number;
  tokens: number;
  /** Open calls. Like the other counts, this includes the requested call if it was admitted. */
  calls: number;
  minuteEndsAt: number;
}

/** The counts that the limits of a hold are compared with, at their positions. */
export interface SeenRates {
  rates?: RateState;
  ratesAbove?: readonly RateState[];
}

/** The caller's `Idempotency-Key`, unique within the hold's account, and a hash of its request. */
export interface RetryKey {
  key: string;
  fingerprint: string;
}

/** The stored answer to a `RetryKey`, byte by byte. */
export interface StoredAnswer {
  status: number;
  headers: [name: string, value: string][];
  body: Uint8Array;
}

/**
 * Raises an open hold to `amount`, the new total, or leaves it unchanged if the additional credits are not available. A
 * hold of at least that size stays the same. From then on the hold has the new amount.
 */
export interface TopUp {
  kind: "top-up";
  id: string;
  amount: Nano;
  at: number;
}

/**
 * Gives an open hold to another provider and model, with `amount` as its new total, more or less than before. If the
 * additional credits are not available, nothing changes. What is available then is beyond what it holds, also of a budget
 * that it does not count in yet.
 */
export interface Move extends Pick<HeldCall, "provider" | "model"> {
  kind: "move";
  id: string;
  amount: Nano;
  at: number;
}

/**
 * The record of a call, stored together with the charge in the commit that ends its hold. Counts and names only, never
 * prompts or answers. For a call whose hold expired, the ledger writes a record from the hold's `HeldCall`; a late end
 * replaces it with the call's own record or, without one, updates its charge.
 */
export interface CallRecord {
  /** The call's user. */
  owner: string;
  operation: Operation;
  dialect: Dialect | undefined;
  provider: string;
  model: string;
  streamed: boolean;
  status: number;
  outcome: "complete" | "failed" | "interrupted" | "abandoned";
  usage: Usage;
  /** The sides of its tokens that are estimated; absent if both are counted. */
  estimated?: readonly UsageSide[] | undefined;
  /**
   * The list price of the usage in nano-credits, without the operator's markup, whatever of it was charged; absent of a call
   * whose process died, and in records of older versions. A cost is bounded to what a number holds exactly.
   */
  listCredits?: number | undefined;
  /** The terms that its price was for, if they are not the usual ones. */
  terms?: PriceTerms | undefined;
  /** The limit of its output that the gateway has set. */
  maxOutputTokens?: number | undefined;
  milliseconds: number;
  millisecondsToFirstByte: number | undefined;
  startedAt: number;
  /** The id of the series that the call belongs to: a session, a crawl. */
  parent?: string | undefined;
  /** The client's own name of the session that the call belongs to, as its header had it. */
  session?: string | undefined;
  /** The caller's own id of the request, as its header had it. */
  clientRequestId?: string | undefined;
  /** The caller's own user, as the request named them. */
  endUser?: string | undefined;
  /** The values of the organisation's tags, by their keys. */
  tags?: Readonly<Record<string, string>> | undefined;
  /** The name of the route that chose its target. */
  route?: string | undefined;
  /** The upstream's own id of the request that was answered, or of the last one that has failed. */
  upstreamRequestId?: string | undefined;
  /** Absent of a call with one request, which has not failed. */
  attempts?: readonly AttemptRecord[] | undefined;
  /** The code of the gateway's error that ended the call, or its answer before its time; absent without one. */
  errorCode?: string | undefined;
}

/** One request to an upstream, as the record of its call has it. */
export interface AttemptRecord {
  /** Counted from 1, over all targets. */
  number: number;
  provider: string;
  model: string;
  /** The id of the provider's key. */
  key: string;
  /** The class of the failure; absent if it gave the answer. */
  class?: string | undefined;
  /** The upstream's status; absent without an answer. */
  status?: number | undefined;
  /** The codes and types of the upstream's error, never its message. */
  codes?: readonly string[] | undefined;
  upstreamRequestId?: string | undefined;
  /** In milliseconds since the epoch. */
  startedAt: number;
  /** To the head of the answer, or to the failure. */
  milliseconds: number;
  /** The price of an answer that is lost, in credits: an estimate, which nobody is charged for. */
  unbilled?: string | undefined;
}

export interface Settle {
  kind: "settle";
  id: string;
  /**
   * The cost of the call. The part above the hold is taken from available credits, and otherwise recorded as a
   * shortfall.
   */
  amount: Nano;
  at: number;
  /**
   * The tokens that the call has used, replacing the expected ones. They correct the minute of the hold unless a new
   * one has begun. A release also corrects it, to zero tokens. The request stays counted.
   */
  tokens?: number;
  record?: CallRecord;
  /**
   * Stored for the hold's retry key. Without it, and after `release` or expiry, the key is free again. An answer that
   * `KeepAnswer` has stored before stays as it is.
   */
  answer?: StoredAnswer;
  /** Until when the answer is kept; a day by default. */
  answerUntil?: number;
}

export interface Release {
  kind: "release";
  id: string;
  at: number;
  record?: CallRecord;
}

/** The owner that keeps a hold's lease alive: the process that took it, or a job, which any process may run. */
export type HoldKeeper = "process" | "job";

/** Renews the lease of an open hold and records the cost of the call so far. */
export interface Renew {
  kind: "renew";
  id: string;
  leaseUntil: number;
  observed: Nano | undefined;
  /**
   * The new keeper. If absent, the keeper stays the same; the keeper of a new hold is its process. A repeated hand-over
   * to a job never shortens its lease.
   */
  keeper?: HoldKeeper;
}

/** A new row of `jobs`, as `NewJob` and `JobLease` of `jobs/` describe it. */
export interface ParkedJob {
  id: string;
  kind: string;
  owner: string;
  payload: JsonObject;
  runAt: number;
  createdAt: number;
  lease?: { token: string; node: string; until: number } | undefined;
}

/** Hands an open hold over to a job, and creates the job's row, in one commit. */
export interface Park {
  kind: "park";
  id: string;
  leaseUntil: number;
  job: ParkedJob;
}

/**
 * Stores the answer for a hold's retry key while the hold goes on. Of an answer that is stored already, or without one
 * here, only the time changes until which it is kept, whether the hold has ended or not; one that has passed frees the
 * key.
 */
export interface KeepAnswer {
  kind: "keep-answer";
  /** The hold that claims the key. */
  id: string;
  accountId: string;
  key: string;
  answer?: StoredAnswer | undefined;
  until: number;
}

/** Who posts an entry, and why; absent of entries of an older version. */
interface Posting {
  /** `cli:NAME` of the operating system's user, or `token:ID`. */
  actor?: string;
  reason?: string;
}

export interface Grant extends Posting {
  kind: "grant";
  id: string;
  accountId: string;
  /** Below zero it takes credits back, as far as they are neither spent nor held; never zero. */
  amount: Nano;
  at: number;
}

/** Gives back the whole charge of a call, once. From then on, a late end of the call changes nothing. */
export interface Refund extends Posting {
  kind: "refund";
  /** The call's. */
  id: string;
  at: number;
}

/** Ends holds whose lease has expired, and deletes expired answers; a bounded number of each. */
export interface Sweep {
  kind: "sweep";
  at: number;
}

export interface HoldOutcomes {
  /** With `rates` if the accepted hold came with limits. */
  held: { outcome: "held" | "exists" } & SeenRates;
  /** A limit is reached, whether or not the credits suffice; nothing was held or counted. `level` is absent for the first account. */
  limited: { outcome: "limited"; limit: keyof RateLimits; level?: number } & SeenRates;
  /** The retry key has a stored answer; the id is that of its call. */
  replayed: { outcome: "replayed"; id: string; answer: StoredAnswer };
  /** The retry key's first call has not ended, or had another fingerprint. */
  retry: { outcome: "retry-running" | "retry-mismatch" };
  insufficient: { outcome: "insufficient"; accountId: string; available: Nano };
  refused: { outcome: "no-account" | "conflict" };
}

/** The possible outcomes of each kind of operation. */
export interface Outcomes {
  hold: HoldOutcomes[keyof HoldOutcomes];
  "top-up":
    | { outcome: "raised" | "exists" | "ended" }
    | { outcome: "insufficient"; accountId: string; available: Nano };
  move: { outcome: "moved" } | { outcome: "ended" } | { outcome: "insufficient"; accountId: string; available: Nano };
  settle: { outcome: "settled" | "exists"; shortfall: Nano } | { outcome: "no-hold" | "conflict" };
  release: { outcome: "released" | "exists" | "no-hold" | "conflict" };
  renew: { outcome: "renewed" | "ended" };
  /** `exists` if a job keeps the hold already; `conflict` if its row is another hold's. */
  park: { outcome: "parked" | "exists" | "ended" | "conflict" };
  /** `no-key` if the hold does not have the key any more, or there is no answer to keep. */
  "keep-answer": { outcome: "kept" | "no-key" };
  grant:
    | { outcome: "granted" | "exists" | "no-account" | "conflict" }
    | { outcome: "insufficient"; accountId: string; available: Nano };
  /**
   * `exists` if the call was refunded before; `running` if it has not ended; `free` if nothing was charged; `no-call` if
   * there is none, or its entries were removed.
   */
  refund: { outcome: "refunded" | "exists"; amount: Nano } | { outcome: "running" | "free" | "no-call" };
  sweep: { outcome: "swept"; expired: number };
}

export type OutcomeOf<Op extends LedgerOperation> = Outcomes[Op["kind"]];
export type LedgerOutcome = Outcomes[keyof Outcomes];
