/** Counts by account, which only an operator who asks for them gets: there may be many accounts. */
import type { WorkReport } from "../charges/index.ts";
import { counter, type MetricFamily, type Sample } from "./family.ts";

export interface AccountLabels {
  /** Whether a series is that of a user or of a token. */
  by: "user" | "token";
  /** The accounts with series of their own; those that come later share the label `other`. */
  max: number;
}

interface AccountSums {
  calls: number;
  credits: number;
}

const OTHER = "other";

export class AccountCounts {
  readonly #labels: AccountLabels;
  readonly #sums = new Map<string, AccountSums>();
  #unnamed = 0;

  constructor(labels: AccountLabels) {
    this.#labels = labels;
  }

  add({ order, record, credits }: WorkReport): void {
    const sums = this.#sumsOf(this.#labels.by === "user" ? record.owner : order.principal.tokenId);
    sums.calls += 1;
    sums.credits += Number(credits);
  }

  families(): MetricFamily[] {
    const { by } = this.#labels;
    const samples = (key: keyof AccountSums): Sample[] =>
      [...this.#sums].map(([account, sums]) => ({ labels: { [by]: account }, value: sums[key] }));
    return [
      counter("tollgate_account_calls_total", "Paid work that has ended, by account.", samples("calls")),
      counter("tollgate_account_credits_total", "Credits that were charged, by account.", samples("credits")),
      counter("tollgate_unnamed_account_calls_total", "Calls counted under the account other.", [
        { labels: {}, value: this.#unnamed },
      ]),
    ];
  }

  #sumsOf(account: string): AccountSums {
    const known = this.#sums.get(account);
    if (known !== undefined && account !== OTHER) return known;
    const isNamed = this.#sums.size < this.#labels.max;
    if (!isNamed) this.#unnamed += 1;
    const label = isNamed ? account : OTHER;
    const sums = this.#sums.get(label) ?? { calls: 0, credits: 0 };
    this.#sums.set(label, sums);
    return sums;
  }
}
