/** Reads LiteLLM's database, and changes nothing in it. */
import { SQL } from "bun";
import { z } from "zod";
import { otherTables, tableFields } from "../database/fields.ts";

/** A row with all columns that its version of LiteLLM has; times are texts in UTC. */
export type LitellmRow = Readonly<Record<string, unknown>>;

export interface LitellmDatabase {
  /** By table; a table that this version does not have is empty. */
  rows(table: string): readonly LitellmRow[];
  /** Further tables that have rows. */
  others: readonly string[];
}

/** The most rows of one table: a deployment of that size has no afternoon for it. */
const ROWS_MAX = 100_000;

/** Further tables whose rows are read. */
const readToo = ["LiteLLM_OrganizationMembership", "LiteLLM_BudgetWindowSpend"];

const named = z.array(z.object({ name: z.string() }));
const documents = z.array(z.object({ row: z.union([z.record(z.string(), z.unknown()), z.string()]) }));

/**
 * Reads one snapshot. Rejects with an `Error` of one line, without the URL, if the database can't be read, or is none of LiteLLM's.
 */
export async function readDatabase(url: string): Promise<LitellmDatabase> {
  const connection = new SQL({ url, max: 1, prepare: false });
  try {
    return await connection.begin("isolation level repeatable read read only", async (snapshot) => {
      const tables = named.parse(
        await snapshot.unsafe(
          "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema() AND table_name LIKE 'LiteLLM\\_%'",
        ),
      );
      const there = new Set(tables.map(({ name }) => name));
      if (!there.has("LiteLLM_VerificationToken")) throw new Error("it has no table LiteLLM_VerificationToken");
      const read = new Map<string, LitellmRow[]>();
      for (const table of [...Object.keys(tableFields), ...readToo])
        if (there.has(table)) read.set(table, await rowsOf(snapshot, table));
      const others: string[] = [];
      for (const { name } of tables)
        if (Object.hasOwn(otherTables, name) || !read.has(name)) if (await hasRows(snapshot, name)) others.push(name);
      return { rows: (table: string) => read.get(table) ?? [], others };
    });
  } catch (cause) {
    const [line = "unknown"] = (cause instanceof Error ? cause.message : String(cause)).split("\n");
    // A driver may quote the URL, which has the password.
    throw new Error(`LiteLLM's database can't be read: ${line.replaceAll(/\w+:\/\/\S+/g, "…")}`, { cause });
  } finally {
    await connection.close();
  }
}

type Snapshot = Pick<SQL, "unsafe">;

const quoted = (table: string): string => `"${table.replaceAll('"', '""')}"`;

async function rowsOf(snapshot: Snapshot, table: string): Promise<LitellmRow[]> {
  const found = documents.parse(
    await snapshot.unsafe(`SELECT to_jsonb(t) AS row FROM ${quoted(table)} t LIMIT ${ROWS_MAX + 1}`),
  );
  if (found.length > ROWS_MAX) throw new Error(`${table} has more than ${ROWS_MAX} rows`);
  return found.map(({ row }) => (typeof row === "string" ? (JSON.parse(row) as LitellmRow) : row));
}

async function hasRows(snapshot: Snapshot, table: string): Promise<boolean> {
  return named.parse(await snapshot.unsafe(`SELECT 'x' AS name FROM ${quoted(table)} LIMIT 1`)).length > 0;
}
