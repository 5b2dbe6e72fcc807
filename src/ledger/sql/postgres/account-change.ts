import type { Hold, RateState } from "../../operations.ts";
import { type CallCounts, ratesAt } from "../../rates.ts";
import type { Row } from "./columns.ts";

/** Of an account, in the order of the parameters of `ledger_commit_plain`, which says what they are. */
export const accountColumns = [
  ...(["id", "parent", "taken", "pending", "posted", "calls", "requests", "tokens", "since"] as const),
  ...(["excess", "takenFirst", "takenLast", "rated", "requestsRoom", "tokensRoom", "callsRoom"] as const),
];

type AccountRow = Row<(typeof accountColumns)[number]>;

/** A call that begins or ends in the account itself, not in one below it. */
interface CallBegin {
  kind: "begin";
  at: number;
  tokens: number;
  rates: Hold["rates"];
  /** The hold's in the batch. */
  place: number;
}

interface CallEnd {
  kind: "end";
  takenAt: number;
  /** By how much the call's real tokens exceed those that it was counted with at `takenAt`. */
  excess: number;
}

/** What a batch changes in one account. */
export class AccountChange {
  /** Sorts as the bytes of the id do. */
  readonly order: string;
  readonly #id: string;
  readonly #parentId: string | undefined;
  #taken: bigint | undefined;
  #pending = 0n;
  #posted = 0n;
  readonly #events: (CallBegin | CallEnd)[] = [];

  constructor(id: string, parentId: string | undefined) {
    this.order = inCodePointOrder(id);
    this.#id = id;
    this.#parentId = parentId;
  }

  /** Sets `amount` aside. */
  take(amount: bigint): void {
    this.#taken = (this.#taken ?? 0n) + amount;
    this.#pending += amount;
  }

  /** Gives back what was held and posts the charge. */
  post(held: bigint, charge: bigint): void {
    this.#pending -= held;
    this.#posted += charge;
  }

  beginCall({ at, tokens = 0, rates }: Hold, place: number): void {
    this.#events.push({ kind: "begin", at, tokens, rates, place });
  }

  endCall(takenAt: number, excess: number): void {
    this.#events.push({ kind: "end", takenAt, excess });
  }

  row(): AccountRow {
    const begins = this.#events.filter((event) => event.kind === "begin");
    const ends = this.#events.filter((event) => event.kind === "end");
    return {
      id: this.#id,
      parent: this.#parentId,
      taken: this.#taken,
      pending: this.#pending,
      posted: this.#posted,
      calls: begins.length - ends.length,
      requests: begins.length,
      tokens: sum(begins.map(({ tokens }) => tokens)),
      since: begins[0]?.at,
      ...correction(ends.filter(({ excess }) => excess !== 0)),
      ...(begins.some(({ rates }) => rates !== undefined) ? this.#rooms() : undefined),
    };
  }

  /** Corrections downwards don't count here: whether they are of the running minute only the server knows. */
  #rooms(): AccountRow {
    const rooms = { requests: Infinity, tokens: Infinity, calls: Infinity };
    const counted = { requests: 0, tokens: 0, calls: 0 };
    for (const event of this.#events) {
      if (event.kind === "end") {
        counted.calls -= 1;
        counted.tokens += Math.max(0, event.excess);
        continue;
      }
      counted.requests += 1;
      counted.tokens += event.tokens;
      counted.calls += 1;
      const {
        requestsPerMinute = Infinity,
        tokensPerMinute = Infinity,
        concurrentCalls = Infinity,
      } = event.rates ?? {};
      rooms.requests = Math.min(rooms.requests, requestsPerMinute - counted.requests);
      rooms.tokens = Math.min(rooms.tokens, tokensPerMinute - counted.tokens);
      rooms.calls = Math.min(rooms.calls, concurrentCalls - counted.calls);
    }
    return {
      rated: true,
      requestsRoom: unlessInfinite(rooms.requests),
      tokensRoom: unlessInfinite(rooms.tokens),
      callsRoom: unlessInfinite(rooms.calls),
    };
  }

  /** What the minute had seen at each hold with limits, reckoned backwards from what it has seen after the batch. */
  rates(after: CallCounts): { place: number; rates: RateState }[] {
    const counts = { ...after };
    const states: { place: number; rates: RateState }[] = [];
    for (const event of this.#events.toReversed()) {
      if (event.kind === "end") {
        counts.openCalls += 1;
        if (event.takenAt >= counts.minuteStart) counts.minuteTokens -= event.excess;
      } else {
        const { place, rates, tokens } = event;
        if (rates !== undefined) states.push({ place, rates: ratesAt(counts, counts.minuteStart) });
        counts.minuteRequests -= 1;
        counts.minuteTokens -= tokens;
        counts.openCalls -= 1;
      }
    }
    return states;
  }
}

function correction(ends: readonly CallEnd[]): AccountRow {
  if (ends.length === 0) return {};
  const times = ends.map(({ takenAt }) => takenAt);
  return {
    excess: sum(ends.map(({ excess }) => excess)),
    takenFirst: Math.min(...times),
    takenLast: Math.max(...times),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function unlessInfinite(room: number): number | undefined {
  return room === Infinity ? undefined : room;
}

/**
 * The same text with its surrogates above all other units: compared unit by unit, such texts are in the order of their
 * code points, which is that of their bytes in UTF-8.
 */
function inCodePointOrder(text: string): string {
  return text.replace(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800);
  });
}
