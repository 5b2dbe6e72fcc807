import { type Calendar, inputTokens, type Nano, outputTokens } from "../../../core/index.ts";
import { type StoredCall, tagsColumn } from "../generations.ts";
import type { CountedCallRow, LedgerStatements } from "./statements.ts";

/**
 * The sums of calls by the day on which they began. Those up to the mark of `calls_by_owner` are counted, together with
 * the index: a row of sums in each call's own commit would change one more page, which costs as much as a twentieth of
 * a call. Readers add the calls after the mark.
 */
export class DailySums {
  readonly #sql: LedgerStatements;
  readonly #calendar: Calendar;
  /** The days whose starts are stored, for zones other than UTC. */
  #days: { from: number; to: number } | undefined;

  constructor(sql: LedgerStatements, calendar: Calendar) {
    this.#sql = sql;
    this.#calendar = calendar;
  }

  /** Clears the cached state. */
  clear(): void {
    this.#days = undefined;
  }

  /** Counts the entries after `mark`, up to `last`. */
  fill(mark: bigint, last: bigint): void {
    if (this.#calendar.zone === "UTC") {
      this.#sql.sumCallsUtc.run(mark, last);
      return;
    }
    const range = this.#sql.startsOfCalls.get(mark, last);
    if (range === null || range.first === null || range.last === null) return;
    this.#storeDays(this.#calendar.dayOf(Number(range.first)), this.#calendar.dayOf(Number(range.last)));
    this.#sql.sumCalls.run(mark, last);
  }

  /** The sums find a call's day by the last start that is not after it. */
  #storeDays(from: number, to: number): void {
    if (this.#days !== undefined && this.#days.from <= from && this.#days.to >= to) return;
    for (let day = from; day <= to; day += 1) this.#sql.storeDay.run(this.#calendar.startOfDay(day), day);
    this.#days = { from, to };
  }

  /** Counts one call of the account. */
  add(account: string, call: StoredCall, credits: Nano): void {
    const { owner, provider, model, operation, usage, startedAt, listCredits = 0 } = call;
    const day = this.#calendar.dayOf(startedAt);
    const amounts = [1, failuresOf(call), inputTokens(usage), outputTokens(usage), credits, listCredits] as const;
    this.#sql.addSum.run(owner, day, account, provider, model, operation, tagsColumn(call) ?? "", ...amounts);
  }

  /** Takes back a call that was counted. */
  subtract({ owner, started_at: at, account_id: account, provider, model, operation, ...call }: CountedCallRow): void {
    const day = this.#calendar.dayOf(Number(at));
    const [input, output] = [-Number(call.input_tokens), -Number(call.output_tokens)];
    const [failures, listed] = [-failuresOf(call), -Number(call.list_credits ?? 0n)];
    const amounts = [-1, failures, input, output, -call.credits, listed] as const;
    this.#sql.addSum.run(owner, day, account, provider, model, operation, call.tags ?? "", ...amounts);
  }

  /** Adds a difference to the cost of a call that was counted. */
  correct(
    { owner, started_at: at, account_id: account, provider, model, operation, tags }: CountedCallRow,
    credits: Nano,
  ): void {
    const day = this.#calendar.dayOf(Number(at));
    this.#sql.addSum.run(owner, day, account, provider, model, operation, tags ?? "", 0, 0, 0, 0, credits, 0);
  }
}

/** 1 for a call that has failed. */
export const failuresOf = ({ outcome }: { outcome: string }): number =>
  outcome === "complete" || outcome === "abandoned" ? 0 : 1;
