/** The addresses that are added to a batch later, on either engine. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type NewPage, openWebStores } from "../../src/web/index.ts";
import { type PostgresServer, startPostgres } from "../kit/index.ts";
import { openStorage } from "../kit/storage.ts";

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

const T0 = 2 ** 42;
const MANY = 1_000_000;

const page = (path: string): NewPage => ({
  kind: "page",
  key: path,
  url: `http://a.test${path}`,
  host: "a.test",
  depth: 0,
});

test.each([
  ["SQLite", () => Promise.resolve("sqlite::memory:")],
  ["Postgres", () => postgres.createDatabase()],
] as const)(
  "a batch gets further addresses while it runs and after, and does not end before those: %s",
  async (_, url) => {
    const storage = await openStorage(await url());
    const store = openWebStores(storage).crawls;
    const insert = async (id: string, kind: "batch" | "crawl"): Promise<void> => {
      const bounds = { pagesMax: 1, concurrencyMax: MANY, delayMs: 0, createdAt: T0, expiresAt: T0 + 7 };
      await store.insert({ id, kind, owner: "alice", caller: {}, request: {}, ...bounds }, MANY);
      await store.add(id, [page("/0")], T0, MANY);
    };
    const readAll = async (): Promise<void> => {
      const politeness = { connectionsMax: MANY, intervalMs: 0 };
      for (const each of await store.take({ lease: { token: "t", until: T0 + 9 }, at: T0, pagesMax: 9, politeness })) {
        await store.fetched(each, { content: Buffer.from("page"), work: {}, digest: undefined });
        await store.end(each, { state: "done", credits: 1n }, T0);
      }
    };
    const completed = { state: "completed", at: T0, expiresAt: T0 + 5 } as const;
    const room = { pagesMax: 100, activeMax: 1, expiresAt: T0 + 9 };

    await insert("b1", "batch");
    await readAll();
    expect(await store.extend("b1", room)).toBe(true);
    expect(await store.add("b1", [page("/more"), page("/0")], T0, MANY)).toEqual({ added: 1, isFull: false });
    expect(await store.finish("b1", completed)).toBe(false);
    await readAll();
    expect(await store.finish("b1", completed)).toBe(true);

    await insert("c1", "crawl");
    await readAll();
    expect(await store.extend("b1", room)).toBe(false);
    expect(await store.extend("b1", { ...room, activeMax: 2 })).toBe(true);
    await store.add("b1", [page("/last")], T0, MANY);
    await readAll();
    expect(await store.find("b1")).toMatchObject({ state: "scraping", completed: 3, expiresAt: T0 + 9 });
    expect((await store.find("b1"))?.endedAt).toBeUndefined();
    const results = await store.results("b1", { from: 0, countMax: 9, bytesMax: MANY });
    expect(results.map(({ position }) => position)).toEqual([0, 1, 2]);
    await store.finish("b1", { ...completed, state: "cancelled" });
    for (const id of ["b1", "c1", "none"]) expect(await store.extend(id, { ...room, activeMax: 9 })).toBe(false);
    await storage.close();
  },
);
