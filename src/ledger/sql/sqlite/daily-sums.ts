import type { Calendar } from "../../../calendar/index.ts";
import type { Nano } from "../../../core/index.ts";
import type { GenerationColumns } from "../generations.ts";
import type { CountedCallRow, LedgerStatements } from "./statements.ts";

/** What a commit adds to the sums of one owner, day, account and model. */
interface SumChange {
  readonly owner: string;
  readonly day: number;
  readonly account: string;
  readonly provider: string;
  readonly model: string;
  requests: number;
  inputTokens: number;
  outputTokens: number;
  credits: Nano;
}

/** A call as the sums count it; negative where it is taken out of them. */
interface Counts {
  requests: number;
  inputTokens: number;
  outputTokens: number;
  credits: Nano;
}

/**
 * The sums of calls by the day on which they began. The calls of a commit are added up in memory and each changed row
 * is written once, in the same transaction: most calls of a commit share a few rows, and writing one costs as much as a
 * tenth of a call's commit.
 */
export class DailySums {
  readonly #sql: LedgerStatements;
  readonly #calendar: Calendar;
  readonly #changes = new Map<string, SumChange>();
  /** The day that contained the last call, and its bounds. */
  #day = 0;
  #dayStart = 0;
  #dayEnd = 0;

  constructor(sql: LedgerStatements, calendar: Calendar) {
    this.#sql = sql;
    this.#calendar = calendar;
  }

  /** Forgets what was not written. */
  clear(): void {
    this.#changes.clear();
  }

  /** Counts a call of the account. */
  add(account: string, call: GenerationColumns, credits: Nano): void {
    const { input_tokens: inputTokens, output_tokens: outputTokens } = call;
    const change = this.#changeOf(call.started_at, account, call);
    count(change, { requests: 1, inputTokens, outputTokens, credits });
  }

  /** Takes back a call that was counted. */
  subtract(call: CountedCallRow): void {
    const [inputTokens, outputTokens] = [-Number(call.input_tokens), -Number(call.output_tokens)];
    const change = this.#changeOf(Number(call.started_at), call.account_id, call);
    count(change, { requests: -1, inputTokens, outputTokens, credits: -call.credits });
  }

  /** Adds a difference to the cost of a call that was counted. */
  correct(call: CountedCallRow, credits: Nano): void {
    const change = this.#changeOf(Number(call.started_at), call.account_id, call);
    count(change, { requests: 0, inputTokens: 0, outputTokens: 0, credits });
  }

  /** Writes the changes. Call it last within the transaction. */
  flush(): void {
    for (const change of this.#changes.values()) {
      const { owner, day, account, provider, model, requests, inputTokens, outputTokens, credits } = change;
      this.#sql.addSum.run(owner, day, account, provider, model, requests, inputTokens, outputTokens, credits);
    }
    this.#changes.clear();
  }

  #changeOf(at: number, account: string, call: Pick<SumChange, "owner" | "provider" | "model">): SumChange {
    const { owner, provider, model } = call;
    const day = this.#dayOf(at);
    // With the lengths, other texts always make another key.
    const key = `${day} ${account.length} ${provider.length} ${model.length} ${account}${provider}${model}${owner}`;
    const known = this.#changes.get(key);
    if (known !== undefined) return known;
    const change = { owner, day, account, provider, model, requests: 0, inputTokens: 0, outputTokens: 0, credits: 0n };
    this.#changes.set(key, change);
    return change;
  }

  #dayOf(at: number): number {
    if (at < this.#dayStart || at >= this.#dayEnd) {
      this.#day = this.#calendar.dayOf(at);
      this.#dayStart = this.#calendar.startOfDay(this.#day);
      this.#dayEnd = this.#calendar.startOfDay(this.#day + 1);
    }
    return this.#day;
  }
}

function count(change: SumChange, { requests, inputTokens, outputTokens, credits }: Counts): void {
  change.requests += requests;
  change.inputTokens += inputTokens;
  change.outputTokens += outputTokens;
  change.credits += credits;
}
