/**
 * Sums a user's calls page by page. A month of a busy user is millions of rows: reading them at once would block
 * SQLite, and with it the whole process, for seconds, and on Postgres exceed the statement time-out. A page takes a few
 * milliseconds; pages are read one after the other for all callers, and other work runs between two of them. The sums
 * of one page fit into 64 bits.
 */
import { setImmediate } from "node:timers/promises";
import { GatewayError } from "../core/index.ts";
import { accountId } from "../ledger/index.ts";
import type { UsageGroup, UsageGrouping, UsageQuery, UsageReport, UsageSums } from "./store.ts";

const DAY_MS = 86_400_000;

/** The sums of one group within a page; the key is a day's number since the epoch, a model's id or an account's. */
export interface UsageRow {
  key: bigint | string;
  requests: bigint;
  input_tokens: bigint;
  output_tokens: bigint;
  credits: bigint;
}

export interface UsagePage {
  rows: readonly UsageRow[];
  /** The start of the next page; undefined after the last. */
  next: number | undefined;
}

/** Reads the page that begins at `query.from`. */
export type ReadUsagePage = (query: UsageQuery) => Promise<UsagePage>;

export class UsageReader {
  readonly #readPage: ReadUsagePage;
  #turns: Promise<unknown> = Promise.resolve();

  constructor(readPage: ReadUsagePage) {
    this.#readPage = readPage;
  }

  /** Throws a `GatewayError` if the caller has disconnected meanwhile. */
  async read(query: UsageQuery): Promise<UsageReport | "too-many-groups"> {
    const groups = new Map<UsageRow["key"], UsageSums>();
    const total = nothing();
    for (let from: number | undefined = query.from; from !== undefined;) {
      const { rows, next } = await this.#inTurn(query, from);
      for (const row of rows) {
        const group = groups.get(row.key) ?? nothing();
        groups.set(row.key, group);
        add(group, row);
        add(total, row);
      }
      if (groups.size > query.groupsMax) return "too-many-groups";
      from = next;
    }
    const named = [...groups].map(([key, sums]) => ({ name: nameOf(query.groupBy, key), ...sums }));
    return { groups: named.toSorted(query.groupBy === "day" ? byName : byCredits), total };
  }

  #inTurn(query: UsageQuery, from: number): Promise<UsagePage> {
    const turn = this.#turns.then(() => {
      if (query.signal?.aborted === true) throw new GatewayError("request_interrupted", "The client went away.");
      return this.#readPage({ ...query, from });
    });
    this.#turns = turn.then(letOthers, letOthers);
    return turn;
  }
}

/** Events that have arrived meanwhile are handled before the next page. */
const letOthers = (): Promise<unknown> => setImmediate();

const nothing = (): UsageSums => ({ requests: 0n, inputTokens: 0n, outputTokens: 0n, credits: 0n });

function add(sums: UsageSums, row: UsageRow): void {
  sums.requests += row.requests;
  sums.inputTokens += row.input_tokens;
  sums.outputTokens += row.output_tokens;
  sums.credits += row.credits;
}

function nameOf(groupBy: UsageGrouping, key: UsageRow["key"]): string {
  if (groupBy === "day") return new Date(Number(key) * DAY_MS).toISOString().slice(0, "YYYY-MM-DD".length);
  return groupBy === "token" ? tokenIdOf(String(key)) : String(key);
}

/** The id of the token that owns the account. */
export function tokenIdOf(account: string): string {
  return account.slice(accountId("token", "").length);
}

const byName = (a: UsageGroup, b: UsageGroup): number => (a.name < b.name ? -1 : 1);

function byCredits(a: UsageGroup, b: UsageGroup): number {
  if (a.credits === b.credits) return byName(a, b);
  return a.credits > b.credits ? -1 : 1;
}
