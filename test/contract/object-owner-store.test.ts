/** The contracts of every `ObjectOwnerStore` and every `ThoughtStore`, on either engine. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { openObjectOwnerStore, openThoughtStore, type ObjectOwnerStore } from "../../src/objects/index.ts";
import { type PostgresServer, startPostgres } from "../kit/index.ts";

const AT = 1_000;
const LATER = 2 ** 42;

const owned = {
  objects: [
    { kind: "item", id: "msg_1" },
    { kind: "container", id: "cntr_1" },
  ],
  provider: "openai",
  owner: "alice",
  keyId: "key-1",
  expiresAt: LATER,
} as const;

function describeObjectOwnerStore(name: string, open: () => Promise<Storage>): void {
  describe(`owners of objects on ${name}`, () => {
    let storage: Storage;
    let store: ObjectOwnerStore;

    beforeEach(async () => {
      storage = await open();
      store = openObjectOwnerStore(storage);
    });
    afterEach(() => storage.close());

    const find = async (ids: readonly string[], { providers = ["openai"], at = AT } = {}): Promise<string[]> => {
      const found = await store.find(providers, ids, at);
      return found.map(({ kind, id, owner, keyId }) => `${kind} ${id} ${owner} ${keyId}`).toSorted();
    };

    test("are found by provider and id", async () => {
      await store.put(owned);
      expect(await find(["msg_1", "cntr_1", "msg_2"])).toEqual([
        "container cntr_1 alice key-1",
        "item msg_1 alice key-1",
      ]);
      expect(await find(["msg_1"])).toEqual(["item msg_1 alice key-1"]);
      expect(await find(["msg_1"], { providers: ["xai"] })).toEqual([]);
      expect(await find([])).toEqual([]);
      await store.put({ ...owned, provider: "xai", keyId: "key-9" });
      expect(await find(["msg_1"], { providers: ["xai", "openai", "azure"] })).toEqual([
        "item msg_1 alice key-1",
        "item msg_1 alice key-9",
      ]);
    });

    test("name the makers of a user's items, as long as they are kept", async () => {
      await store.put(owned);
      await store.put({ ...owned, provider: "xai" });
      await store.put({ ...owned, owner: "bob", provider: "byteplus" });
      await store.put({ ...owned, objects: [{ kind: "file", id: "msg_1" }], provider: "google" });
      await store.put({ ...owned, objects: [{ kind: "item", id: "msg_2" }], expiresAt: AT });
      const makers = await store.makersOf(["msg_1", "msg_2", "cntr_1", "x"], "alice", AT);
      expect(makers.toSorted((one, two) => one.provider.localeCompare(two.provider))).toEqual([
        { id: "msg_1", provider: "openai" },
        { id: "msg_1", provider: "xai" },
      ]);
      expect(await store.makersOf([], "alice", AT)).toEqual([]);
    });

    test("lie side by side under one id", async () => {
      await store.put(owned);
      await store.put({ ...owned, owner: "bob", keyId: "key-2" });
      await store.put({ ...owned, provider: "xai", owner: "carol" });
      await store.put({ ...owned, objects: [{ kind: "file", id: "msg_1" }] });
      expect(await find(["msg_1"])).toEqual([
        "file msg_1 alice key-1",
        "item msg_1 alice key-1",
        "item msg_1 bob key-2",
      ]);
    });

    test("put again are extended, with the later key, also twice in one answer", async () => {
      await store.put({ ...owned, expiresAt: AT + 1 });
      await store.put({ ...owned, keyId: "key-2", objects: [...owned.objects, ...owned.objects] });
      expect(await find(["msg_1"], { at: AT + 2 })).toEqual(["item msg_1 alice key-2"]);
    });

    test("expire, and are then deleted", async () => {
      await store.put({ ...owned, expiresAt: AT });
      await store.put({ ...owned, objects: [{ kind: "item", id: "msg_2" }] });
      expect(await find(["msg_1", "msg_2"])).toEqual(["item msg_2 alice key-1"]);
      await store.deleteExpired(AT);
      expect(await find(["msg_1", "msg_2"], { at: 0 })).toEqual(["item msg_2 alice key-1"]);
    });

    test.each(["'; DROP TABLE stored_objects; --", 'Ω \u{1f642} \\ " \n', "%", "x".repeat(256)])(
      "may have any id: %p",
      async (id) => {
        await store.put({ ...owned, objects: [{ kind: "item", id }], owner: id });
        expect(await find([id])).toEqual([`item ${id} ${id} key-1`]);
      },
    );
  });
}

function describeThoughtStore(name: string, open: () => Promise<Storage>): void {
  test(`sealed thoughts on ${name} are found until they expire, the newest under an id`, async () => {
    const storage = await open();
    const store = openThoughtStore(storage);
    const one = { id: "one", sealed: new Uint8Array([0, 255, 1]) };
    const two = { id: "two", sealed: new Uint8Array([2]) };
    await store.put([one, { id: "two", sealed: new Uint8Array([9]) }], AT);
    await store.put([two], LATER);
    await store.put([], LATER);
    const find = async (at: number) => {
      const found = await store.find(["one", "two", "three"], at);
      return found.map(({ id, sealed }) => [id, [...sealed]]).toSorted((a, b) => String(a).localeCompare(String(b)));
    };
    const all = [one, two].map(({ id, sealed }) => [id, [...sealed]]);
    expect(await find(AT - 1)).toEqual(all);
    expect(await find(AT)).toEqual(all.slice(1));
    await store.deleteExpired(AT);
    expect(await find(0)).toEqual(all.slice(1));
    await storage.close();
  });
}

const inMemory = () => openStorage("sqlite::memory:");
describeObjectOwnerStore("sqlite", inMemory);
describeThoughtStore("sqlite", inMemory);

describe("with a server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  const onServer = async () => openStorage(await server.createDatabase());
  describeObjectOwnerStore("postgres", onServer);
  describeThoughtStore("postgres", onServer);
});
