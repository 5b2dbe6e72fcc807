import { type Dialect, listOf, parseObject, type Usage, usageBuckets, type UsageSide } from "../../core/index.ts";
import { type AttemptRecord, columnBuckets, firstTokenColumns, unitColumns } from "../../ledger/index.ts";
import { column, sql, type SqlRow, tableOf } from "../../storage/index.ts";
import type { Generation } from "../generation.ts";
import type { UsageDetail } from "../store.ts";
import { tokenIdOf, type UsageRow, type UsageState } from "../usage-reader.ts";

const { text, integer, bigInteger, real, flag, named, oneOf, optional } = column;

const generations = tableOf({
  id: text,
  owner: text,
  accountId: text,
  operation: text,
  dialect: optional(text),
  provider: text,
  model: text,
  streamed: flag,
  /** 0 if the ledger itself wrote the row of an expired call. */
  status: integer,
  outcome: oneOf<Generation["outcome"]>({
    complete: true,
    failed: true,
    interrupted: true,
    abandoned: true,
    expired: true,
  }),
  usage: text,
  inputTokens: integer,
  outputTokens: integer,
  credits: bigInteger,
  listCredits: optional(integer),
  milliseconds: named("ms", real),
  millisecondsToFirstByte: optional(named("first_byte_ms", real)),
  startedAt: integer,
  parent: optional(text),
  session: optional(text),
  route: optional(text),
  upstreamRequestId: optional(text),
  attempts: optional(text),
  clientRequestId: optional(text),
  endUser: optional(text),
  tags: optional(text),
  errorCode: optional(text),
});

const dialects: Readonly<Record<Dialect, true>> = { chat: true, messages: true, responses: true, gemini: true };

/** Whether this version knows the dialect; a newer one on the same storage may have written another. */
const isKnown = (dialect: string | undefined): dialect is Dialect =>
  dialect !== undefined && Object.hasOwn(dialects, dialect);

export function toGeneration(row: SqlRow): Generation {
  const { dialect, status, usage, attempts, tags, ...rest } = generations.read(row);
  const { refunded } = row;
  return {
    ...rest,
    dialect: isKnown(dialect) ? dialect : undefined,
    ...readUsage(usage),
    tokenId: tokenIdOf(rest.accountId),
    status: status === 0 ? undefined : status,
    attempts: attempts === undefined ? undefined : (JSON.parse(attempts) as AttemptRecord[]),
    tags: tags === undefined ? undefined : tagsIn(tags),
    ...(typeof refunded === "bigint" && { refunded }),
  };
}

/** The columns of generations, with the sum of a refund's entries. */
export const RECORD = sql`${generations.names}, (SELECT CAST(sum(r.amount) AS bigint) FROM entries r
  WHERE r.id IN (generations.id || ':refund', generations.id || ':late:refund')) AS refunded`;

function tagsIn(json: string): Record<string, string> {
  const values = Object.entries(parseObject(json) ?? {});
  return Object.fromEntries(values.flatMap(([key, value]) => (typeof value === "string" ? [[key, value]] : [])));
}

const sides: readonly UsageSide[] = ["input", "output"];

/** The buckets that this version knows; a newer version may have written others. */
function readUsage(json: string): Pick<Generation, "usage" | "terms" | "maxOutputTokens" | "estimated"> {
  const counts = parseObject(json) ?? {};
  const usage: Usage = {};
  for (const bucket of usageBuckets) {
    const count = counts[bucket];
    if (typeof count === "number") usage[bucket] = count;
  }
  const { serviceTier, inferenceGeo, maxOutputTokens } = counts;
  const estimated = sides.filter((side) => listOf(counts["estimated"]).includes(side));
  const terms = {
    ...(typeof serviceTier === "string" && { serviceTier }),
    ...(typeof inferenceGeo === "string" && { inferenceGeo }),
  };
  return {
    usage,
    ...(Object.keys(terms).length > 0 && { terms }),
    ...(typeof maxOutputTokens === "number" && { maxOutputTokens }),
    ...(estimated.length > 0 && { estimated }),
  };
}

const unitsInRow = tableOf({ bucket: optional(text), units: bigInteger });

/** The columns of sums that are in bigints, in the order of their names. */
const integersIn = (row: SqlRow, names: readonly string[]): bigint[] =>
  names.map((name) => {
    const value = bigInteger.read(row[name]);
    if (value === undefined) throw new Error(`a stored ${name} is unusable`);
    return value;
  });

/** The further sums of a row that were asked for. */
export function detailsIn(row: SqlRow, details: readonly UsageDetail[]): Pick<UsageRow, "units" | "firstTokens"> {
  const hasUnits = details.includes("buckets");
  const { bucket, units } = hasUnits ? unitsInRow.read(row) : { bucket: undefined, units: 0n };
  const columns = hasUnits ? integersIn(row, unitColumns) : [];
  const counted = columnBuckets.map((name, index): [string, bigint] => [name, columns[index] ?? 0n]);
  return {
    ...(hasUnits && { units: bucket === undefined ? counted : [[bucket, units]] }),
    ...(details.includes("first_token_ms") && { firstTokens: integersIn(row, firstTokenColumns) }),
  };
}

/** A row of sums, or one of a call that is not in the sums of its day yet, with the time at which it began. */
export const sums = tableOf<Omit<UsageRow, "units" | "firstTokens"> & { startedAt: number | undefined }>({
  owner: optional(named("owner_name", text)),
  day: optional(integer),
  session: optional(text),
  endUser: optional(text),
  account: optional(named("account_id", text)),
  provider: optional(text),
  model: optional(text),
  operation: optional(text),
  tags: optional(text),
  startedAt: optional(integer),
  requests: bigInteger,
  failures: bigInteger,
  inputTokens: bigInteger,
  outputTokens: bigInteger,
  credits: bigInteger,
  listCredits: bigInteger,
});

/** Of a group of sums: the rows that it was summed from. */
export const counts = tableOf({ counted: integer });

export const owners = tableOf({ owner: text });

export const state = tableOf<UsageState>({ timezone: text, removedBefore: integer });

export const last = tableOf({ last: integer });

export const ids = tableOf({ id: text });

export const starts = tableOf({ startedAt: integer });
