/**
 * Sums a user's calls batch by batch: whole days from their sums, parts of days from the rows of the calls. A day of a
 * busy user is a million rows: reading them at once would block SQLite, and with it the whole process, for seconds, and
 * on Postgres exceed the statement time-out. A batch takes a few milliseconds; batches are read one after the other for
 * all callers, and other work runs between two of them. The sums of one batch fit into 64 bits.
 */
import { setImmediate } from "node:timers/promises";
import { type Calendar, dayName, GatewayError } from "../core/index.ts";
import { accountId } from "../ledger/index.ts";
import type { UsageGroup, UsageGrouping, UsageOutcome, UsageQuery, UsageSums } from "./store.ts";
import { SessionPage } from "./session-page.ts";
import { partsOf, type UsagePart } from "./usage-parts.ts";

/** The sums of one group within a batch; the key is a day, a model's id, an account's, or a session, empty if there is none. */
export interface UsageRow extends UsageSums {
  key: string;
}

export interface UsageBatch {
  rows: readonly UsageRow[];
  /** The start of the part's next batch; undefined after the last. */
  next: number | undefined;
}

/** The zone of the days that the sums have now, and the time before which rows may be gone. */
export interface UsageState {
  timezone: string;
  removedBefore: number;
}

/** The statements of an engine. */
export interface UsageSource {
  state(): Promise<UsageState>;
  /** Reads the batch with which the part begins. */
  batch(part: UsagePart, query: Pick<UsageQuery, "owner" | "groupBy">): Promise<UsageBatch>;
}

export class UsageReader {
  readonly #source: UsageSource;
  readonly #calendar: Calendar;
  #turns: Promise<unknown> = Promise.resolve();

  constructor(source: UsageSource, calendar: Calendar) {
    this.#source = source;
    this.#calendar = calendar;
  }

  /** Throws a `GatewayError` if the caller has disconnected meanwhile. */
  async read(query: UsageQuery): Promise<UsageOutcome> {
    const { from: begin, to, groupBy, groupsMax } = query;
    // The sums of days do not tell sessions apart.
    const isBySession = groupBy === "session";
    const parts: UsagePart[] = isBySession
      ? [{ unit: "calls", from: begin, to, day: 0 }]
      : partsOf(begin, to, this.#calendar);
    const removed = await this.#removedFrom(parts, query);
    if (removed !== undefined) return removed;
    const groups = new Map<string, UsageSums>();
    const page = isBySession ? new SessionPage(groups, query) : undefined;
    const total = nothing();
    for await (const rows of this.#batches(parts, query)) {
      for (const row of rows) {
        add(total, row);
        if (page?.excludes(row.key) !== true) addTo(groups, row);
      }
      if (page !== undefined) page.trim();
      else if (groups.size > groupsMax) return "too-many-groups";
    }
    // A removal or a change of the zone may have begun in between.
    const removedMeanwhile = await this.#removedFrom(parts, query);
    if (removedMeanwhile !== undefined) return removedMeanwhile;
    // A late end may have moved the only call of a group to another one.
    const filled = [...groups].filter(([, { requests }]) => requests > 0n);
    const named = filled.map(([key, sums]) => ({ name: nameOf(groupBy, key), ...sums }));
    const sorted = named.toSorted(groupBy === "day" || isBySession ? byName : byCredits);
    return { groups: sorted.slice(0, groupsMax), total, ...(sorted.length > groupsMax && { hasMore: true }) };
  }

  async *#batches(parts: readonly UsagePart[], query: UsageQuery): AsyncIterable<readonly UsageRow[]> {
    for (const part of parts) {
      for (let from: number | undefined = part.from; from !== undefined;) {
        const begun: UsagePart = { ...part, from };
        const { rows, next }: UsageBatch = await this.#inTurn(query, () => this.#source.batch(begun, query));
        yield rows;
        from = next;
      }
    }
  }

  /** The time before which calls may be gone, if they include calls that a part has to be summed from. */
  async #removedFrom(parts: readonly UsagePart[], query: UsageQuery): Promise<{ removedBefore: number } | undefined> {
    const { timezone, removedBefore } = await this.#inTurn(query, () => this.#source.state());
    if (timezone !== this.#calendar.zone) throw otherDays(timezone);
    const needsRemoved = parts.some(({ unit, from }) => unit === "calls" && from < removedBefore);
    return removedBefore > 0 && needsRemoved ? { removedBefore } : undefined;
  }

  #inTurn<T>(query: UsageQuery, read: () => Promise<T>): Promise<T> {
    const turn = this.#turns.then(() => {
      if (query.signal?.aborted === true) throw new GatewayError("request_interrupted", "The client went away.");
      return read();
    });
    this.#turns = turn.then(letOthers, letOthers);
    return turn;
  }
}

/** Events that have arrived meanwhile are handled before the next batch. */
const letOthers = (): Promise<unknown> => setImmediate();

function otherDays(timezone: string): GatewayError {
  const message = `The storage's days are now those of ${timezone}; this process has to be restarted.`;
  return new GatewayError("storage_unavailable", message);
}

const nothing = (): UsageSums => ({ requests: 0n, inputTokens: 0n, outputTokens: 0n, credits: 0n });

function add(sums: UsageSums, row: UsageSums): void {
  sums.requests += row.requests;
  sums.inputTokens += row.inputTokens;
  sums.outputTokens += row.outputTokens;
  sums.credits += row.credits;
}

function addTo(groups: Map<string, UsageSums>, row: UsageRow): void {
  const group = groups.get(row.key) ?? nothing();
  groups.set(row.key, group);
  add(group, row);
}

function nameOf(groupBy: UsageGrouping, key: string): string {
  if (groupBy === "day") return dayName(Number(key));
  return groupBy === "token" ? tokenIdOf(key) : key;
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
