import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { getPriority, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { GatewayError, limits } from "../../core/index.ts";
import type { SqliteStorage } from "../../storage/index.ts";
import { openStorage } from "../../../test/kit/storage.ts";
import { parseQuery } from "../search/query.ts";
import type { StoredBytes } from "../stored-bytes/index.ts";
import { webPlace } from "../sql/web-database.ts";
import { openWebStores, type WebStores } from "./web-stores.ts";

let folder: string;
let storage: SqliteStorage;
let stores: WebStores;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-web-stores-"));
  storage = await openStorage(`sqlite:${join(folder, "t.db")}`);
  stores = openWebStores(storage);
});
afterEach(async () => {
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

const bytes = (id: string, length = 1): StoredBytes => ({
  kind: "page",
  id,
  owner: "alice",
  mediaType: "text/plain",
  content: new Uint8Array(length).fill(7),
  storedAt: 1,
  keptUntil: 9,
});

const take = () =>
  stores.crawls.take({
    lease: { token: "t", until: 9 },
    at: 1,
    pagesMax: 9,
    politeness: { connectionsMax: 9, intervalMs: 0 },
  });

test("regular look-ups make no file until something is stored", async () => {
  const { crawls, storedBytes, textIndex } = stores;
  expect([await take(), await crawls.active("alice")]).toEqual([[], []]);
  expect([await crawls.exhausted(1), await crawls.overdue(1), await crawls.oversized(1)]).toEqual([[], [], []]);
  expect(await crawls.find("c")).toBeUndefined();
  expect(await storedBytes.find("page", "a", 1)).toBeUndefined();
  expect(await textIndex.search({ owner: "alice", query: parseQuery("word"), limit: 1, at: 1 })).toEqual([]);
  await stores.textIndex.deleteExpired(1);
  await stores.storedBytes.deleteExpired(1);
  expect(await stores.crawls.deleteExpired(1)).toBe(false);
  expect(existsSync(webPlace(storage.place).path)).toBe(false);
  await stores.storedBytes.put(bytes("a"));
  expect(existsSync(webPlace(storage.place).path)).toBe(true);
  expect(await take()).toEqual([]);
});

test("what another process has stored is found", async () => {
  const other = await openStorage(`sqlite:${join(folder, "t.db")}`);
  await openWebStores(other).storedBytes.put(bytes("a"));
  await other.close();
  await stores.storedBytes.deleteExpired(9);
  expect(await stores.storedBytes.find("page", "a", 1)).toBeUndefined();
});

test("calls are performed in their order, and bytes and large numbers cross unchanged", async () => {
  const ids = Array.from({ length: 50 }, (_, index) => `${index}`);
  const stored = ids.map((id, index) => stores.storedBytes.put(bytes(id, index * 1_000)));
  const found = await Promise.all(ids.map((id) => stores.storedBytes.find("page", id, 1)));
  await Promise.all(stored);
  expect(found).toEqual(ids.map((id, index) => bytes(id, index * 1_000)));
  const moment = 2 ** 52;
  await stores.storedBytes.put({ ...bytes("late"), keptUntil: moment });
  expect((await stores.storedBytes.find("page", "late", moment - 1))?.keptUntil).toBe(moment);
});

test("a storage that closes performs the calls before, and refuses those after", async () => {
  const before = stores.storedBytes.put(bytes("a"));
  const closed = storage.close();
  expect(stores.storedBytes.put(bytes("b"))).rejects.toMatchObject({ code: "storage_unavailable" });
  await before;
  await closed;
  storage = await openStorage(`sqlite:${join(folder, "t.db")}`);
  stores = openWebStores(storage);
  expect(await stores.storedBytes.find("page", "a", 1)).toEqual(bytes("a"));
});

test("a call that fails is refused alone", async () => {
  const wrong = { ...bytes("a"), owner: null as unknown as string };
  const uncloneable = { ...bytes("a"), owner: (() => "alice") as unknown as string };
  const [failed, refused, good] = await Promise.allSettled([
    stores.storedBytes.put(wrong),
    stores.storedBytes.put(uncloneable),
    stores.storedBytes.put(bytes("good")),
  ]);
  expect(failed.status).toBe("rejected");
  expect(String(failed.status === "rejected" && failed.reason)).toContain("NOT NULL");
  expect(refused.status).toBe("rejected");
  expect(good.status).toBe("fulfilled");
});

test("a file that can't be used refuses each call, and is tried again after a second", async () => {
  writeFileSync(webPlace(storage.place).path, "This is no database. ".repeat(100));
  for (const _ of [1, 2, 3]) {
    const reason: unknown = await take().catch((thrown: unknown) => thrown);
    if (!(reason instanceof GatewayError)) throw new Error(`the call succeeded: ${String(reason)}`);
    expect(reason.code).toBe("storage_unavailable");
    // The caller does not get to know the path.
    expect(reason.message).not.toContain(folder);
    expect(String(reason.cause)).toContain("cannot open");
  }
  rmSync(webPlace(storage.place).path);
  const deadline = performance.now() + 4_000;
  const isStored = (): Promise<boolean> =>
    stores.storedBytes.put(bytes("a")).then(
      () => true,
      () => false,
    );
  while (!(await isStored()) && performance.now() < deadline) await Bun.sleep(20);
  expect(await stores.storedBytes.find("page", "a", 1)).toEqual(bytes("a"));
});

/** The niceness of each of this process's threads. */
const niceness = (): Map<string, number> =>
  new Map(
    readdirSync("/proc/self/task").map((thread) => {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, "utf8");
      return [thread, Number(stat.slice(stat.lastIndexOf(")")).split(" ")[17])];
    }),
  );

// Only root may raise a priority again.
test.skipIf(process.platform !== "linux" || process.getuid?.() !== 0).each([
  [0, limits.backgroundNiceness],
  [15, 15],
])("the thread of a gateway with a niceness of %d has one of %d", async (own, expected) => {
  const before = getPriority();
  const earlier = niceness();
  setPriority(own);
  try {
    await stores.storedBytes.put(bytes("a"));
    const added = [...niceness()].filter(([thread]) => !earlier.has(thread));
    expect(Math.max(...added.map(([, nice]) => nice))).toBe(expected);
  } finally {
    setPriority(before);
  }
});
