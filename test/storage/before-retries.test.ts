/**
 * The migration of crawls that were made by the version before their retry keys (`__fixtures__/sqlite-step-17.sql`,
 * `postgres-step-15.sql`): a crawl in mid-run goes on, and nodes of that version take pages beside the new ones.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { renameSync } from "node:fs";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { openWebStores, parseQuery, type WebStores } from "../../src/web/index.ts";
import { engines, query, queryWeb } from "../kit/index.ts";
import { earlierVersion } from "./dumps.ts";

/** When that version wrote the crawl; its leases end a second later. */
const T0 = 2 ** 42;
const lapsed = T0 + 2_000;
const politeness = { connectionsMax: 9, intervalMs: 0 };

let storage: Storage;
let crawls: WebStores["crawls"];

const pathOf = (url: string): string => url.slice("sqlite:".length);

const copyFor = earlierVersion({ sqlite: "sqlite-step-17.sql", postgres: "postgres-step-15.sql" });

describe.each(engines)("crawls of the previous version, on %s,", (engine) => {
  beforeEach(async () => {
    storage = await openStorage(await copyFor(engine));
    ({ crawls } = openWebStores(storage));
  });
  afterEach(() => storage.close());

  test("have their state, results and notes", async () => {
    const counts = { discovered: 5, completed: 1, failed: 0, skipped: 0, credits: 5n };
    expect(await crawls.find("c1")).toMatchObject({ state: "scraping", ...counts });
    const results = await crawls.results("c1", { from: 0, countMax: 9, bytesMax: 1_000 });
    expect(results.map(({ content }) => Buffer.from(content).toString())).toEqual(["content"]);
    expect(await crawls.notes("c1")).toMatchObject([{ code: "CALENDAR", count: 1 }]);
  });

  test("go on: what was fetched is charged, what was running or waits is read, each once", async () => {
    const lease = { token: "new", until: lapsed + 1_000 };
    const taken = await crawls.take({ lease, at: lapsed, pagesMax: 9, politeness });
    expect(taken.map(({ number, work }) => [number, work]).toSorted(([a], [b]) => Number(a) - Number(b))).toEqual([
      [1, { id: "w1" }],
      [2, undefined],
      [3, undefined],
      [4, undefined],
    ]);
    for (const page of taken) expect(await crawls.end(page, { state: "done", credits: 1n }, lapsed)).toBe(true);
    expect(await crawls.exhausted(T0)).toMatchObject([{ id: "c1", completed: 5, credits: 9n }]);
  });

  test("of a kind that only a newer version knows are left to that", async () => {
    const jobs = async () => [
      await crawls.active("ann"),
      await crawls.list({ limit: 9 }),
      await crawls.overdue(2 ** 50),
      await crawls.oversized(-1),
    ];
    const lease = { token: "old", until: lapsed + 1_000 };
    const take = () => crawls.take({ lease, at: lapsed, pagesMax: 9, politeness });
    const before = await crawls.find("c1");
    if (before === undefined) throw new Error("the crawl is gone");
    await queryWeb(storage, "UPDATE crawls SET kind = 'newer'");
    expect([await crawls.find("c1"), await take(), ...(await jobs())]).toEqual([undefined, [], [], [], [], []]);
    // Nothing of it was touched.
    await queryWeb(storage, `UPDATE crawls SET kind = '${before.kind}'`);
    expect(await crawls.find("c1")).toEqual(before);
    expect(await take()).toHaveLength(4);
  });

  test("are beside new ones, each of which is stored once", async () => {
    const first = await crawls.find("c1");
    if (first === undefined) throw new Error("the crawl is gone");
    expect(await crawls.insert({ ...first, id: "c2" }, 9)).toBe(true);
    expect(await crawls.insert({ ...first, id: "c2" }, 9)).toBe(false);
    expect(await crawls.find("c2")).toMatchObject({ id: "c2", discovered: 0 });
  });
});

test("the local search on Postgres finds the pages of that version, by all its filters", async () => {
  storage = await openStorage(await copyFor("Postgres"));
  const { textIndex } = openWebStores(storage);
  for (const text of ["tide", "tide intitle:harbour", "tide site:a.test", "tide site:test"]) {
    const found = await textIndex.search({ owner: "ann", query: parseQuery(text), limit: 9, at: lapsed });
    expect(found.map(({ url }) => url)).toEqual(["http://a.test/0"]);
  }
  await storage.close();
});

test("the local search on SQLite starts empty, and the storage's file keeps no table of the web", async () => {
  const url = await copyFor("SQLite");
  storage = await openStorage(url);
  const { textIndex } = openWebStores(storage);
  const search = { owner: "ann", query: parseQuery("tide"), limit: 9, at: lapsed };
  expect(await textIndex.search(search)).toEqual([]);
  const tables = await query(storage, "SELECT name FROM sqlite_master WHERE name LIKE 'crawl%' OR name LIKE 'web%'");
  expect(tables).toEqual([]);
  await storage.close();
});

test("a move to the file of the web that was interrupted is repeated", async () => {
  const [first, second] = [await copyFor("SQLite"), await copyFor("SQLite")];
  await (await openStorage(first)).close();
  // The machine stopped when the tables had been copied, and not yet removed.
  renameSync(`${pathOf(first)}-web`, `${pathOf(second)}-web`);
  storage = await openStorage(second);
  const { crawls: moved } = openWebStores(storage);
  expect(await moved.find("c1")).toMatchObject({ discovered: 5, completed: 1 });
  expect(await queryWeb(storage, "SELECT count(*) AS count FROM crawl_pages")).toEqual([{ count: 5n }]);
  await storage.close();
});

test("nodes of the previous version that still run on Postgres take pages with the new function", async () => {
  storage = await openStorage(await copyFor("Postgres"));
  if (storage.engine !== "postgres") throw new Error("this is no Postgres");
  const taken = await storage.statements.run<{ number: bigint }>(
    "SELECT number FROM crawl_take($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    ["old", lapsed + 1_000, lapsed, 9, 9, 0, 3, 200, 1_000, 36],
  );
  expect(new Set(taken.map(({ number }) => number))).toEqual(new Set([1n, 2n, 3n, 4n]));
  await storage.close();
});
