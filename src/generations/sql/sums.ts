/** The statements that sum calls: of whole days and months from their sums, of parts of days from the rows of calls. */
import { firstTokenColumns, firstTokenValues, unitColumns } from "../../ledger/index.ts";
import { joinStatements, perEngine, sql, type Statement, textsIn } from "../../storage/index.ts";
import type { UsageDetail } from "../store.ts";
import type { UsageSpan } from "../usage-parts.ts";
import type { StoredDimension } from "../usage-reader.ts";

/** An owner's calls that began, or days, from a moment on and before another. */
export interface Range {
  owner: string;
  from: number;
  to: number;
}

/** Whole days or months of several owners. */
export interface OwnersSpan extends UsageSpan {
  owners: readonly string[];
  /** Whether the groups are those of one owner each. */
  isByOwner: boolean;
  /** So many rows of sums are read at most, any of them. */
  rowsMax: number;
}

/** What the rows of a statement have: the dimensions that they are grouped by, and more sums than those of calls, tokens and credits. */
export interface AskedSums {
  by: readonly StoredDimension[];
  details: readonly UsageDetail[];
}

type Dimension = StoredDimension | "owner";

interface Asked extends Omit<AskedSums, "by"> {
  by: readonly Dimension[];
}

/** The tables that are summed, and single calls, which are not grouped. */
type Source = "days" | "months" | "calls" | "call";

const column: Readonly<Record<Dimension, string>> = {
  owner: "owner_name",
  day: "day",
  session: "session",
  end_user: "end_user",
  token: "account_id",
  provider: "provider",
  model: "model",
  operation: "operation",
  tags: "tags",
};

const dimensions: readonly Dimension[] = [
  ...(["owner", "day", "session", "end_user", "token", "provider", "model", "operation", "tags"] as const),
];

/** Sums know no sessions and end users. The reader knows the day of calls. */
const missing: Readonly<Record<Source, readonly Dimension[]>> = {
  days: ["session", "end_user"],
  months: ["session", "end_user"],
  calls: ["day"],
  call: ["day"],
};

function valueOf(dimension: Dimension, source: Source): string {
  if (dimension === "owner") return "owner";
  if (dimension === "day" && source === "months") return "month";
  if (dimension === "model") return "provider || '/' || model";
  if (dimension === "tags" && (source === "calls" || source === "call")) return "coalesce(tags, '')";
  return column[dimension];
}

const isIn = (by: readonly Dimension[], dimension: Dimension, source: Source): boolean =>
  by.includes(dimension) && !missing[source].includes(dimension);

const selected = (by: readonly Dimension[], source: Source): string =>
  dimensions
    .map((dimension) => `${isIn(by, dimension, source) ? valueOf(dimension, source) : "NULL"} AS ${column[dimension]}`)
    .join(", ");

/** Without a group there is no row of nothing. */
function grouped(by: readonly Dimension[], source: Source, more: readonly string[] = []): string {
  const groups = dimensions
    .filter((dimension) => isIn(by, dimension, source))
    .map((dimension) => (dimension === "model" ? "provider, model" : valueOf(dimension, source)));
  return [...groups, ...more].length === 0 ? "HAVING count(*) > 0" : `GROUP BY ${[...groups, ...more].join(", ")}`;
}

/** 1 for a call that has failed. */
const FAILURE = "CASE WHEN outcome <> 'complete' AND outcome <> 'abandoned' THEN 1 ELSE 0 END";

const ZERO = "CAST(0 AS bigint)";

const sum = (value: string): string => `CAST(sum(${value}) AS bigint)`;

const sumsOfTable = summedColumns(["requests", "failures", "input_tokens", "output_tokens", "credits", "list_credits"]);

/** The values of the sums that every report has. */
const amounts: Readonly<Record<Source, Readonly<Record<string, string>>>> = {
  days: sumsOfTable,
  months: sumsOfTable,
  calls: {
    requests: "count(*)",
    failures: sum(FAILURE),
    ...summedColumns(["input_tokens", "output_tokens", "credits"]),
    list_credits: sum("coalesce(list_credits, 0)"),
  },
  call: {
    requests: "1",
    failures: FAILURE,
    input_tokens: "input_tokens",
    output_tokens: "output_tokens",
    credits: "credits",
    list_credits: "coalesce(list_credits, 0)",
  },
};

function summedColumns(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, sum(name)]));
}

/** The times to the first token; of calls they are counted here. */
function firstTokens(source: Source): Record<string, string> {
  if (source === "days" || source === "months") return summedColumns(firstTokenColumns);
  return Object.fromEntries(
    firstTokenColumns.map((name, index) => {
      const value = `coalesce(${firstTokenValues[index]}, 0)`;
      return [name, source === "call" ? value : sum(value)];
    }),
  );
}

/** Units in columns, and none in rows. Of calls, all units are in rows. */
const unitsIn = (source: Source): Record<string, string> => ({
  ...(source === "days" || source === "months"
    ? summedColumns(unitColumns)
    : Object.fromEntries(unitColumns.map((name) => [name, ZERO]))),
  bucket: "NULL",
  units: ZERO,
});

const none = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.keys(values).map((name) => [name, ZERO]));

const named = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${value} AS ${name}`)
    .join(", ");

/** The columns of a row of sums. */
function sumsOf(by: readonly Dimension[], source: Source, details: readonly UsageDetail[]): string {
  const counted = source === "call" ? "1" : "count(*)";
  return `${selected(by, source)}, ${source === "call" ? "started_at" : "NULL AS started_at"}, ${named({
    counted,
    ...amounts[source],
    ...(details.includes("buckets") && unitsIn(source)),
    ...(details.includes("first_token_ms") && firstTokens(source)),
  })}`;
}

/** The columns of a row of units in one bucket: the same, without anything else. */
function unitsOf(
  by: readonly Dimension[],
  source: Source,
  { details, bucket, units }: { details: readonly UsageDetail[]; bucket: string; units: string },
): string {
  return `${selected(by, source)}, ${source === "call" ? "started_at" : "NULL AS started_at"}, ${named({
    counted: source === "call" ? "1" : "count(*)",
    ...none(amounts[source]),
    ...none(unitsIn(source)),
    bucket,
    units,
    ...(details.includes("first_token_ms") && none(firstTokens(source))),
  })}`;
}

const text = (plain: string): Statement => perEngine({ sqlite: plain, postgres: plain });

/** The units of the calls before it, a row each: members of their usage that are no whole numbers are none. */
const EACH_UNIT = perEngine({
  sqlite: ", json_each(usage) AS u",
  postgres: " CROSS JOIN LATERAL json_each_text(usage::json) AS u",
});

const IS_UNIT = perEngine({
  sqlite: "u.type = 'integer' AND u.value > 0 AND u.key NOT IN ('input', 'output', 'maxOutputTokens')",
  postgres: "u.value ~ '^[1-9][0-9]{0,17}$' AND u.key NOT IN ('input', 'output', 'maxOutputTokens')",
});

const unitValue = (source: "calls" | "call"): Statement => {
  if (source === "call") return text("u.value");
  return perEngine({
    sqlite: "CAST(sum(u.value) AS bigint)",
    postgres: "CAST(sum(CAST(u.value AS numeric)) AS bigint)",
  });
};

const UNION = " UNION ALL ";

/**
 * The sums of the calls of a FROM clause that meet a condition, which are one owner's; or these calls one by one, each with the time at which
 * it began.
 */
export function sumsOfCalls(asked: Asked, source: "calls" | "call", { from, condition }: Rows): Statement {
  const { by, details } = asked;
  const groups = (more: readonly string[]): Statement => text(source === "call" ? "" : ` ${grouped(by, source, more)}`);
  const select = text(`SELECT ${sumsOf(by, source, details)} FROM `);
  const parts = [joinStatements([select, from, text(" WHERE "), condition, groups([])], "")];
  if (details.includes("buckets")) {
    const [before = "", after = ""] = unitsOf(by, source, { details, bucket: "u.key", units: PLACE }).split(PLACE);
    const selectUnits = joinStatements([text(`SELECT ${before}`), unitValue(source), text(`${after} FROM `)], "");
    const isUnit = joinStatements([text(" WHERE "), IS_UNIT, text(" AND ")], "");
    parts.push(joinStatements([selectUnits, from, EACH_UNIT, isUnit, condition, groups(["u.key"])], ""));
  }
  return joinStatements(parts, UNION);
}

interface Rows {
  from: Statement;
  condition: Statement;
}

/** Stands for the value that the engines write in their own ways. */
const PLACE = "%UNITS%";

/** The sums of the rows of days or months that `where` selects, and of their units; `limit` bounds the rows of each table. */
function sumsOfRows({ by, details }: Asked, source: "days" | "months", where: Statement): Statement {
  const prefix = source === "days" ? "daily" : "monthly";
  const of = (table: string, columns: string, more: readonly string[] = []): Statement =>
    joinStatements(
      [
        text(`SELECT ${columns} FROM (SELECT * FROM ${prefix}_${table} WHERE`),
        where,
        text(`) AS piece ${grouped(by, source, more)}`),
      ],
      " ",
    );
  const parts = [of("sums", sumsOf(by, source, details))];
  if (details.includes("buckets")) {
    const columns = unitsOf(by, source, { details, bucket: "bucket", units: sum("units") });
    parts.push(of("units", columns, ["bucket"]));
  }
  return joinStatements(parts, UNION);
}

const IN_OWNERS = [
  perEngine({ sqlite: "owner IN (", postgres: "owner = ANY (ARRAY(" }),
  perEngine({ sqlite: ")", postgres: "))" }),
] as const;

/** Postgres looks for each element of an array in the index; of the rows of a query it would make a join with all rows of the days. */
export const ofOwners = (owners: readonly string[]): Statement => sql`${IN_OWNERS[0]}${textsIn(owners)}${IN_OWNERS[1]}`;

/** The sums of whole days of one owner. */
export const daysOf = ({ owner, from, to }: Range, asked: AskedSums): Statement =>
  sumsOfRows(asked, "days", sql`owner = ${owner} AND day >= ${from} AND day < ${to}`);

/** The sums of whole days or months of several owners; `counted` is the number of rows of each group. */
export function spanOf(span: OwnersSpan, asked: AskedSums): Statement {
  const { unit, owners, from, to, rowsMax } = span;
  const where =
    unit === "days"
      ? sql`${ofOwners(owners)} AND day >= ${from} AND day < ${to} LIMIT ${rowsMax}`
      : sql`${ofOwners(owners)} AND month >= ${from} AND month < ${to} LIMIT ${rowsMax}`;
  return sumsOfRows(withOwner(span, asked), unit, where);
}

/** The dimensions of a span, with the owner if the groups are those of one each. */
export const withOwner = ({ isByOwner }: Pick<OwnersSpan, "isByOwner">, { by, details }: AskedSums): Asked => ({
  by: isByOwner ? ["owner", ...by] : by,
  details,
});
