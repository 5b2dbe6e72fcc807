/** The contract of every `TokenStore`, on either engine. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { plainToken } from "../kit/plain-token.ts";
import { openTokenStore, type TokenRecord, type TokenStore } from "../../src/auth/index.ts";
import { openLedgerStore } from "../../src/ledger/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";

const account = {
  id: "token:a",
  kind: "token",
  name: "a",
  parentId: undefined,
  prepaid: false,
  maxBudget: undefined,
  period: undefined,
} as const;

const plain: TokenRecord = {
  ...plainToken,
  secretHash: Uint8Array.of(1, 2, 255, 0),
  accountId: account.id,
  createdAt: 5,
};
const full: TokenRecord = {
  ...plain,
  id: "full",
  user: "Ω ' \\ \" \n",
  service: true,
  role: "owner",
  name: "for the bot",
  models: ["openai/*", "claude/x"],
  rpm: 60,
  tpm: 2 ** 40,
  concurrency: 4,
  expiresAt: 2 ** 42,
  createdAt: 3,
  pausedAt: 9,
  previousHash: Uint8Array.of(7, 0, 255),
  previousUntil: 2 ** 43,
  madeBy: "cli:root",
  version: 3,
};

/** A record whose bytes are comparable, for any class returned by the engine. */
const comparable = (record: TokenRecord | undefined) => ({
  ...record,
  secretHash: [...(record?.secretHash ?? [])],
  previousHash: [...(record?.previousHash ?? [])],
});

/** What a token has from its user, of whom the storage knows nothing here. */
const unknownUser = {
  userName: undefined,
  userRole: undefined,
  userDisabledAt: undefined,
  organisation: undefined,
  organisationDisabledAt: undefined,
  markup: undefined,
};

function describeTokenStore(name: string, open: () => Promise<Storage>): void {
  describe(`tokens on ${name}`, () => {
    let storage: Storage;
    let store: TokenStore;

    beforeEach(async () => {
      storage = await open();
      await openLedgerStore(storage).putAccount(account, 0);
      store = openTokenStore(storage);
    });
    afterEach(() => storage.close());

    test.each<[string, TokenRecord]>([
      ["a plain one", plain],
      ["one with everything", full],
      ["one that may use nothing", { ...plain, models: [] }],
    ])("come back as they went in: %s", async (_, record) => {
      await store.insert(record);
      // No model id is empty: an empty glob allows as little as none.
      const models = record.models?.length === 0 ? [""] : record.models;
      expect(comparable(await store.find(record.id, record.secretHash))).toEqual({
        ...comparable({ ...record, models }),
        ...unknownUser,
      });
    });

    test("are found by their id and hash", async () => {
      await store.insert(plain);
      await store.insert(full);
      const { secretHash } = plain;
      for (const id of ["", "ab", "abcd", "ABC", "a%", "' OR 1=1 --"]) {
        expect(await store.find(id, secretHash)).toBeUndefined();
      }
      for (const hash of [Uint8Array.of(1, 2, 255, 1), secretHash.slice(1), new Uint8Array(32), new Uint8Array()]) {
        expect(await store.find("abc", hash)).toBeUndefined();
      }
    });

    test("are listed oldest first", async () => {
      await store.insert(plain);
      await store.insert(full);
      expect((await store.list()).map(({ id }) => id)).toEqual(["full", "abc"]);
    });

    test("are never overwritten", async () => {
      await store.insert(plain);
      expect(async () => store.insert({ ...plain, user: "mallory" })).toThrow(/unique/i);
      expect((await store.find("abc", plain.secretHash))?.user).toBe("alice");
    });

    test("need an account that pays", async () => {
      expect(async () => store.insert({ ...plain, accountId: "token:nobody" })).toThrow(/foreign key/i);
      expect(await store.list()).toEqual([]);
    });

    test("are found by their ids, those that exist", async () => {
      await store.insert(plain);
      await store.insert(full);
      expect((await store.findAll(["full", "nobody", "abc"])).map(({ id }) => id).toSorted()).toEqual(["abc", "full"]);
      expect(comparable((await store.findAll(["full"]))[0])).toEqual({ ...comparable(full), ...unknownUser });
      expect(await store.findAll([])).toEqual([]);
    });

    test("are revoked once, and keep the first moment", async () => {
      await store.insert(plain);
      expect(await store.revoke("abc", 10)).toBe(true);
      expect(await store.revoke("abc", 20)).toBe(true);
      expect((await store.find("abc", plain.secretHash))?.revokedAt).toBe(10);
      expect(await store.revoke("nobody", 10)).toBe(false);
    });
  });
}

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

describeTokenStore("sqlite", () => openStorage("sqlite::memory:"));
describeTokenStore("postgres", async () => openStorage(await server.createDatabase()));
