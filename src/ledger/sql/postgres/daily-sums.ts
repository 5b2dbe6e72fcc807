import { SEALED_TABLES } from "../sealed-tables.ts";
import { SUM_DRIFTS_MAX, SUMS_LEFT } from "../books/sum-drifts.ts";
import {
  callSums,
  columnBuckets,
  firstTokenColumns,
  firstTokenValues,
  sumColumns,
  unitColumns,
  unknownBuckets,
  WITHOUT_ROWS,
} from "../sums/sum-columns.ts";

/** A table of sums: the columns that identify a row, and those that are summed, with their expressions of calls. */
interface Shape {
  table: string;
  key: Readonly<Record<string, string>>;
  sums: Readonly<Record<string, string>>;
  /** The rows of calls with all columns of the expressions; by default their table itself. */
  rowsOf?: (calls: string) => string;
}

const DAY = "ledger_day(g.started_at)";

/** As of the seventh step. */
const before: Shape = {
  table: "daily_sums",
  key: { owner: "g.owner", day: DAY, account_id: "g.account_id", provider: "g.provider", model: "g.model" },
  sums: {
    requests: "count(*)",
    input_tokens: "sum(g.input_tokens)",
    output_tokens: "sum(g.output_tokens)",
    credits: "sum(g.credits)",
  },
};

/** As of the forty-seventh step. */
const withOperations: Shape = {
  table: "daily_sums",
  key: { ...before.key, operation: "g.operation" },
  sums: {
    ...before.sums,
    failures: "count(*) FILTER (WHERE g.outcome <> 'complete' AND g.outcome <> 'abandoned')",
    list_credits: "sum(coalesce(g.list_credits, 0))",
  },
};

/** As of the step of tags. */
const withTags: Shape = { ...withOperations, key: { ...withOperations.key, tags: "coalesce(g.tags, '')" } };

/** The first day of the month of a day, both in days since 1970-01-01. */
export const postgresMonthOf = (day: string): string =>
  `(date_trunc('month', (date '1970-01-01' + (${day})::int)::timestamp)::date - date '1970-01-01')::bigint`;

/** Months in place of days. */
const byMonth = (shape: Shape, table: string): Shape => ({
  ...shape,
  table,
  key: Object.fromEntries(
    Object.entries(shape.key).map(([name, value]) =>
      name === "day" ? ["month", postgresMonthOf(value)] : [name, value],
    ),
  ),
});

const monthsWithTags = byMonth(withTags, "monthly_sums");

const quoted = (names: readonly string[], type: string): string => names.map((name) => `"${name}" ${type}`).join(", ");

/** Calls with the columns of units. */
const withUnits = (calls: string): string =>
  `(SELECT c.*, ${columnBuckets.map((bucket, index) => `u."${bucket}" AS ${unitColumns[index]}`).join(", ")}
    FROM ${calls} c CROSS JOIN LATERAL json_to_record(c.usage::json) AS u (${quoted(columnBuckets, "numeric")}))`;

/** Units of calls in buckets without a column, a row each. */
const eachUnit = (calls: string): string =>
  `(SELECT c.*, u.key COLLATE "C" AS bucket, u.value::numeric AS units
    FROM ${calls} c CROSS JOIN LATERAL json_each_text(c.usage::json) u
    WHERE u.key <> ALL ('{${WITHOUT_ROWS.join(",")}}') AND u.value ~ '^[1-9][0-9]{0,17}$')`;

/** Whether a call may have such units: most have none. */
const HAS_UNITS = `"(?!(${WITHOUT_ROWS.join("|")})")[^"]+":[1-9]`;

const present: Shape = {
  ...withTags,
  sums: {
    ...withTags.sums,
    ...Object.fromEntries(unitColumns.map((name) => [name, `coalesce(sum(g.${name}), 0)`])),
    ...Object.fromEntries(
      firstTokenColumns.map((name, index) => [name, `coalesce(sum(${firstTokenValues[index]}), 0)`]),
    ),
  },
  rowsOf: withUnits,
};

const units: Shape = {
  table: "daily_units",
  key: { ...withTags.key, bucket: "g.bucket" },
  sums: { units: "sum(g.units)" },
  rowsOf: eachUnit,
};

const months = byMonth(present, "monthly_sums");
const unitsOfMonths = byMonth(units, "monthly_units");

/** The calls of `source`, summed by the key of a table of sums, in the order in which all transactions lock its rows. */
function summed({ key, sums, rowsOf = (calls) => calls }: Shape, source: string, sign: "" | "-"): string {
  const places = Object.keys(key).map((_name, index) => index + 1);
  const values = Object.entries(key).map(([name, value]) => (value === `g.${name}` ? value : `${value} AS ${name}`));
  const amounts = Object.entries(sums).map(([name, sum]) =>
    sum.startsWith("count") ? `${sign}${sum} AS ${name}` : `(${sign}${sum})::bigint AS ${name}`,
  );
  const order = places.join(", ");
  return `SELECT ${[...values, ...amounts].join(", ")} FROM ${rowsOf(source)} g GROUP BY ${order} ORDER BY ${order}`;
}

function add({ key, sums }: Shape): string {
  const added = Object.keys(sums).map((name) => `${name} = s.${name} + excluded.${name}`);
  return `ON CONFLICT (${Object.keys(key).join(", ")}) DO UPDATE SET ${added.join(", ")}`;
}

/** Adds the calls of a table to the sums; with a minus, subtracts them. */
function count(shape: Shape, source: string, sign: "" | "-" = ""): string {
  const columns = [...Object.keys(shape.key), ...Object.keys(shape.sums)].join(", ");
  return `INSERT INTO ${shape.table} AS s (${columns}) ${summed(shape, source, sign)} ${add(shape)}`;
}

/** Of removed calls these are known for themselves too. */
const countedOnceMore: ReadonlySet<string> = new Set(callSums);

/** The same for calls that are about to be removed: they are counted a second time, and once more as removed. */
function countRemoved(shape: Shape, source: string): string {
  const sums = Object.keys(shape.sums);
  const names = sums.filter((name) => countedOnceMore.has(name));
  const columns = [...Object.keys(shape.key), ...sums, ...names.map((name) => `removed_${name}`)].join(", ");
  const values = names.map((name) => `n.${name}`).join(", ");
  const removed = names.map((name) => `removed_${name} = s.removed_${name} + excluded.${name}`).join(", ");
  return `INSERT INTO ${shape.table} AS s (${columns})
    SELECT n.*, ${values} FROM (${summed(shape, source, "")}) n
    ${add(shape)}, ${removed}`;
}

const REMOVED = "(SELECT * FROM generations WHERE id = ANY (ids))";

/** Counts calls that are about to be removed, by the columns of four versions. */
export const COUNT_REMOVED = {
  before: countRemoved(before, REMOVED),
  withOperations: countRemoved(withOperations, REMOVED),
  withTags: `${countRemoved(withTags, REMOVED)}; ${count(monthsWithTags, REMOVED)}`,
  present: `${countRemoved(present, REMOVED)}; ${[months, units, unitsOfMonths].map((shape) => count(shape, REMOVED)).join("; ")}`,
};

/** Counts every call again by the days of the present zone. */
export const RECOUNT = [
  "TRUNCATE daily_sums, monthly_sums, daily_units, monthly_units",
  ...[present, months, units, unitsOfMonths].map((shape) => count(shape, "generations")),
];

/**
 * The seventh step of Postgres. It begins with the table that a commit locks first, so that none is under
 * way: every record is then counted either here or by the triggers.
 */
export const DAILY_SUMS = `
  LOCK TABLE accounts, holds, entries, generations IN ACCESS EXCLUSIVE MODE;

  CREATE TABLE ledger_state (
    timezone          text NOT NULL,
    closed_before     bigint NOT NULL DEFAULT 0,
    sealed_before     bigint NOT NULL DEFAULT 0,
    sealed_entries    bigint NOT NULL DEFAULT 0,
    sealed_shortfall  bigint NOT NULL DEFAULT 0,
    removed_before    bigint NOT NULL DEFAULT 0,
    CHECK (removed_before <= sealed_before AND sealed_before <= closed_before)
  );
  INSERT INTO ledger_state (timezone) VALUES ('UTC');

  ${SEALED_TABLES.postgres}
  ALTER TABLE daily_sums SET (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

  ALTER TABLE entries ADD COLUMN corrects_at bigint, ADD COLUMN corrects_shortfall bigint;
  ALTER TABLE entries DISABLE TRIGGER USER;
  UPDATE entries l SET corrects_at = e.created_at, corrects_shortfall = e.shortfall
    FROM entries e WHERE l.id LIKE '%:late' AND e.id = left(l.id, -5) AND e.kind = 'expire';
  ALTER TABLE entries ENABLE TRIGGER USER;
  DROP TRIGGER entries_are_only_appended ON entries;
  CREATE TRIGGER entries_are_only_appended BEFORE UPDATE OR TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  CREATE FUNCTION refuse_removal() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF OLD.created_at >= (SELECT s.removed_before FROM ledger_state s) THEN
      RAISE EXCEPTION '% are only appended', TG_TABLE_NAME;
    END IF;
    RETURN OLD;
  END $$;
  CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries FOR EACH ROW EXECUTE FUNCTION refuse_removal();

  -- Small indexes of the pages by their dates, for readers of the latest rows.
  CREATE INDEX entries_by_date ON entries USING brin (created_at) WITH (pages_per_range = 32);
  CREATE INDEX generations_by_date ON generations USING brin (started_at) WITH (pages_per_range = 32);

  WITH RECURSIVE
    links (leaf, id) AS (
      SELECT id, id FROM accounts UNION ALL SELECT l.leaf, a.parent_id FROM links l JOIN accounts a ON a.id = l.id
      WHERE a.parent_id IS NOT NULL),
    charges (account_id, amount, at, corrects_at) AS (
      SELECT CASE debit_account WHEN 'revenue' THEN credit_account ELSE debit_account END,
        CASE debit_account WHEN 'revenue' THEN -amount ELSE amount END, created_at,
        CASE debit_account WHEN 'revenue' THEN coalesce(corrects_at, 0) ELSE created_at END
      FROM entries
      WHERE kind <> 'grant' AND created_at >= (SELECT min(period_start) FROM accounts WHERE period_start > 0)),
    spent (id, amount) AS (
      SELECT l.id, sum(c.amount)::bigint FROM charges c JOIN links l ON l.leaf = c.account_id JOIN accounts a ON a.id = l.id
      WHERE a.period_start > 0 AND c.at >= a.period_start AND c.corrects_at >= a.period_start GROUP BY l.id)
  UPDATE accounts a SET period_debits = coalesce((SELECT s.amount FROM spent s WHERE s.id = a.id), 0)
  WHERE a.period_start > 0;
  UPDATE accounts SET period_debits = debits_posted WHERE period_start = 0;

  CREATE FUNCTION ledger_day(at bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT at / 86400000 $$;
`;

/** The functions of the triggers; `rare` are the shapes of units that most calls do not have. */
function counting(
  shapes: readonly Shape[],
  create: "CREATE" | "CREATE OR REPLACE",
  rare: readonly Shape[] = [],
): string {
  const all = (some: readonly Shape[], source: string, sign: "" | "-"): string =>
    some.map((shape) => `${count(shape, source, sign)};`).join("\n    ");
  const bodyOf = (source: string, sign: "" | "-"): string => `BEGIN
    ${all(shapes, source, sign)}
    ${rare.length === 0 ? "" : `IF EXISTS (SELECT FROM ${source} g WHERE g.usage ~ '${HAS_UNITS}') THEN ${all(rare, source, sign)} END IF;`}
    RETURN NULL;
  END`;
  return `${create} FUNCTION count_generations() RETURNS trigger LANGUAGE plpgsql AS $$
  ${bodyOf("added", "")} $$;
  ${create} FUNCTION uncount_generations() RETURNS trigger LANGUAGE plpgsql AS $$
  ${bodyOf("gone", "-")} $$;`;
}

/**
 * The end of the seventh step. Whatever adds, changes or deletes records counts them in the same transaction: new nodes,
 * nodes of the previous version, and the functions that either had begun to run before the migration.
 */
export const DAILY_SUMS_COUNTED = `
  ${count(before, "generations")};

  ${counting([before], "CREATE")}
  CREATE TRIGGER generations_are_counted AFTER INSERT ON generations REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_generations();
  CREATE TRIGGER changes_are_counted AFTER UPDATE ON generations REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_generations();
  CREATE TRIGGER changes_are_uncounted AFTER UPDATE ON generations REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION uncount_generations();
  CREATE TRIGGER deletions_are_uncounted AFTER DELETE ON generations REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION uncount_generations();
`;

/**
 * The forty-seventh step: sums know the operation, failures and list prices. It begins like the seventh. All calls are counted again; the
 * removed ones, of which only the sums are left, have no known operation.
 */
export const CALL_SUMS = `
  LOCK TABLE accounts, holds, entries, generations IN ACCESS EXCLUSIVE MODE;
  ALTER TABLE daily_sums
    ADD COLUMN operation text COLLATE "C" NOT NULL DEFAULT 'unknown',
    ADD COLUMN failures bigint NOT NULL DEFAULT 0,
    ADD COLUMN list_credits bigint NOT NULL DEFAULT 0,
    ADD COLUMN removed_failures bigint NOT NULL DEFAULT 0,
    ADD COLUMN removed_list_credits bigint NOT NULL DEFAULT 0;
  ALTER TABLE daily_sums ALTER COLUMN operation DROP DEFAULT, DROP CONSTRAINT daily_sums_pkey;
  DELETE FROM daily_sums WHERE removed_requests = 0;
  UPDATE daily_sums SET requests = removed_requests, input_tokens = removed_input_tokens, output_tokens = removed_output_tokens,
    credits = removed_credits;
  ALTER TABLE daily_sums ADD PRIMARY KEY (${Object.keys(withOperations.key).join(", ")});
  ${count(withOperations, "generations")};
  ${counting([withOperations], "CREATE OR REPLACE")}
`;

/**
 * The step since which sums know the tags of calls, and those of a month stand beside those of its days. It begins like the seventh. No
 * version before it has written tags.
 */
export const TAG_SUMS = `
  LOCK TABLE accounts, holds, entries, generations IN ACCESS EXCLUSIVE MODE;
  ALTER TABLE daily_sums ADD COLUMN tags text COLLATE "C" NOT NULL DEFAULT '';
  ALTER TABLE daily_sums ALTER COLUMN tags DROP DEFAULT, DROP CONSTRAINT daily_sums_pkey;
  ALTER TABLE daily_sums ADD PRIMARY KEY (${Object.keys(withTags.key).join(", ")});
  CREATE TABLE monthly_sums (
    owner          text COLLATE "C" NOT NULL,
    month          bigint NOT NULL, -- its first day, in days since 1970-01-01
    account_id     text COLLATE "C" NOT NULL,
    provider       text COLLATE "C" NOT NULL,
    model          text COLLATE "C" NOT NULL,
    operation      text COLLATE "C" NOT NULL,
    tags           text COLLATE "C" NOT NULL,
    ${Object.keys(monthsWithTags.sums)
      .map((name) => `${name} bigint NOT NULL`)
      .join(", ")},
    PRIMARY KEY (${Object.keys(monthsWithTags.key).join(", ")})
  ) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
  INSERT INTO monthly_sums (month, owner, account_id, provider, model, operation, tags, ${Object.keys(monthsWithTags.sums).join(", ")})
    SELECT ${postgresMonthOf("d.day")}, owner, account_id, provider, model, operation, tags,
      ${Object.keys(monthsWithTags.sums)
        .map((name) => `sum(${name})::bigint`)
        .join(", ")}
    FROM daily_sums d GROUP BY 1, 2, 3, 4, 5, 6, 7;
  ${counting([withTags, monthsWithTags], "CREATE OR REPLACE")}
`;

/**
 * The statements that compare the sums of days with the calls that they must contain, by conditions for the days and for the calls. The sums
 * are arrays in the order of `sumColumns`, null where there are none.
 */
export function comparisons(days: string, calls: string): { sums: string; units: string } {
  const from = ({ table, key, sums, ...shape }: Shape, recorded: string, recomputed: string): string => {
    const names = Object.keys(key);
    const bytewise = names.map((name) => (name === "day" ? name : `${name} COLLATE "C" AS ${name}`));
    const counted = summed({ table, key, sums, ...shape }, `(SELECT * FROM generations WHERE ${calls})`, "");
    return `FROM (SELECT ${names.join(", ")}, ${recorded} AS sums FROM ${table} WHERE ${days}) s
      FULL JOIN (SELECT ${bytewise.join(", ")}, ${recomputed} AS sums FROM (${counted}) n) g USING (${names.join(", ")})`;
  };
  const [keys, nothing] = [Object.keys(present.key).join(", "), `'{${sumColumns.map(() => 0).join(",")}}'`];
  return {
    sums: `SELECT ${keys}, s.sums AS recorded, g.sums AS recomputed
      ${from(present, `ARRAY[${SUMS_LEFT.join(", ")}]`, `ARRAY[${sumColumns.join(", ")}]`)}
      WHERE coalesce(s.sums, ${nothing}) <> coalesce(g.sums, ${nothing}) LIMIT ${SUM_DRIFTS_MAX}`,
    units: `SELECT ${keys}, bucket, coalesce(s.sums, 0) AS recorded, coalesce(g.sums, 0) AS recomputed
      ${from(units, "units", "units")}
      WHERE coalesce(s.sums, 0) <> coalesce(g.sums, 0) LIMIT ${SUM_DRIFTS_MAX}`,
  };
}

const newColumns: readonly string[] = [...unitColumns, ...firstTokenColumns];

const addColumns = ({ table }: Shape): string =>
  `ALTER TABLE ${table} ${newColumns.map((name) => `ADD COLUMN ${name} bigint NOT NULL DEFAULT 0`).join(", ")};`;

const tableOfUnits = ({ table, key }: Shape): string => `
  CREATE TABLE ${table} (
    ${Object.keys(key)
      .map((name) => (name === "day" || name === "month" ? `${name} bigint` : `${name} text COLLATE "C"`))
      .join(" NOT NULL, ")} NOT NULL,
    units bigint NOT NULL,
    PRIMARY KEY (${Object.keys(key).join(", ")})
  ) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);`;

/** The shape without what the sums have already. */
function onlyNew({ sums, ...shape }: Shape): Shape {
  const amounts = Object.entries(sums).map(([name, sum]) => [name, newColumns.includes(name) ? sum : "0"]);
  return { ...shape, sums: Object.fromEntries(amounts) as Shape["sums"] };
}

/** Tokens of removed calls as units of an unknown bucket; `day` is an expression for the day or month of a row. */
const unknownUnits = ({ table, key }: Shape, day: string, side: keyof typeof unknownBuckets): string => `
  INSERT INTO ${table} (${Object.keys(key).join(", ")}, units)
    SELECT ${Object.keys(key)
      .map((name) => ({ day, month: day, bucket: `'${unknownBuckets[side]}'` })[name] ?? name)
      .join(", ")}, sum(removed_${side}_tokens)::bigint
    FROM daily_sums WHERE removed_${side}_tokens > 0 GROUP BY ${Object.keys(key)
      .map((_name, index) => index + 1)
      .join(", ")};`;

/**
 * The step since which sums know the units of calls by bucket, and the times to their first token. It begins like the seventh. Of calls
 * that were removed, the buckets of their tokens are unknown.
 */
export const UNIT_SUMS = `
  LOCK TABLE accounts, holds, entries, generations IN ACCESS EXCLUSIVE MODE;
  ${[present, months].map(addColumns).join("\n  ")}
  ${[units, unitsOfMonths].map(tableOfUnits).join("")}
  ${[onlyNew(present), onlyNew(months), units, unitsOfMonths].map((shape) => `${count(shape, "generations")};`).join("\n  ")}
  ${(["input", "output"] as const)
    .flatMap((side) => [unknownUnits(units, "day", side), unknownUnits(unitsOfMonths, postgresMonthOf("day"), side)])
    .join("")}
  ${counting([present, months], "CREATE OR REPLACE", [units, unitsOfMonths])}
`;
