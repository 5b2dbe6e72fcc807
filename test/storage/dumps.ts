/** Databases as an earlier version left them, from dumps in `__fixtures__/`: copies of their own, on a server and in a folder for all. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll } from "bun:test";
import { SQL } from "bun";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Engine, type PostgresServer, startPostgres } from "../kit/index.ts";

/** The names of its dumps. */
interface Dumps {
  sqlite: string;
  postgres: string;
}

/** For the tests of a file. Returns what copies the dump of an engine and resolves with the URL of the storage. */
export function earlierVersion(dumps: Dumps): (engine: Engine) => Promise<string> {
  let folder: string;
  let server: PostgresServer;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-dumps-"));
    server = await startPostgres();
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await server.stop();
  });
  return (engine) => (engine === "Postgres" ? onPostgres(server, dumps.postgres) : onSqlite(folder, dumps.sqlite));
}

async function onPostgres(server: PostgresServer, dump: string): Promise<string> {
  const url = await server.createEmptyDatabase();
  const admin = new SQL(url, { max: 1 });
  await admin.unsafe(await textOf(dump));
  await admin.close();
  return url;
}

async function onSqlite(folder: string, dump: string): Promise<string> {
  const path = join(folder, `${crypto.randomUUID()}.db`);
  const file = new Database(path, { strict: true });
  file.run(await textOf(dump));
  file.close();
  return `sqlite:${path}`;
}

function textOf(dump: string): Promise<string> {
  return Bun.file(new URL(`__fixtures__/${dump}`, import.meta.url)).text();
}
