import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openStorage, type SqliteStorage } from "../../storage/index.ts";
import type { TokenRecord, TokenStore } from "../store.ts";
import { openTokenStore } from "./open.ts";

let storage: SqliteStorage;
let store: TokenStore;

beforeEach(async () => {
  const opened = await openStorage("sqlite::memory:");
  if (opened.engine !== "sqlite") throw new Error("not SQLite");
  storage = opened;
  storage.handle.run(
    "INSERT INTO accounts (id, kind, name, prepaid, created_at) VALUES ('token:a', 'token', 'a', 0, 0)",
  );
  store = openTokenStore(storage);
});
afterEach(() => storage.close());

const plain: TokenRecord = {
  id: "abc",
  secretHash: Uint8Array.of(1, 2, 255, 0),
  user: "alice",
  accountId: "token:a",
  service: false,
  admin: false,
  models: undefined,
  rpm: undefined,
  concurrency: undefined,
  expiresAt: undefined,
  revokedAt: undefined,
  createdAt: 5,
};
const full: TokenRecord = {
  ...plain,
  id: "full",
  service: true,
  admin: true,
  models: ["openai/*", "claude/x"],
  rpm: 60,
  concurrency: 4,
  expiresAt: 2 ** 42,
  createdAt: 3,
};

describe("tokens on SQLite", () => {
  test.each<[string, TokenRecord]>([
    ["a plain one", plain],
    ["one with everything", full],
    ["one that may use nothing", { ...plain, models: [] }],
  ])("come back as they went in: %s", async (_, record) => {
    await store.insert(record);
    const found = await store.find(record.id);
    expect({ ...found, secretHash: [...(found?.secretHash ?? [])] }).toEqual({
      ...record,
      secretHash: [...record.secretHash],
      // No model id is empty: an empty glob allows as little as none.
      models: record.models?.length === 0 ? [""] : record.models,
    });
  });

  test("are found by their id alone", async () => {
    await store.insert(plain);
    for (const id of ["", "ab", "abcd", "ABC", "a%", "' OR 1=1 --"]) expect(await store.find(id)).toBeUndefined();
  });

  test("are listed oldest first", async () => {
    await store.insert(plain);
    await store.insert(full);
    expect((await store.list()).map(({ id }) => id)).toEqual(["full", "abc"]);
  });

  test("are never overwritten", async () => {
    await store.insert(plain);
    expect(async () => store.insert({ ...plain, user: "mallory" })).toThrow("UNIQUE");
    expect((await store.find("abc"))?.user).toBe("alice");
  });

  test("are revoked once, and keep the first moment", async () => {
    await store.insert(plain);
    expect(await store.revoke("abc", 10)).toBe(true);
    expect(await store.revoke("abc", 20)).toBe(true);
    expect((await store.find("abc"))?.revokedAt).toBe(10);
    expect(await store.revoke("nobody", 10)).toBe(false);
  });
});
