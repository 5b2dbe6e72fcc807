/**
 * Sums users' calls batch by batch: whole days from their sums, parts of days from the rows of the calls. A day of a
 * busy user is a million rows: reading them at once would block SQLite, and with it the whole process, for seconds, and
 * on Postgres exceed the statement time-out. A batch takes a few milliseconds; batches are read one after the other for
 * all callers, and other work runs between two of them. The sums of one batch fit into 64 bits.
 */
import { projectOf } from "../auth/index.ts";
import { type Calendar, dayName, GatewayError, inParts, parseObject } from "../core/index.ts";
import { holderOfAccount } from "../ledger/index.ts";
import { intervalName } from "./interval-name.ts";
import type {
  AllSpending,
  AllSpendingQuery,
  SpendingGroup,
  SpendingOutcome,
  SpendingQuery,
  TagDimension,
  UsageDetail,
  UsageDimension,
  UsageOutcome,
  UsageQuery,
  UsageSums,
} from "./store.ts";
import { SessionPage } from "./session-page.ts";
import { Turns } from "./turns.ts";
import { add, nothing } from "./usage-sums.ts";
import { middleOf, partsOf, spansOf, type UsagePart, type UsageSpan } from "./usage-parts.ts";

/** Rows that are counted in one go: one with tags takes a few microseconds. */
const ROWS_AT_ONCE = 250;

/** The dimensions that the rows of one user have; all tags of a call are one of them. */
export type StoredDimension = Exclude<UsageDimension, "organisation" | "project" | "user" | TagDimension> | "tags";

/** The sums of one group within a batch. Dimensions that were not asked for are undefined, and so is the session of a call without one. */
export interface UsageRow extends Omit<UsageSums, "units" | "firstTokens"> {
  /** Undefined if the rows are those of one owner, or if it was not asked for. */
  owner: string | undefined;
  day: number | undefined;
  session: string | undefined;
  endUser: string | undefined;
  account: string | undefined;
  provider: string | undefined;
  model: string | undefined;
  operation: string | undefined;
  /** JSON, or empty. */
  tags: string | undefined;
  /** Some of the units by bucket. */
  units?: readonly (readonly [bucket: string, units: bigint])[];
  firstTokens?: readonly bigint[];
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

interface Asked {
  by: readonly StoredDimension[];
  details: readonly UsageDetail[];
}

export interface StoredQuery extends Asked {
  owner: string;
}

/** The statements of an engine. */
export interface UsageSource {
  state(): Promise<UsageState>;
  /** The users that have ever called. */
  owners(): Promise<string[]>;
  /** Reads the batch with which the part begins. */
  batch(part: UsagePart, query: StoredQuery): Promise<UsageBatch>;
  /** Whole days or months of several owners, and the number of rows that were summed: of the sums at most `rowsMax`, any of them. */
  spans(
    span: OwnersSpan & { isByOwner: boolean; rowsMax: number },
    asked: Asked,
  ): Promise<{ rows: readonly UsageRow[]; counted: number }>;
}

interface OwnersSpan extends UsageSpan {
  owners: readonly string[];
}

/** Owners whose sums are read at once: few at first, since nobody knows yet how many rows they have. */
const OWNERS_FIRST = 4;
const OWNERS_MAX = 500;
/** So many times as many owners or days are read next, at most. */
const PIECE_GROWTH = 8;

interface Piece extends OwnersSpan {
  isByOwner: boolean;
}

/** A span in pieces. */
interface Pieces {
  /** The owners or days of all pieces, of the first one, and of one at most. */
  length: number;
  first: number;
  most: number;
  pieceOf: (first: number, size: number) => Piece;
}

interface Reading extends SpendingQuery {
  /** Whether groups by session come page by page. */
  pages?: boolean;
}

/** Days of a report by day that is read from calls: each is read on its own, of each user. */
const CALL_DAYS_MAX = 400;

const noOrganisation = (): undefined => undefined;

interface ReaderOptions {
  calendar: Calendar;
  turns: Turns;
  /** Rows of sums that are read at once, unless one day or month of one owner has more. */
  spanRows: number;
}

export class UsageReader {
  readonly #source: UsageSource;
  readonly #calendar: Calendar;
  readonly #turns: Turns;
  readonly #spanRowsMax: number;

  constructor(source: UsageSource, { calendar, turns, spanRows }: ReaderOptions) {
    this.#source = source;
    this.#calendar = calendar;
    this.#turns = turns;
    this.#spanRowsMax = spanRows;
  }

  /** Throws a `GatewayError` if the caller has disconnected meanwhile, or for too long a time. */
  async ofUser({ owner, groupBy, ...period }: UsageQuery): Promise<UsageOutcome> {
    const own = {
      owners: [owner],
      groupBy: [groupBy],
      pages: true,
      interval: "day",
      filter: {},
      organisationOf: noOrganisation,
    } as const;
    const report = await this.#read({ ...own, ...period });
    if (report === "too-many-groups" || "removedBefore" in report) return report;
    return {
      ...report,
      groups: report.groups.map(({ values, ...sums }) => ({ name: values[groupBy] ?? "", ...sums })),
    };
  }

  /** Throws a `GatewayError` if the caller has disconnected meanwhile, or for too long a time. */
  ofUsers(query: SpendingQuery): Promise<SpendingOutcome> {
    return this.#read(query);
  }

  /**
   * All groups without a bound of their number: those of one owner after the other's, of each the days from the oldest. Rejects like
   * the reports.
   */
  async allGroups(query: AllSpendingQuery): Promise<AllSpending> {
    const reading = { ...query, groupBy: ["day", ...query.groupBy] as const, interval: "day", groupsMax: 0 } as const;
    const parts = this.#partsOf(reading);
    return (await this.#removedFrom(parts, reading)) ?? { parts: this.#groupsOf(parts, reading) };
  }

  async *#groupsOf(parts: readonly UsagePart[], query: Reading): AsyncIterable<SpendingGroup[]> {
    const total = nothing();
    for (const owner of query.owners ?? (await this.#turns.take(query, () => this.#source.owners()))) {
      const groups = new Map<string, SpendingGroup>();
      for await (const rows of this.#batches(parts, query, owner)) {
        await this.#countAll(rows, { owner, query, page: undefined, groups, total });
        // The next batch may go on within this day.
        yield taken(groups, Math.max(0, ...rows.map(({ day = 0 }) => day)));
      }
      yield taken(groups);
    }
    const removed = await this.#removedFrom(parts, query);
    if (removed !== undefined) throw new GatewayError("storage_unavailable", "Calls were removed meanwhile.");
  }

  async #read(query: Reading): Promise<SpendingOutcome> {
    const { groupBy, groupsMax } = query;
    const parts = this.#partsOf(query);
    const isBySession = groupBy.length === 1 && groupBy[0] === "session" && query.pages === true;
    const removed = await this.#removedFrom(parts, query);
    if (removed !== undefined) return removed;
    const groups = new Map<string, SpendingGroup>();
    const page = isBySession ? new SessionPage(groups, query) : undefined;
    const total = nothing();
    const owners = query.owners ?? (await this.#turns.take(query, () => this.#source.owners()));
    for await (const { owner, rows } of this.#rowsOf(parts, query, owners)) {
      for await (const some of inParts(rows, ROWS_AT_ONCE)) {
        for (const row of some) this.#count(row, { owner: row.owner ?? owner, query, page, groups, total });
        if (page !== undefined) page.trim();
        else if (groups.size > groupsMax) return "too-many-groups";
      }
    }
    // A removal or a change of the zone may have begun in between.
    const removedMeanwhile = await this.#removedFrom(parts, query);
    if (removedMeanwhile !== undefined) return removedMeanwhile;
    // A late end may have moved the only call of a group to another one.
    const filled = [...groups.values()].filter(({ requests }) => requests > 0n);
    const sorted = filled.toSorted(isBySession ? bySession : byDayAndCredits);
    return { groups: sorted.slice(0, groupsMax), total, ...(sorted.length > groupsMax && { hasMore: true }) };
  }

  /** The rows of parts of days owner by owner, those of whole days of many owners together. */
  async *#rowsOf(parts: readonly UsagePart[], query: Reading, owners: readonly string[]): AsyncIterable<OwnersRows> {
    const isOfCalls = readsCalls(query);
    const single = parts.filter(({ unit }) => isOfCalls || unit === "calls");
    for (const owner of single.length === 0 ? [] : owners)
      for await (const rows of this.#batches(single, query, owner)) yield { owner, rows };
    const whole = isOfCalls ? [] : parts.filter(({ unit }) => unit === "days");
    for (const span of whole.flatMap((part) => this.#spansOf(part, query))) yield* this.#spanRows(span, query, owners);
  }

  #spansOf({ from, to }: UsagePart, { groupBy, interval }: Reading): UsageSpan[] {
    const needsDays = groupBy.includes("day") && interval !== "month";
    return needsDays ? [{ unit: "days", from, to }] : spansOf(from, to);
  }

  /** Groups by day are read some days at a time, of many owners: some owners at a time would have each day over and over. */
  async *#spanRows(span: UsageSpan, query: Reading, owners: readonly string[]): AsyncIterable<OwnersRows> {
    const isByOwner = query.groupBy.some((dimension) => dimension === "user" || dimension === "project");
    const isByTime = span.unit === "days" && query.groupBy.includes("day") && !isByOwner;
    if (!isByTime) {
      const pieceOf = (first: number, size: number) => ({
        ...span,
        owners: owners.slice(first, first + size),
        isByOwner,
      });
      yield* this.#pieces(query, { length: owners.length, first: OWNERS_FIRST, most: OWNERS_MAX, pieceOf });
      return;
    }
    const length = span.to - span.from;
    for (let first = 0; first < owners.length; first += OWNERS_MAX) {
      const some = owners.slice(first, first + OWNERS_MAX);
      const pieceOf = (day: number, size: number) => {
        const from = span.from + day;
        return { ...span, from, to: Math.min(from + size, span.to), owners: some, isByOwner };
      };
      yield* this.#pieces(query, { length, first: 1, most: length, pieceOf });
    }
  }

  /** Reads pieces one after the other, each of as many owners or days as fit by the rows of the one before. */
  async *#pieces(query: Reading, { length, first, most, pieceOf }: Pieces): AsyncIterable<OwnersRows> {
    let size = first;
    for (let at = 0; at < length;) {
      const some = Math.min(size, length - at);
      let counted = 0;
      for await (const read of this.#halves(query, pieceOf(at, some))) {
        counted += read.counted;
        if (read.rows !== undefined) yield { owner: "", rows: read.rows };
      }
      at += some;
      const fitting = Math.floor((some * this.#spanRowsMax) / Math.max(counted, 1));
      size = Math.min(Math.max(fitting, 1), some * PIECE_GROWTH, most);
    }
  }

  /** Reads a piece, or its halves if it has more rows than are read at once. Those of a piece that was too large are undefined. */
  async *#halves(query: Reading, whole: Piece): AsyncIterable<{ rows?: readonly UsageRow[]; counted: number }> {
    const stored: Asked = { by: storedDimensions(query), details: query.details ?? [] };
    const left: Piece[] = [whole];
    for (let piece = left.pop(); piece !== undefined; piece = left.pop()) {
      const asked = piece;
      const halves = halvesOf(piece)?.map((half) => ({ ...half, isByOwner: whole.isByOwner }));
      const rowsMax = halves === undefined ? Number.MAX_SAFE_INTEGER : this.#spanRowsMax + 1;
      const { rows, counted } = await this.#turns.take(query, () => this.#source.spans({ ...asked, rowsMax }, stored));
      const isCut = halves !== undefined && counted > this.#spanRowsMax;
      if (isCut) left.push(...halves);
      yield { counted, ...(!isCut && { rows }) };
    }
  }

  /** At most one of them is of whole days, which `#eachOf` reads one by one if they are read from calls. Throws 422 for too many. */
  #partsOf(query: Reading): UsagePart[] {
    const { from, to, groupBy } = query;
    const isOfCalls = readsCalls(query);
    if (isOfCalls && !groupBy.includes("day")) return from < to ? [{ unit: "calls", from, to, day: 0 }] : [];
    const parts = partsOf(from, to, this.#calendar);
    const isLong = parts.some((part) => part.unit === "days" && part.to - part.from > CALL_DAYS_MAX);
    if (isOfCalls && isLong) throw tooManyDays();
    return parts;
  }

  *#eachOf(part: UsagePart, query: Reading): Iterable<UsagePart> {
    if (part.unit === "calls" || !readsCalls(query)) {
      yield part;
      return;
    }
    for (let day = part.from; day < part.to; day += 1)
      yield { unit: "calls", from: this.#calendar.startOfDay(day), to: this.#calendar.startOfDay(day + 1), day };
  }

  async #countAll(rows: readonly UsageRow[], counting: Counting): Promise<void> {
    for await (const some of inParts(rows, ROWS_AT_ONCE)) for (const row of some) this.#count(row, counting);
  }

  #count(row: UsageRow, { owner, query, page, groups, total }: Counting): void {
    const values = valuesOf(row, owner, query);
    for (const [dimension, value] of Object.entries(query.filter))
      if ((values[dimension as UsageDimension] ?? null) !== value) return;
    add(total, row);
    if (page?.excludes(values.session ?? "") === true) return;
    const asked = query.groupBy.map((dimension) => values[dimension]);
    const key = page === undefined ? JSON.stringify(asked) : (values.session ?? "");
    let group = groups.get(key);
    if (group === undefined) {
      const shown = query.groupBy.map((dimension, index) => [dimension, asked[index]] as const);
      group = { values: Object.fromEntries(shown), ...nothing() };
      groups.set(key, group);
    }
    add(group, row);
  }

  async *#batches(parts: readonly UsagePart[], query: Reading, owner: string): AsyncIterable<readonly UsageRow[]> {
    const stored = { owner, by: storedDimensions(query), details: query.details ?? [] };
    for (const whole of parts) {
      for (const part of this.#eachOf(whole, query)) {
        for (let from: number | undefined = part.from; from !== undefined;) {
          const begun: UsagePart = { ...part, from };
          const { rows, next }: UsageBatch = await this.#turns.take(query, () => this.#source.batch(begun, stored));
          yield rows;
          from = next;
        }
      }
    }
  }

  /** The time before which calls may be gone, if they include calls that a part has to be summed from. */
  async #removedFrom(parts: readonly UsagePart[], query: Reading): Promise<{ removedBefore: number } | undefined> {
    const { timezone, removedBefore } = await this.#turns.take(query, () => this.#source.state());
    if (timezone !== this.#calendar.zone) throw otherDays(timezone);
    const isOfCalls = readsCalls(query);
    const needsRemoved = parts.some(({ unit, from }) => {
      if (unit === "days") return isOfCalls && this.#calendar.startOfDay(from) < removedBefore;
      return from < removedBefore;
    });
    return removedBefore > 0 && needsRemoved ? { removedBefore } : undefined;
  }
}

/** A half of the owners each, or of the time of one owner; undefined for one day or month of one owner. */
function halvesOf({ owners, ...span }: OwnersSpan): OwnersSpan[] | undefined {
  const half = Math.ceil(owners.length / 2);
  if (owners.length > 1) return [owners.slice(half), owners.slice(0, half)].map((some) => ({ ...span, owners: some }));
  const middle = middleOf(span);
  if (middle === undefined) return undefined;
  return [
    { ...span, owners, from: middle },
    { ...span, owners, to: middle },
  ];
}

/** Takes the groups before a day out of the map. A late end may have moved the only call of a group to another one. */
function taken(groups: Map<string, SpendingGroup>, day?: number): SpendingGroup[] {
  const end = day === undefined ? undefined : dayName(day);
  const found: SpendingGroup[] = [];
  for (const [key, group] of groups) {
    if (end !== undefined && (group.values.day ?? "") >= end) continue;
    groups.delete(key);
    if (group.requests > 0n) found.push(group);
  }
  return found;
}

interface OwnersRows {
  /** Empty if they are those of several owners, which the rows have if anybody asked for them. */
  owner: string;
  rows: readonly UsageRow[];
}

interface Counting {
  owner: string;
  query: Reading;
  page: SessionPage | undefined;
  groups: Map<string, SpendingGroup>;
  total: UsageSums;
}

/** The sums of days know neither sessions nor end users. */
function readsCalls({ groupBy, filter }: Reading): boolean {
  const ofCalls = ["session", "end_user"] as const;
  return ofCalls.some((dimension) => groupBy.includes(dimension) || filter[dimension] !== undefined);
}

function tooManyDays(): GatewayError {
  const message = `from: a report by day of sessions or end users has at most ${CALL_DAYS_MAX} days. Ask for a shorter time.`;
  return new GatewayError("validation_failed", message, { param: "from" });
}

function otherDays(timezone: string): GatewayError {
  const message = `The storage's days are now those of ${timezone}; this process has to be restarted.`;
  return new GatewayError("storage_unavailable", message);
}

/** The dimensions that rows are read by: those of the groups and of the filter. The organisation follows from the account. */
function storedDimensions({ groupBy, filter }: Reading): StoredDimension[] {
  const asked = new Set(askedDimensions({ groupBy, filter }));
  const stored: StoredDimension[] = [];
  for (const dimension of ["day", "session", "end_user", "token", "provider", "model", "operation"] as const)
    if (asked.has(dimension) || (dimension === "token" && asked.has("organisation"))) stored.push(dimension);
  if ([...asked].some(isTag)) stored.push("tags");
  return stored;
}

const askedDimensions = ({ groupBy, filter }: Pick<Reading, "groupBy" | "filter">): UsageDimension[] => [
  ...groupBy,
  ...(Object.keys(filter) as (keyof typeof filter)[]),
];

const TAG = "tag:";

const isTag = (dimension: UsageDimension): dimension is TagDimension => dimension.startsWith(TAG);

/** The values of the tags that are asked for. */
function tagValuesOf(
  json: string,
  query: Pick<Reading, "groupBy" | "filter">,
): Partial<Record<UsageDimension, string>> {
  const tags = json === "" ? {} : (parseObject(json) ?? {});
  const values: Partial<Record<UsageDimension, string>> = {};
  for (const dimension of askedDimensions(query).filter(isTag)) {
    const value = tags[dimension.slice(TAG.length)];
    if (typeof value === "string") values[dimension] = value;
  }
  return values;
}

function valuesOf(
  { day, session, endUser, account, provider, model, operation, tags }: UsageRow,
  owner: string,
  query: Reading,
): Partial<Record<UsageDimension, string | undefined>> {
  const { interval, organisationOf } = query;
  const project = projectOf(owner);
  return {
    ...(tags !== undefined && tagValuesOf(tags, query)),
    day: day === undefined ? undefined : intervalName(day, interval),
    organisation: account === undefined ? undefined : organisationOf(account),
    user: project === undefined ? owner : undefined,
    project,
    token: account === undefined ? undefined : tokenIdOf(account),
    provider,
    model,
    operation,
    session,
    end_user: endUser,
  };
}

/** The id of the token that owns the account. */
export function tokenIdOf(account: string): string {
  return holderOfAccount(account);
}

function bySession(one: SpendingGroup, other: SpendingGroup): number {
  return (one.values.session ?? "") < (other.values.session ?? "") ? -1 : 1;
}

/** Days from the oldest, then from the most expensive group; by the names if they cost the same. */
function byDayAndCredits(one: SpendingGroup, other: SpendingGroup): number {
  const [day, otherDay] = [one.values.day ?? "", other.values.day ?? ""];
  if (day !== otherDay) return day < otherDay ? -1 : 1;
  if (one.credits !== other.credits) return one.credits > other.credits ? -1 : 1;
  return namesOf(one) < namesOf(other) ? -1 : 1;
}

const namesOf = ({ values }: SpendingGroup): string => Object.values(values).join("\n");
