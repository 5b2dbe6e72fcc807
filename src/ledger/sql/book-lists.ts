import {
  column,
  perEngine,
  readerOf,
  sql,
  type SqlRunner,
  type Statement,
  type Storage,
  tableOf,
} from "../../storage/index.ts";
import type {
  BookLists,
  EntryFilter,
  EntryKind,
  EntryPage,
  EntryPeriod,
  HoldFilter,
  ListedEntry,
  ListedHold,
} from "../listed.ts";
import { LATE_MS } from "./sqlite/entries.ts";

const { text, integer, bigInteger, json, oneOf, optional } = column;

/** Entries that a page reads in all: some 15 ms on an idle machine. */
const SCANNED_MAX = 10_000;

/** Entries of one part of a period: some 2 ms. */
const PART_ENTRIES = 1_000;

/** On SQLite a period is read by the order of commits. Entries that are not late have times that differ by less than this from it. */
const TIMES_DIFFER_MS = 2 * LATE_MS;

/** Entries whose place does not tell their time: see `LATE_MS`. */
const ON_TIME = perEngine({ sqlite: `number NOT IN (SELECT number FROM late_entries)`, postgres: "TRUE" });

const budgets = optional(
  json({ parse: (value): readonly string[] => (Array.isArray(value) ? value.map(String) : []) }),
);

const entries = tableOf<ListedEntry>({
  id: text,
  kind: oneOf<EntryKind>({ settle: true, release: true, expire: true, grant: true, refund: true }),
  debitAccount: text,
  creditAccount: text,
  amount: bigInteger,
  held: bigInteger,
  shortfall: bigInteger,
  createdAt: integer,
  actor: optional(text),
  reason: optional(text),
  budgets,
});

const holds = tableOf<ListedHold>({
  id: text,
  accountId: text,
  amount: bigInteger,
  operation: text,
  provider: text,
  model: text,
  observed: optional(bigInteger),
  createdAt: integer,
  leaseUntil: integer,
  keeper: oneOf({ process: true, job: true }),
  parent: optional(text),
  budgets,
});

/** An account, those that followed it after moves, and all below them: chains have three levels, those of browsers' sessions four. */
const accountsOf = (root = ""): Statement => sql`
  WITH own AS (SELECT id FROM accounts WHERE id = ${root} OR (id > ${`${root}:`} AND id < ${`${root};`})),
    below AS (SELECT id FROM accounts WHERE parent_id IN (SELECT id FROM own)),
    tokens_below AS (SELECT id FROM accounts WHERE parent_id IN (SELECT id FROM below))
  SELECT id FROM own UNION SELECT id FROM below UNION SELECT id FROM tokens_below
    UNION SELECT id FROM accounts WHERE parent_id IN (SELECT id FROM tokens_below)`;

const isSet = (value: string | undefined): number => (value === undefined ? 0 : 1);

/** The beginning of a page: on SQLite the number of an entry, on Postgres its time and id. */
interface Cursor {
  place: number;
  id: string;
}

const cursors = tableOf<Cursor>({ place: integer, id: text });

interface TimedCursor extends Cursor {
  createdAt: number;
}

const timedCursors = tableOf<TimedCursor>({ place: integer, id: text, createdAt: integer });
const START: Cursor = { place: Number.MAX_SAFE_INTEGER, id: "" };

const PLACE = perEngine({ sqlite: "number", postgres: "created_at" });
const SORTED = sql`${PLACE} DESC, id DESC`;

/** Entries before the cursor, in their order. */
const before = ({ place, id }: Cursor): Statement => sql`(${PLACE}, id) < (${place}, ${id})`;

/** Grants and refunds have an index of their own: among all entries they are few. */
const ACTS = sql`(kind = 'grant' OR reason IS NOT NULL)`;

const COLUMNS = sql`id, CASE WHEN kind = 'settle' AND reason IS NOT NULL THEN 'refund' ELSE kind END AS kind, debit_account,
  credit_account, amount, held, shortfall, created_at, actor, reason, budgets, ${PLACE} AS place`;

const all = (
  cursor: Cursor,
  scannedMax: number,
): Statement => sql`(SELECT ${COLUMNS} FROM entries WHERE ${before(cursor)}
  ORDER BY ${SORTED} LIMIT ${scannedMax}) AS scanned`;
const acts = (
  cursor: Cursor,
  scannedMax: number,
): Statement => sql`(SELECT ${COLUMNS} FROM entries WHERE ${ACTS} AND ${before(cursor)}
  ORDER BY ${SORTED} LIMIT ${scannedMax}) AS scanned`;

const fits = ({ account, within, kind }: Pick<EntryFilter, "account" | "within" | "kind">): Statement => sql`
  (CAST(${isSet(kind)} AS bigint) = 0 OR kind = ${kind ?? ""})
  AND (CAST(${isSet(account)} AS bigint) = 0 OR debit_account IN (${accountsOf(account)}) OR credit_account IN (${accountsOf(account)}))
  AND (CAST(${isSet(within)} AS bigint) = 0 OR debit_account IN (${accountsOf(within)}) OR credit_account IN (${accountsOf(within)}))`;

const SCANNED_ORDER = sql`place DESC, id DESC`;

function selectEntries(filter: EntryFilter, cursor: Cursor, scannedMax: number): Statement {
  const { limit, kind } = filter;
  if (kind === "grant" || kind === "refund")
    return sql`SELECT ${entries.names} FROM ${acts(cursor, scannedMax)} WHERE ${fits(filter)} ORDER BY ${SCANNED_ORDER} LIMIT ${limit}`;
  return sql`SELECT ${entries.names} FROM ${all(cursor, scannedMax)} WHERE ${fits(filter)} ORDER BY ${SCANNED_ORDER} LIMIT ${limit}`;
}

/** Behind all entries. */
const END: Cursor = { place: Number.MIN_SAFE_INTEGER, id: "" };

/** The entries of a period among those before the cursor up to the last one, without the late ones. */
function selectPart(period: EntryPeriod, cursor: Cursor, last: Cursor): Statement {
  const { from, to } = period;
  return sql`SELECT ${entries.names} FROM (
      SELECT ${COLUMNS} FROM entries
      WHERE ${before(cursor)} AND (${PLACE}, id) >= (${last.place}, ${last.id}) AND ${ON_TIME}) AS scanned
    WHERE created_at >= ${from} AND created_at < ${to} AND ${fits(period)} ORDER BY ${SCANNED_ORDER}`;
}

/** The last entry that a page has read, if there may be more. */
function selectLast({ kind }: EntryFilter, cursor: Cursor, scannedMax: number): Statement {
  if (kind === "grant" || kind === "refund")
    return sql`SELECT id FROM ${acts(cursor, scannedMax)} ORDER BY ${SCANNED_ORDER} LIMIT 1 OFFSET ${scannedMax - 1}`;
  return sql`SELECT id FROM ${all(cursor, scannedMax)} ORDER BY ${SCANNED_ORDER} LIMIT 1 OFFSET ${scannedMax - 1}`;
}

class SqlBookLists implements BookLists {
  readonly #sql: SqlRunner;
  readonly #scannedMax: number;

  constructor(storage: Storage, scannedMax: number) {
    this.#sql = readerOf(storage);
    this.#scannedMax = scannedMax;
  }

  async entries(filter: EntryFilter): Promise<EntryPage> {
    const { after } = filter;
    const cursor =
      after === undefined
        ? START
        : await this.#sql.first(sql`SELECT ${PLACE} AS place, id FROM entries WHERE id = ${after}`, cursors.read);
    if (cursor === undefined) return { entries: [], scannedFrom: undefined };
    const found = await this.#sql.rows(selectEntries(filter, cursor, this.#scannedMax), entries.read);
    if (found.length === filter.limit) return { entries: found, scannedFrom: found.at(-1)?.id };
    const scannedFrom = await this.#sql.first(selectLast(filter, cursor, this.#scannedMax), (row) => String(row["id"]));
    return { entries: found, scannedFrom };
  }

  async *parts(period: EntryPeriod): AsyncIterable<readonly ListedEntry[]> {
    const isSqlite = this.#sql.engine === "sqlite";
    const isBefore = isSqlite ? period.from - TIMES_DIFFER_MS : period.from;
    const skipped = Math.min(PART_ENTRIES, this.#scannedMax) - 1;
    for (let cursor: TimedCursor | undefined = await this.#endOf(period.to); cursor !== undefined;) {
      const last: TimedCursor | undefined = await this.#sql.first(
        sql`SELECT ${timedCursors.names} FROM (SELECT ${PLACE} AS place, id, created_at FROM entries
          WHERE ${before(cursor)} AND ${ON_TIME} ORDER BY ${SORTED} LIMIT 1 OFFSET ${skipped}) AS scanned`,
        timedCursors.read,
      );
      yield await this.#sql.rows(selectPart(period, cursor, last ?? END), entries.read);
      cursor = last !== undefined && last.createdAt < isBefore ? undefined : last;
    }
    if (isSqlite) yield* this.#lateParts(period, skipped);
  }

  /** The late entries of a period, the latest first. */
  async *#lateParts(period: EntryPeriod, skipped: number): AsyncIterable<readonly ListedEntry[]> {
    const { from, to } = period;
    const start: TimedCursor = { createdAt: to, place: 0, id: "" };
    for (let cursor: TimedCursor | undefined = start; cursor !== undefined;) {
      const earlier: Statement = sql`created_at >= ${from} AND (created_at, number) < (${cursor.createdAt}, ${cursor.place})`;
      const last: TimedCursor | undefined = await this.#sql.first(
        sql`SELECT number AS place, '' AS id, created_at FROM late_entries WHERE ${earlier}
          ORDER BY created_at DESC, number DESC LIMIT 1 OFFSET ${skipped}`,
        timedCursors.read,
      );
      const { createdAt, place } = last ?? { createdAt: from, place: 0 };
      yield await this.#sql.rows(
        sql`SELECT ${entries.names} FROM (SELECT ${COLUMNS} FROM entries WHERE number IN (SELECT number FROM late_entries
            WHERE ${earlier} AND (created_at, number) >= (${createdAt}, ${place}))) AS scanned
          WHERE ${fits(period)} ORDER BY created_at DESC, place DESC`,
        entries.read,
      );
      cursor = last;
    }
  }

  /** Behind all entries of a time: later ones come before it. */
  async #endOf(to: number): Promise<TimedCursor> {
    if (this.#sql.engine !== "sqlite") return { place: to, id: "", createdAt: to };
    const newest = await this.#sql.first(
      sql`SELECT number AS place, id, created_at FROM entries
      ORDER BY number DESC LIMIT 1`,
      timedCursors.read,
    );
    let [low, end] = [0, (newest?.place ?? 0) + 1];
    while (low < end) {
      const middle = Math.floor((low + end) / 2);
      const entry = await this.#sql.first(
        sql`SELECT number AS place, id, created_at FROM entries WHERE number >= ${middle}
        ORDER BY number LIMIT 1`,
        timedCursors.read,
      );
      if (entry === undefined || entry.createdAt >= to + TIMES_DIFFER_MS) end = middle;
      else low = entry.place + 1;
    }
    return { place: end, id: "", createdAt: to };
  }

  holds({ account, within, limit, after = "" }: HoldFilter): Promise<ListedHold[]> {
    return this.#sql.rows(
      sql`SELECT ${holds.names} FROM holds WHERE id > ${after}
        AND (CAST(${isSet(account)} AS bigint) = 0 OR account_id IN (${accountsOf(account)}))
        AND (CAST(${isSet(within)} AS bigint) = 0 OR account_id IN (${accountsOf(within)}))
        ORDER BY id LIMIT ${limit}`,
      holds.read,
    );
  }
}

/** Pages of entries read `scannedMax` at most. */
export function openBookLists(storage: Storage, scannedMax: number = SCANNED_MAX): BookLists {
  return new SqlBookLists(storage, scannedMax);
}
