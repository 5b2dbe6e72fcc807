/** The contract of every `FileStore`, on either engine. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import {
  type FileStore,
  type ObjectOwnerStore,
  openFileStore,
  openObjectOwnerStore,
  type UploadPlace,
} from "../../src/objects/index.ts";
import { type PostgresServer, startPostgres } from "../kit/index.ts";

const AT = 1_000;
const LATER = 2 ** 42;
const quota = { filesMax: 3, bytesMax: 100 };

const placeOf = (id: string, more: Partial<UploadPlace> = {}): UploadPlace => ({
  id,
  provider: "openai",
  owner: "alice",
  bytes: 10,
  until: LATER,
  ...more,
});

function describeFileStore(name: string, open: () => Promise<Storage>): void {
  describe(`files on ${name}`, () => {
    let storage: Storage;
    let store: FileStore;
    let owners: ObjectOwnerStore;

    beforeEach(async () => {
      storage = await open();
      store = openFileStore(storage);
      owners = openObjectOwnerStore(storage);
    });
    afterEach(() => storage.close());

    const reserve = (place: UploadPlace, at = AT) => store.reserve(place, quota, at);
    const record = (place: UploadPlace, id: string, more: { expiresAt?: number; bytes?: number } = {}) => {
      const { provider, owner, bytes } = place;
      return store.record(place, { id, provider, owner, bytes, keyId: "key-1", expiresAt: undefined, ...more }, AT);
    };
    const add = async (id: string, more: Partial<UploadPlace> = {}): Promise<boolean> => {
      const place = placeOf(`of ${id}`, more);
      return (await reserve(place)) && record(place, id);
    };
    const ownersOf = async (id: string, at = AT): Promise<string[]> =>
      (await owners.find(["openai"], [id], at)).map(({ kind, owner, keyId }) => `${kind} ${owner} ${keyId}`);

    test("are found as stored objects, and by their user", async () => {
      expect(await add("file-1")).toBe(true);
      expect(await ownersOf("file-1")).toEqual(["file alice key-1"]);
      expect(await ownersOf("of file-1")).toEqual([]);
      expect(await store.filesOf("openai", "alice", AT)).toEqual([{ id: "file-1", keyId: "key-1" }]);
      expect(await store.filesOf("openai", "bob", AT)).toEqual([]);
      expect(await store.filesOf("byteplus", "alice", AT)).toEqual([]);
    });

    test("are refused beyond their number, at all providers together", async () => {
      expect([await add("file-1"), await add("file-2", { provider: "byteplus" })]).toEqual([true, true]);
      expect(await reserve(placeOf("req-1"))).toBe(true);
      expect(await add("file-4")).toBe(false);
      expect(await add("file-5", { owner: "bob" })).toBe(true);
      await store.cancel(placeOf("req-1"));
      expect(await add("file-4")).toBe(true);
      await store.remove("openai", "file-1");
      expect(await add("file-6")).toBe(true);
    });

    test("are refused beyond their bytes, to the byte", async () => {
      expect(await add("file-1", { bytes: 60 })).toBe(true);
      expect([await add("file-2", { bytes: 41 }), await add("file-2", { bytes: 40 })]).toEqual([false, true]);
      expect([await add("file-3", { bytes: 1 }), await add("file-3", { bytes: 0 })]).toEqual([false, true]);
    });

    test("of two uploads for the last place, one gets it", async () => {
      const asked = Array.from({ length: 20 }, (_, index) => reserve(placeOf(`req-${index}`)));
      expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(3);
    });

    test("free their quota when they expire, and a place when its time is over", async () => {
      const place = placeOf("req-1");
      await reserve(place);
      await record(place, "file-1", { expiresAt: AT + 1 });
      await reserve(placeOf("req-2", { until: AT + 1 }));
      await reserve(placeOf("req-3", { until: AT + 1 }));
      expect(await reserve(placeOf("req-4"))).toBe(false);
      expect(await store.reserve(placeOf("req-4"), quota, AT + 1)).toBe(true);
      expect(await ownersOf("file-1", AT + 1)).toEqual([]);
      await owners.deleteExpired(AT + 1);
      expect(await ownersOf("file-1", 0)).toEqual([]);
    });

    test("are not taken from another user by an upstream that repeats an id", async () => {
      expect(await add("file-1")).toBe(true);
      const place = placeOf("req-2", { owner: "bob" });
      expect([await reserve(place), await record(place, "file-1")]).toEqual([true, false]);
      expect(await ownersOf("file-1")).toEqual(["file alice key-1"]);
      expect(await ownersOf("req-2")).toEqual([]);
      // The same user's own file is replaced, and counts once.
      expect([await add("file-1"), await add("file-1"), await add("file-2"), await add("file-3")]).toEqual(
        Array.from({ length: 4 }, () => true),
      );
    });

    test("of two users with one id, one gets it", async () => {
      const users = Array.from({ length: 10 }, (_, index) => placeOf(`req-${index}`, { owner: `user-${index}` }));
      await Promise.all(users.map((place) => reserve(place)));
      const recorded = await Promise.all(users.map((place) => record(place, "file-1")));
      expect(recorded.filter(Boolean)).toHaveLength(1);
      expect(await ownersOf("file-1")).toHaveLength(1);
    });

    test("keep their record if an answer names them", async () => {
      await add("file-1");
      const objects = [{ kind: "file" as const, id: "file-1" }];
      await owners.put({ objects, provider: "openai", owner: "alice", keyId: "key-2", expiresAt: AT + 1 });
      expect(await ownersOf("file-1", LATER)).toEqual(["file alice key-1"]);
    });
  });
}

describeFileStore("sqlite", () => openStorage("sqlite::memory:"));

describe("with a server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  describeFileStore("postgres", async () => openStorage(await server.createDatabase()));
});
