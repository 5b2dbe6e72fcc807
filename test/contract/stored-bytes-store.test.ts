/** The contract of every `StoredBytesStore`, on either engine, and of the page cache and the screenshots on top of it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { openWebStores, PageCache, Screenshots, type StoredBytesStore } from "../../src/web/index.ts";
import { type PostgresServer, startPostgres } from "../kit/index.ts";

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

const T0 = 2 ** 42;

describe.each([
  ["SQLite", () => Promise.resolve("sqlite::memory:")],
  ["Postgres", () => postgres.createDatabase()],
] as const)("stored bytes on %s", (_engine, newStorage) => {
  let storage: Storage;
  let store: StoredBytesStore;
  let now: number;
  const clock = (): number => now;

  beforeEach(async () => {
    now = T0;
    storage = await openStorage(await newStorage());
    store = openWebStores(storage).storedBytes;
  });
  afterEach(() => storage.close());

  const bytes = (id: string, rest: Partial<Parameters<StoredBytesStore["put"]>[0]> = {}) => ({
    kind: "page" as const,
    id,
    owner: "alice",
    mediaType: "text/plain",
    content: new Uint8Array([0, 255, 128, 10]),
    storedAt: T0,
    keptUntil: T0 + 100,
    ...rest,
  });

  async function idsLeft(ids: readonly string[], kind: "page" | "screenshot" = "page"): Promise<string[]> {
    const found = await Promise.all(ids.map((id) => store.find(kind, id, 0)));
    return found.flatMap((each) => each?.id ?? []);
  }

  test("are found unchanged until their end, under their own kind", async () => {
    await store.put(bytes("a"));
    await store.put(bytes("empty", { content: new Uint8Array() }));
    const found = await store.find("page", "a", T0 + 99);
    expect({ ...found, content: [...(found?.content ?? [])] }).toEqual({ ...bytes("a"), content: [0, 255, 128, 10] });
    expect((await store.find("page", "empty", T0))?.content.byteLength).toBe(0);
    expect(await store.find("page", "a", T0 + 100)).toBeUndefined();
    expect(await store.find("screenshot", "a", T0)).toBeUndefined();
    expect(await store.find("page", "A", T0)).toBeUndefined();
  });

  test("are replaced by their owner only", async () => {
    await store.put(bytes("a"));
    await store.put(bytes("a", { content: new Uint8Array([1]), storedAt: T0 + 1 }));
    await store.put(bytes("a", { content: new Uint8Array([2]), owner: "bob", storedAt: T0 + 2 }));
    const found = await store.find("page", "a", T0);
    expect({ owner: found?.owner, content: [...(found?.content ?? [])], at: found?.storedAt }).toEqual({
      owner: "alice",
      content: [1],
      at: T0 + 1,
    });
  });

  test("beyond a user's bound, the oldest are deleted", async () => {
    const ids = ["a", "b", "c", "d", "e"];
    for (const [index, id] of ids.entries()) await store.put(bytes(id, { storedAt: T0 + index }));
    await store.put(bytes("of-bob", { owner: "bob", storedAt: 1 }));
    await store.put(bytes("a", { kind: "screenshot", storedAt: 1 }));
    await store.trim("page", "alice", { countMax: 4, bytesMax: 1_000 });
    expect(await idsLeft(ids)).toEqual(["b", "c", "d", "e"]);
    await store.trim("page", "alice", { countMax: 100, bytesMax: 11 });
    expect(await idsLeft(ids)).toEqual(["d", "e"]);
    expect(await idsLeft(["of-bob"])).toEqual(["of-bob"]);
    expect(await idsLeft(["a"], "screenshot")).toEqual(["a"]);
    await store.trim("page", "alice", { countMax: 100, bytesMax: 3 });
    expect(await idsLeft(ids)).toEqual([]);
  });

  test("are deleted after their end", async () => {
    await store.put(bytes("a"));
    await store.put(bytes("b", { keptUntil: T0 + 101 }));
    await store.deleteExpired(T0 + 100);
    expect(await idsLeft(["a", "b"])).toEqual(["b"]);
  });

  test("a cached page is its user's, up to the requested age", async () => {
    const cache = new PageCache({ store, clock, logger: { warn: () => undefined } });
    const text = JSON.stringify({ markdown: "# Grüße \u{1f642} \u0000".repeat(5_000) });
    await cache.put("alice", "key", text);
    now = T0 + 500;
    expect(await cache.get("alice", "key", 500)).toEqual({ text, storedAt: T0 });
    expect(await cache.get("alice", "key", 499)).toBeUndefined();
    expect(await cache.get("alice", "key", 0)).toBeUndefined();
    expect(await cache.get("alice", "other", 500)).toBeUndefined();
    expect(await cache.get("bob", "key", 500)).toBeUndefined();
    // A user's name cannot be continued by a key.
    await cache.put("al", "ice key", "forged");
    expect(await cache.get("alice", "key", 500)).toEqual({ text, storedAt: T0 });
    await cache.put("alice", "key", "again");
    expect(await cache.get("alice", "key", 1)).toEqual({ text: "again", storedAt: now });
    now = T0 + 3 * 24 * 3_600_000;
    expect(await cache.get("alice", "key", Number.MAX_SAFE_INTEGER)).toBeUndefined();
  });

  test("a screenshot is served at an address of its own for a day", async () => {
    const environment = { clock, randomBytes: (size: number) => crypto.getRandomValues(new Uint8Array(size)) };
    const screenshots = new Screenshots({ store, environment, publicUrl: "http://gateway" });
    const content = new Uint8Array([137, 80, 78, 71]);
    const keep = () => screenshots.keep({ owner: "alice", mediaType: "image/png", content });
    const [first, second] = [await keep(), await keep()];
    expect(first).toMatch(/^http:\/\/gateway\/v2\/screenshots\/[0-9a-z]{32}$/);
    expect(second).not.toBe(first);
    const id = first.split("/").at(-1) ?? "";
    const found = await screenshots.find(id);
    expect([found?.mediaType, [...(found?.content ?? [])]]).toEqual(["image/png", [...content]]);
    for (const wrong of ["", "a", `${id}0`, id.toUpperCase(), `${id.slice(0, -1)}'`, "\0".repeat(32)]) {
      expect(await screenshots.find(wrong)).toBeUndefined();
    }
    now += 24 * 3_600_000;
    expect(await screenshots.find(id)).toBeUndefined();
  });
});
