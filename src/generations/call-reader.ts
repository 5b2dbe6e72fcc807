/**
 * Lists calls from the newest, batch by batch, like `UsageReader`. A filter may leave out nearly all of them: a page ends after so
 * many searched records, and has the time that the search has reached.
 */
import { firstRequestIdAt, limits, timeOfSeries } from "../core/index.ts";
import type { CallPage, CallPageQuery, CallPart, CallQuery, ForeignIdOutcome, ForeignIdQuery } from "./call-query.ts";
import type { Matching } from "./sql/call-pages.ts";
import type { Generation } from "./generation.ts";
import type { Turns } from "./turns.ts";

/** A call may begin so long after its id was made, as a response of a session for which credits were held ahead. */
const ID_AGE_MS_MAX = 2 * 3_600_000;

/** Calls that come from the thread that reads them in one message: some 0.5 ms of the thread that answers calls. */
const PART_CALLS = 100;

interface SearchedCalls extends Omit<CallQuery, "filter"> {
  filter: Omit<Matching, "from" | "to">;
}

interface SearchedPage extends SearchedCalls {
  limit: number;
  rowsMax: number;
}

/** One batch that is searched. */
export interface Search {
  matching: Matching;
  /** The cursor of the part before. */
  after: string | undefined;
  /** The records of one batch, and the calls that are taken from it. */
  batchRows: number;
  limit: number;
}

/** The statements of an engine. */
export interface CallSource {
  /** The next batch of all calls, with ids from `low` on. */
  searchAll(search: Search, low: string): Promise<CallPart>;
  /** The next batch of a user's calls. */
  searchOwn(search: Search, owner: string): Promise<CallPart>;
  /** The latest of the failed calls that somebody else knows by an id. */
  failedBy(name: string, matching: Matching): Promise<Generation | undefined>;
}

export class CallReader {
  readonly #source: CallSource;
  readonly #turns: Turns;
  readonly #batchRows: number;

  constructor(source: CallSource, turns: Turns, batchRows: number) {
    this.#source = source;
    this.#turns = turns;
    this.#batchRows = batchRows;
  }

  /** All calls of a query in parts, from the newest; some parts are empty. */
  async *parts(query: CallQuery): AsyncIterable<CallPart> {
    let { after } = query;
    do {
      const part = await this.#search({ ...query, after }, Math.min(PART_CALLS, this.#batchRows));
      yield part;
      after = part.next;
    } while (after !== undefined);
  }

  page(query: CallPageQuery): Promise<CallPage> {
    return this.#page({ rowsMax: limits.callPageRowsMax, ...query });
  }

  async #page({ limit, rowsMax, ...query }: SearchedPage): Promise<CallPage> {
    const calls: Generation[] = [];
    let { after } = query;
    for (let rows = 0; rows < rowsMax; rows += this.#batchRows) {
      const part = await this.#search({ ...query, after }, limit - calls.length);
      calls.push(...part.calls);
      after = part.next;
      if (after === undefined || calls.length === limit) return { calls, next: after };
    }
    return { calls, next: after, scannedFrom: timeOfSeries(after ?? "") };
  }

  async byForeignId(query: ForeignIdQuery): Promise<ForeignIdOutcome> {
    const { id: named, organisationAccount, to, signal, rowsMax = limits.callSearchRowsMax } = query;
    const filter = { organisationAccount };
    const failed = await this.#source.failedBy(named, { ...filter, from: 0, to });
    if (failed !== undefined) return { call: failed };
    const page = await this.#page({ filter: { ...filter, named }, from: 0, to, limit: 1, rowsMax, signal });
    const [call] = page.calls;
    return call === undefined ? { searchedFrom: page.scannedFrom ?? 0 } : { call };
  }

  #search(query: SearchedCalls, limit: number): Promise<CallPart> {
    const { filter, from, to, after } = query;
    const search = { matching: { ...filter, from, to }, after, batchRows: this.#batchRows, limit };
    return this.#turns.take(query, () =>
      filter.owner === undefined
        ? this.#source.searchAll(search, firstRequestIdAt(from - ID_AGE_MS_MAX))
        : this.#source.searchOwn(search, filter.owner),
    );
  }
}
