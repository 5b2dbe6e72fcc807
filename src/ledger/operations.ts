import type { Nano } from "../core/index.ts";

/**
 * The words of the ledger. A **hold** sets an amount aside in every account of a chain, or in none. It ends once:
 * **settled** (the charge is posted, the rest returns), **released** (all returns) or **expired** (its process stopped
 * renewing it; settled at what had been observed by then, else released). A **grant** posts credits to an account.
 *
 * Every operation is idempotent by its id: the same id with the same fields succeeds again and changes nothing, with
 * other fields it is a `conflict`.
 */
export type LedgerOperation = Hold | Settle | Release | Renew | Grant | Sweep;

export interface Hold {
  kind: "hold";
  id: string;
  /** The first account of the chain: a token's. */
  accountId: string;
  amount: Nano;
  /** What it is for, for the person who reads `ledger holds`: operation and model. */
  purpose: string;
  at: number;
  /** Until then the hold is alive without a `renew`. */
  leaseUntil: number;
}

export interface Settle {
  kind: "settle";
  id: string;
  /** What the call cost. Above the hold, the rest is taken where there is room and recorded as shortfall where not. */
  amount: Nano;
  at: number;
}

export interface Release {
  kind: "release";
  id: string;
  at: number;
}

/** Prolongs the lease of an open hold and records what the call has cost so far. */
export interface Renew {
  kind: "renew";
  id: string;
  leaseUntil: number;
  observed: Nano | undefined;
}

export interface Grant {
  kind: "grant";
  id: string;
  accountId: string;
  /** Above zero. */
  amount: Nano;
  at: number;
}

/** Ends the holds whose lease has run out. */
export interface Sweep {
  kind: "sweep";
  at: number;
}

export interface HoldOutcomes {
  held: { outcome: "held" | "exists" };
  insufficient: { outcome: "insufficient"; accountId: string; available: Nano };
  refused: { outcome: "no-account" | "conflict" };
}

/** How each kind of operation may end. */
export interface Outcomes {
  hold: HoldOutcomes[keyof HoldOutcomes];
  settle: { outcome: "settled" | "exists"; shortfall: Nano } | { outcome: "no-hold" | "conflict" };
  release: { outcome: "released" | "exists" | "no-hold" | "conflict" };
  renew: { outcome: "renewed" | "ended" };
  grant: { outcome: "granted" | "exists" | "no-account" | "conflict" };
  sweep: { outcome: "swept"; expired: number };
}

export type OutcomeOf<Op extends LedgerOperation> = Outcomes[Op["kind"]];
export type LedgerOutcome = Outcomes[keyof Outcomes];
