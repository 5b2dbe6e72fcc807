import { type Calendar, type Nano, timeOfSeries } from "../core/index.ts";
import type {
  CallFilter,
  CallFollower,
  CallPage,
  CallPageQuery,
  CallPart,
  CallQuery,
  ForeignIdOutcome,
  ForeignIdQuery,
} from "./call-query.ts";
import type { Generation } from "./generation.ts";

/**
 * The dimensions of sums: days or longer intervals, accounts, models, operations. A call belongs to a user or to a project. Sessions and
 * end users are not known of whole days: they are summed from the rows of calls.
 */
export type UsageDimension =
  | "day"
  | "organisation"
  | "project"
  | "user"
  | "token"
  | "provider"
  | "model"
  | "operation"
  | "session"
  | "end_user"
  | TagDimension;

/** The values of a tag, by its key. */
export type TagDimension = `tag:${string}`;

/** The grouping of a user's own report: by the day on which calls began, by model, by token, or by the client's session. */
export type UsageGrouping = Extract<UsageDimension, "day" | "model" | "token" | "session">;

interface UsagePeriod {
  /** Includes calls that began at this time or later, in milliseconds since the epoch. */
  from: number;
  /** Includes calls that began before this time. */
  to: number;
  /** More groups than these are `too-many-groups`; of sessions, there is a page of so many. */
  groupsMax: number;
  /** The last session of the page before; only of a grouping by session. */
  after?: string;
  /** Aborts the reading if the caller disconnects. */
  signal?: AbortSignal;
}

export interface UsageQuery extends UsagePeriod {
  /** The user's id. */
  owner: string;
  groupBy: UsageGrouping;
}

/** The lengths into which days are put together. Weeks begin on Monday. */
export type UsageInterval = "day" | "week" | "month";

/** The spending of many users. */
export interface SpendingQuery extends UsagePeriod {
  /** The ids of the users; undefined for all that have ever called. */
  owners: readonly string[] | undefined;
  groupBy: readonly UsageDimension[];
  interval: UsageInterval;
  /** Only calls with these values are counted; null for those without the tag. */
  filter: Readonly<Partial<Record<Exclude<UsageDimension, "day" | "project" | "user">, string | null>>>;
  /** Besides the sums that every report has. */
  details?: readonly UsageDetail[];
  /** The id of the organisation that an account pays for; undefined if there is none. */
  organisationOf: (account: string) => string | undefined;
}

/** The same without a bound of the number of groups; `day` is always among their values. */
export interface AllSpendingQuery extends Omit<SpendingQuery, "groupsMax" | "interval" | "groupBy" | "after"> {
  groupBy: readonly Exclude<UsageDimension, "day" | "session" | "end_user">[];
}

/** The groups, read while they are taken, or the time before which calls were removed. */
export type AllSpending = { parts: AsyncIterable<SpendingGroup[]> } | { removedBefore: number };

/** More sums than those of calls, tokens and credits, by the names that answers have for them. */
export const usageDetails = ["buckets", "first_token_ms"] as const;

export type UsageDetail = (typeof usageDetails)[number];

export interface UsageSums {
  /** Accepted calls, including failed ones. */
  requests: bigint;
  /** Those that have failed, broken off or expired. */
  failures: bigint;
  inputTokens: bigint;
  outputTokens: bigint;
  credits: Nano;
  /** At list price; of calls before it was recorded 0. */
  listCredits: Nano;
  /** If it was asked for: the units by bucket. Of tokens that no bucket has, the `input` and `output` of them are the rest. */
  units?: Map<string, bigint>;
  /** If it was asked for: columns of counts of calls by the time to their first token, for `firstTokenCounts`. */
  firstTokens?: bigint[];
}

export interface UsageGroup extends UsageSums {
  /** The day as YYYY-MM-DD, the model id with its prefix, the token's id, or the session. */
  name: string;
}

/** The sums of one combination of values. One that no call has is undefined: the organisation of a user without any. */
export interface SpendingGroup extends UsageSums {
  /** The first day of the interval as YYYY-MM-DD, the ids of accounts, the provider's prefix, the model's id with it. */
  values: Readonly<Partial<Record<UsageDimension, string | undefined>>>;
}

interface Report<Group> {
  /**
   * Days from the oldest, otherwise from the most expensive, sessions by name. Groups without calls are left out, and so are
   * calls without a session.
   */
  groups: Group[];
  /** Of all calls, also of those in no group or on another page. */
  total: UsageSums;
  /** Present if there is another page of sessions. */
  hasMore?: true;
}

/**
 * A report, or the reason why there is none: too many groups, or calls that were removed. Of days before
 * `removedBefore` only the sums are left, which can't be divided.
 */
type Outcome<Group> = Report<Group> | "too-many-groups" | { removedBefore: number };

export type UsageOutcome = Outcome<UsageGroup>;

export type SpendingOutcome = Outcome<SpendingGroup>;

/** A part of the generations of a series, oldest first. */
export interface SeriesQuery {
  owner: string;
  /** Calls for which this organisation's account has paid, alone: their owner may have been in another one before. */
  organisationAccount?: string | undefined;
  /** The id of the series: of the request that began it. */
  parent: string;
  /** The id of the last generation of the part before. */
  after: string;
  limit: number;
}

/** Reads ended calls. `find`, `ofSeries` and `usage` return the given user's calls only. */
export interface GenerationStore {
  /** The days of the storage's time zone, by which calls are summed. */
  readonly calendar: Calendar;
  /** Undefined if it does not exist, belongs to another user, or has not ended. */
  find(id: string, owner: string): Promise<Generation | undefined>;
  /** The calls of a series, such as a session, that began within two days of it. */
  ofSeries(query: SeriesQuery): Promise<Generation[]>;
  usage(query: UsageQuery): Promise<UsageOutcome>;
  /** The same for many users, by several dimensions. */
  spending(query: SpendingQuery): Promise<SpendingOutcome>;
  /** All groups of many users, which may be very many. */
  allSpending(query: AllSpendingQuery): Promise<AllSpending>;
  /** A page of calls, from the newest. */
  list(query: CallPageQuery): Promise<CallPage>;
  /** All calls of a query in parts, from the newest. */
  parts(query: CallQuery): AsyncIterable<CallPart>;
  /** Any call by its id; of one organisation only if its account is named. */
  findAny(id: string, organisationAccount?: string): Promise<Generation | undefined>;
  /** The latest call that its caller or an upstream knows by an id: of the failed ones, else of those before a time. */
  findByForeignId(query: ForeignIdQuery): Promise<ForeignIdOutcome>;
  /** The calls that end from now on. */
  follow(filter: CallFilter): CallFollower;
}

/** The longest series. */
const SERIES_MS_MAX = 2 * 86_400_000;

/** The period in which the calls of a series begin. */
export function periodOfSeries(parent: string): { from: number; to: number } {
  const from = timeOfSeries(parent);
  return { from, to: from + SERIES_MS_MAX };
}
