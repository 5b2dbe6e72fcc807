/** A database that LiteLLM's own migrations have made. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { findPython } from "../kit/python.ts";

/** The folder with the migrations, or the reason why there is none. */
export async function findMigrations(): Promise<{ folder: string } | { missing: string }> {
  const found = await findPython("test/litellm/requirements.txt");
  if ("missing" in found) return found;
  const code = "import importlib.util as u; print(u.find_spec('litellm_proxy_extras').submodule_search_locations[0])";
  const child = Bun.spawn([found.python, "-c", code], { stdout: "pipe", stderr: "inherit" });
  const folder = (await child.stdout.text()).trim();
  if ((await child.exited) !== 0) throw new Error("the package litellm-proxy-extras has no folder");
  return { folder: join(folder, "migrations") };
}

/** Runs all migrations, each as psql would. */
export async function migrate(connection: SQL, folder: string): Promise<number> {
  const steps = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
  for (const step of steps) await connection.unsafe(readFileSync(join(folder, step, "migration.sql"), "utf8")).simple();
  return steps.length;
}

/** Inserts a row, as far as its table has the columns; arrays and objects as LiteLLM stores them. */
export async function insert(connection: SQL, table: string, row: Record<string, unknown>): Promise<void> {
  const known = (await connection.unsafe("SELECT column_name FROM information_schema.columns WHERE table_name = $1", [
    table,
  ])) as { column_name: string }[];
  const columns = known.flatMap(({ column_name: name }) => (name in row ? [`"${name}"`] : []));
  // `jsonb_populate_record` gives each value the type of its column.
  await connection.unsafe(
    `INSERT INTO "${table}" (${columns.join(", ")}) SELECT ${columns.join(", ")} FROM jsonb_populate_record(NULL::"${table}", $1::text::jsonb)`,
    [JSON.stringify(row)],
  );
}
