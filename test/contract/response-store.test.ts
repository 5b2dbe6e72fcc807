/** The contract of every `ResponseStore`, on either engine. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { limits } from "../../src/core/index.ts";
import { openResponseStore, type ResponseStore, type StoredResponse } from "../../src/objects/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { type PostgresServer, query, startPostgres } from "../kit/index.ts";

const AT = 1_000;

const plain: StoredResponse = {
  id: "resp_a",
  owner: "alice",
  provider: "openai",
  model: "gpt-5-mini",
  createdAt: AT,
  expiresAt: 2 ** 42,
  previousId: undefined,
  keyId: undefined,
  content: undefined,
};
const said = "Ω \u{1f642} ' \\ \" \n";
const full: StoredResponse = {
  id: "resp_ours",
  owner: said,
  provider: "my.provider",
  model: "org/model",
  createdAt: 2 ** 41,
  expiresAt: 2 ** 42,
  previousId: "resp_a",
  content: { input: JSON.stringify([{ said, nul: "\0", half: "\ud800" }]), response: JSON.stringify({ said }) },
  keyId: "4d1f0a",
};

/** Ids of a store's answer. */
const idsOf = (found: readonly StoredResponse[]): string[] => found.map(({ id }) => id);

function describeResponseStore(name: string, open: () => Promise<Storage>): void {
  describe(`responses on ${name}`, () => {
    let storage: Storage;
    let store: ResponseStore;

    beforeEach(async () => {
      storage = await open();
      store = openResponseStore(storage);
    });
    afterEach(() => storage.close());

    /** Rounds of one conversation: `ids`, the oldest first. */
    async function converse(ids: readonly string[], more: Partial<StoredResponse> = {}): Promise<void> {
      for (const [index, id] of ids.entries()) await store.put({ ...plain, id, previousId: ids[index - 1], ...more });
    }

    test.each<[string, StoredResponse]>([
      ["one that its upstream keeps", plain],
      ["one with everything", full],
    ])("come back as they went in: %s", async (_, response) => {
      await store.put(response);
      expect(await store.find(response.id, response.owner, AT)).toEqual(response);
      expect(await store.chain(response.id, response.owner, AT)).toEqual([response]);
    });

    test("put twice are there once, as they were at first", async () => {
      await store.put(full);
      await store.put(full);
      await store.put({ ...full, content: { input: "[]", response: "{}" } });
      expect(await store.find(full.id, full.owner, AT)).toEqual(full);
    });

    test("of two owners lie side by side, also under one id", async () => {
      const other: StoredResponse = { ...full, owner: "mallory", previousId: undefined, content: undefined };
      await store.put(full);
      await store.put(other);
      expect(await store.find(full.id, full.owner, AT)).toEqual(full);
      expect(await store.chain(full.id, "mallory", AT)).toEqual([other]);
      expect(await store.remove(full.id, "mallory")).toBe(true);
      expect(await store.chain(full.id, full.owner, AT)).toEqual([full]);
    });

    test("are found, continued and removed by their owner alone", async () => {
      await store.put(plain);
      for (const owner of ["", "Alice", "alice ", "bob", "%", "' OR 1=1 --"]) {
        expect(await store.find(plain.id, owner, AT)).toBeUndefined();
        expect(await store.chain(plain.id, owner, AT)).toEqual([]);
        expect(await store.remove(plain.id, owner)).toBe(false);
      }
      expect(await store.find(plain.id, "alice", AT)).toEqual(plain);
    });

    test("are found by their whole id alone", async () => {
      await store.put(plain);
      for (const id of ["", "resp_", "RESP_A", "resp_a ", "resp_%", "' OR 1=1 --", "x".repeat(10_000)]) {
        expect(await store.find(id, "alice", AT)).toBeUndefined();
        expect(await store.remove(id, "alice")).toBe(false);
      }
    });

    test("no longer exist after removal", async () => {
      await store.put(plain);
      expect(await store.remove(plain.id, "alice")).toBe(true);
      expect(await store.find(plain.id, "alice", AT)).toBeUndefined();
      expect(await store.remove(plain.id, "alice")).toBe(false);
    });

    test("come with those that they continue, the oldest first, whatever their ids and ages", async () => {
      const ids = ["resp_m", "resp_z", "resp_a", "resp_k"];
      await converse(ids);
      expect(idsOf(await store.chain("resp_k", "alice", AT))).toEqual(ids);
      expect(idsOf(await store.chain("resp_z", "alice", AT))).toEqual(["resp_m", "resp_z"]);
    });

    test("may be continued more than once: each branch has its own way back", async () => {
      await converse(["resp_1", "resp_2", "resp_3"]);
      await store.put({ ...plain, id: "resp_other", previousId: "resp_2" });
      expect(idsOf(await store.chain("resp_3", "alice", AT))).toEqual(["resp_1", "resp_2", "resp_3"]);
      expect(idsOf(await store.chain("resp_other", "alice", AT))).toEqual(["resp_1", "resp_2", "resp_other"]);
    });

    test("whose middle was removed starts after it, and indicates the missing part", async () => {
      await converse(["resp_1", "resp_2", "resp_3", "resp_4"]);
      await store.remove("resp_2", "alice");
      const [first, ...rest] = await store.chain("resp_4", "alice", AT);
      expect([first?.id, first?.previousId, ...idsOf(rest)]).toEqual(["resp_3", "resp_2", "resp_4"]);
      expect(idsOf(await store.chain("resp_1", "alice", AT))).toEqual(["resp_1"]);
    });

    test("never come with another user's", async () => {
      await store.put({ ...plain, id: "resp_bobs", owner: "bob" });
      await store.put({ ...plain, id: "resp_mine", previousId: "resp_bobs" });
      expect(idsOf(await store.chain("resp_mine", "alice", AT))).toEqual(["resp_mine"]);
      expect(await store.chain("resp_mine", "bob", AT)).toEqual([]);
    });

    test("that name each other in a circle come, and no more of them than a conversation may have", async () => {
      await store.put({ ...plain, id: "resp_x", previousId: "resp_y" });
      await store.put({ ...plain, id: "resp_y", previousId: "resp_x" });
      expect(await store.chain("resp_x", "alice", AT)).toHaveLength(limits.expandedRoundsMax);
    });

    test("come no further back than their sizes allow: the first beyond is the last", async () => {
      const content = { input: `["${"é".repeat(limits.expandedBytesMax / 8)}"]`, response: "{}" };
      await converse(["resp_1", "resp_2", "resp_3", "resp_4", "resp_5", "resp_6"], { content });
      expect(idsOf(await store.chain("resp_6", "alice", AT))).toEqual(["resp_3", "resp_4", "resp_5", "resp_6"]);
    });

    test("are not found from the moment on until which they are kept", async () => {
      await store.put({ ...plain, id: "resp_old", expiresAt: 5_000 });
      await store.put({ ...plain, id: "resp_new", previousId: "resp_old" });
      expect((await store.find("resp_old", "alice", 4_999))?.id).toBe("resp_old");
      expect(idsOf(await store.chain("resp_new", "alice", 4_999))).toEqual(["resp_old", "resp_new"]);
      expect(await store.find("resp_old", "alice", 5_000)).toBeUndefined();
      expect(await store.chain("resp_old", "alice", 5_000)).toEqual([]);
      expect(idsOf(await store.chain("resp_new", "alice", 5_000))).toEqual(["resp_new"]);
    });

    test("are forgotten then, those alone, and a bounded number at a time", async () => {
      await query(
        storage,
        `INSERT INTO responses (id, owner, provider, model, created_at, kept_until)
         WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
         SELECT 'resp_' || i, 'alice', 'openai', 'm', 1, i FROM n`,
      );
      await store.put(plain);
      const left = async () => {
        const [row] = await query<{ count: bigint }>(storage, "SELECT COUNT(*) AS count FROM responses");
        return Number(row?.count);
      };
      await store.deleteExpired(0);
      expect(await left()).toBe(1_501);
      await store.deleteExpired(10);
      expect(await left()).toBe(1_491);
      await store.deleteExpired(1_400);
      expect(await left()).toBe(491);
      // The oldest went first.
      expect(await store.find("resp_1011", "alice", 0)).toBeDefined();
      await store.deleteExpired(1_400);
      expect(await left()).toBe(101);
      expect(await store.find("resp_1400", "alice", 0)).toBeUndefined();
      expect(await store.find("resp_1401", "alice", 0)).toBeDefined();
      expect(await store.find(plain.id, "alice", AT)).toEqual(plain);
    });
  });
}

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

describeResponseStore("sqlite", () => openStorage("sqlite::memory:"));
describeResponseStore("postgres", async () => openStorage(await server.createDatabase()));
