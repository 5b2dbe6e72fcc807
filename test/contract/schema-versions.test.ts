/** Versions of Tollgate that know different numbers of steps, on one storage: which of them starts, and which goes on. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  bothEngines,
  openDatabase,
  planMigration,
  prepareDatabase,
  type SchemaStep,
  stepsFor,
  type Storage,
} from "../../src/storage/index.ts";
import { failureOf } from "../kit/failure-of.ts";
import { engines, query, sharedPostgres } from "../kit/index.ts";

const first = bothEngines("CREATE TABLE things (id INTEGER PRIMARY KEY, note TEXT) STRICT;");
const expands: SchemaStep = { ...bothEngines("ALTER TABLE things ADD COLUMN title TEXT;"), oldest: first };
/** Nobody reads the old column any more: versions that know the new one go on. */
const removes: SchemaStep = { ...bothEngines("ALTER TABLE things DROP COLUMN note;"), oldest: expands };

const asOf = (...steps: SchemaStep[]) => ({ steps, beforeSqlite: () => undefined });
const one = asOf(first);
const two = asOf(first, expands);
const three = asOf(first, expands, removes);
const strict = asOf(first, { ...expands, oldest: undefined } as unknown as SchemaStep);

const zone = { sqlite: () => "UTC", postgres: () => Promise.resolve("UTC") };
const nothing = { sqlite: () => undefined, postgres: () => Promise.resolve() };

const postgres = sharedPostgres();
let folder: string;
let url: string;
let opened: Storage[];

const open = async (schema: typeof one): Promise<Storage> => {
  const storage = await openDatabase(url, { schema, prepare: zone });
  opened.push(storage);
  return storage;
};
const planOf = async (schema: typeof one) => {
  const [plan] = await planMigration(url, schema, () => []);
  return plan && { now: plan.now, after: plan.after, missing: plan.missing.length };
};
const tooNew = (version: number, known: number): string =>
  `storage: its schema is version ${version}, this Tollgate knows ${known}; use a newer Tollgate`;

describe.each(engines)("on %s,", (engine) => {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-versions-"));
    opened = [];
    url = engine === "Postgres" ? await postgres.createEmptyDatabase() : `sqlite:${join(folder, "t.db")}`;
  });
  afterEach(async () => {
    for (const storage of opened) await storage.close();
    rmSync(folder, { recursive: true });
  });

  test("a step that only adds lets the version before it go on and start again; the one that removes does not", async () => {
    const running = await open(one);
    await open(two);
    if (running.engine === "sqlite") running.requireUsable();
    await open(one);
    await prepareDatabase(url, one, nothing);
    await open(three);
    expect(await failureOf(open(one))).toHaveProperty("message", tooNew(3, 1));
    if (running.engine === "sqlite") expect(() => running.requireUsable()).toThrow(tooNew(3, 1));
    await open(two);
    await open(three);
  });

  test("a step that says nothing is for versions that know it", async () => {
    await open(strict);
    expect(await failureOf(open(one))).toHaveProperty("message", tooNew(2, 1));
    expect(await failureOf(planMigration(url, one, () => []))).toHaveProperty("message", tooNew(2, 1));
  });

  test("a plan shows the changes of a start, and makes none", async () => {
    expect(await planOf(two)).toEqual({ now: { version: 0, oldest: 0 }, after: { version: 2, oldest: 1 }, missing: 2 });
    await open(one);
    expect(await planOf(two)).toEqual({ now: { version: 1, oldest: 1 }, after: { version: 2, oldest: 1 }, missing: 1 });
    expect(await planOf(three)).toMatchObject({ after: { version: 3, oldest: 2 }, missing: 2 });
    await open(two);
    const now = { version: 2, oldest: 1 };
    expect(await planOf(two)).toEqual({ now, after: now, missing: 0 });
    // It may work on the schema of a newer version.
    expect(await planOf(one)).toEqual({ now, after: now, missing: 0 });
  });

  test("a schema of a version that noted no oldest one is for those that know all of it", async () => {
    const storage = await open(two);
    const isSqlite = engine !== "Postgres";
    await query(storage, isSqlite ? "DROP TABLE tollgate_schema" : "ALTER TABLE tollgate_schema DROP COLUMN oldest");
    expect(await failureOf(open(one))).toHaveProperty("message", tooNew(2, 1));
    await open(two);
    expect(await planOf(three)).toMatchObject({ now: { version: 2, oldest: 2 }, missing: 1 });
    await open(three);
    expect(await planOf(three)).toMatchObject({ now: { version: 3, oldest: 2 } });
  });
});

test("a step names the oldest one by itself, so that each engine counts its own", () => {
  const onlyPostgres = { postgres: "SELECT 1" };
  const steps = [first, onlyPostgres, { ...expands, oldest: onlyPostgres }];
  expect(stepsFor("postgres", steps).map(({ oldest }) => oldest)).toEqual([1, 2, 2]);
  expect(stepsFor("sqlite", steps).map(({ oldest }) => oldest)).toEqual([1, 1]);
  expect(() => stepsFor("sqlite", [first, removes])).toThrow("none of the schema");
});
