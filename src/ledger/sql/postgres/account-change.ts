import type { RateLimits } from "../../../core/index.ts";
import type { Hold, RateState } from "../../operations.ts";
import { type CallCounts, ratesAt } from "../../rates.ts";
import type { ChainAccount, RememberedHold } from "./ledger-cache.ts";

/** A call that begins or ends in the account itself, or in one below it. */
type CallEvent =
  | ({ kind: "begin"; tokens: number; calls: number } & CallPlace)
  | { kind: "end"; takenAt: number; excess: number; calls: number };

/** A hold in a batch, as an account of its chain sees it. */
interface CallPlace {
  /** The hold's position in the batch. */
  place: number;
  /** The account's position in the chain. */
  level: number;
  /** The limits of the account. */
  limits: RateLimits | undefined;
}

/**
 * The changes of a batch to one account: a row of the `links` of `ledger_commit_plain`, which documents the columns.
 */
export class AccountChange {
  readonly id: string;
  readonly parentId: string | undefined;
  /** Sorts like the bytes of the id. */
  readonly order: string;
  taken: bigint | undefined;
  requests: number | undefined;
  tokens: number | undefined;
  since: number | undefined;
  returned: bigint | undefined;
  posted: bigint | undefined;
  ended: number | undefined;
  excess: number | undefined;
  takenFirst: number | undefined;
  takenLast: number | undefined;
  rated: true | undefined;
  requestsRoom: number | undefined;
  tokensRoom: number | undefined;
  callsRoom: number | undefined;
  /** Corrections upwards. Only the server knows whether corrections downwards belong to the running minute. */
  #excessUp = 0;
  readonly #events: CallEvent[] = [];

  constructor({ id, parentId, order }: ChainAccount) {
    this.id = id;
    this.parentId = parentId;
    this.order = order;
  }

  /** Holds `amount`. */
  take(amount: bigint): void {
    this.taken = (this.taken ?? 0n) + amount;
  }

  /** Returns the held amount and posts the charge. */
  post(held: bigint, charge: bigint): void {
    this.returned = (this.returned ?? 0n) + held;
    this.posted = (this.posted ?? 0n) + charge;
  }

  beginCall({ at, tokens = 0, isPart = false }: Hold, call: CallPlace): void {
    const { limits } = call;
    const calls = isPart ? 0 : 1;
    this.#events.push({ kind: "begin", tokens, calls, ...call });
    this.since ??= at;
    this.requests = (this.requests ?? 0) + calls;
    this.tokens = (this.tokens ?? 0) + tokens;
    if (limits === undefined) return;
    this.rated = true;
    this.requestsRoom = lesser(this.requestsRoom, limits.requestsPerMinute, this.requests);
    this.tokensRoom = lesser(this.tokensRoom, limits.tokensPerMinute, this.tokens + this.#excessUp);
    this.callsRoom = lesser(this.callsRoom, limits.concurrentCalls, this.requests - (this.ended ?? 0));
  }

  /** `excess` is the difference between the call's real tokens and those counted at `takenAt`. */
  endCall({ at: takenAt, isPart }: Pick<RememberedHold, "at" | "isPart">, excess: number): void {
    const calls = isPart ? 0 : 1;
    this.#events.push({ kind: "end", takenAt, excess, calls });
    this.ended = (this.ended ?? 0) + calls;
    if (excess === 0) return;
    this.excess = (this.excess ?? 0) + excess;
    this.#excessUp += Math.max(0, excess);
    this.takenFirst = Math.min(this.takenFirst ?? takenAt, takenAt);
    this.takenLast = Math.max(this.takenLast ?? takenAt, takenAt);
  }

  /** The counts of the minute at each hold with limits, calculated backwards from the counts after the batch. */
  rates(after: CallCounts): { place: number; level: number; rates: RateState }[] {
    const counts = { ...after };
    const states: { place: number; level: number; rates: RateState }[] = [];
    for (const event of this.#events.toReversed()) {
      if (event.kind === "end") {
        counts.openCalls += event.calls;
        if (event.takenAt >= counts.minuteStart) counts.minuteTokens -= event.excess;
      } else {
        const { place, level, limits, tokens, calls } = event;
        if (limits !== undefined) states.push({ place, level, rates: ratesAt(counts, counts.minuteStart) });
        counts.minuteRequests -= calls;
        counts.minuteTokens -= tokens;
        counts.openCalls -= calls;
      }
    }
    return states;
  }
}

/** The smaller of the available quota so far and the remainder of a limit after `counted`. */
function lesser(room: number | undefined, limit: number | undefined, counted: number): number | undefined {
  if (limit === undefined) return room;
  return Math.min(room ?? limit - counted, limit - counted);
}
