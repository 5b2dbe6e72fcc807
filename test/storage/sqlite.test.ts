/** A SQLite file of an earlier version: its calls are found after the start as before, and can still end. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openGenerationStore } from "../../src/generations/index.ts";
import { openLedgerStore } from "../../src/ledger/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";

const account = "token:t";
const call = {
  operation: "chat",
  dialect: undefined,
  provider: "openai",
  model: "some-model",
  streamed: false,
  outcome: "complete",
  usage: { input: 3, output: 4 },
} as const;

let folder: string;
let storage: Storage;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-sqlite-"));
  const path = join(folder, "t.db");
  const file = new Database(path, { strict: true });
  file.run(await Bun.file(new URL("__fixtures__/sqlite-step-4.sql", import.meta.url)).text());
  file.run(`INSERT INTO accounts (id, kind, name, prepaid, created_at, credits_posted, debits_posted) VALUES
    ('user:alice', 'user', 'alice', 1, 0, 100, 15), ('user:bob', 'user', 'bob', 1, 0, 0, 5)`);
  file.run(`INSERT INTO accounts (id, kind, name, parent_id, prepaid, created_at, debits_posted) VALUES
    ('${account}', 'token', 't', 'user:alice', 0, 0, 15), ('token:b', 'token', 'b', 'user:bob', 0, 0, 5)`);
  const entry = file.query("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, 0, 1)");
  entry.run("grant", "grant", "bank", "user:alice", 100, 0);
  entry.run("b-settled", "settle", account, "revenue", 6, 9);
  entry.run("a-expired", "expire", account, "revenue", 2, 9);
  entry.run("c-late", "expire", account, "revenue", 9, 9);
  entry.run("c-late:late", "settle", "revenue", account, 2, 0);
  entry.run("d-unrecorded", "release", account, "revenue", 0, 9);
  entry.run("e-bob", "settle", "token:b", "revenue", 5, 9);
  const generation = file.query(`INSERT INTO generations VALUES
    (?, ?, ?, 'chat', NULL, 'openai', 'some-model', 0, ?, ?, '{"input":3,"output":4}', 3, 4, ?, 1.5, NULL, ?)`);
  generation.run("b-settled", "alice", account, 200, "complete", 6, 20);
  generation.run("a-expired", "alice", account, 0, "expired", 2, 30);
  generation.run("c-late", "alice", account, 200, "complete", 7, 10);
  generation.run("e-bob", "bob", "token:b", 200, "complete", 5, 20);
  file.close();
  storage = await openStorage(`sqlite:${path}`);
});
afterEach(async () => {
  await storage.close();
  rmSync(folder, { recursive: true });
});

const creditsOf = async (id: string, owner = "alice"): Promise<bigint | undefined> =>
  (await openGenerationStore(storage).find(id, owner))?.credits;

test("each call is found by its id and its owner alone, as it was", async () => {
  const ids = ["a-expired", "b-settled", "c-late", "d-unrecorded", "grant", "c-late:late", "e-bob"];
  const none = undefined;
  expect(await Promise.all(ids.map((id) => creditsOf(id)))).toEqual([2n, 6n, 7n, none, none, none, none]);
  expect(await creditsOf("e-bob", "bob")).toBe(5n);
  expect(await creditsOf("b-settled", "bob")).toBeUndefined();
  expect(await openGenerationStore(storage).find("b-settled", "alice")).toEqual({
    ...call,
    id: "b-settled",
    owner: "alice",
    tokenId: "t",
    accountId: "token:t",
    status: 200,
    inputTokens: 3,
    outputTokens: 4,
    credits: 6n,
    milliseconds: 1.5,
    millisecondsToFirstByte: undefined,
    startedAt: 20,
  });
});

test("the sums are the same, and the books balance", async () => {
  const query = { owner: "alice", from: 0, to: 30, groupBy: "token", groupsMax: 9 } as const;
  const sums = { requests: 2n, failures: 0n, inputTokens: 6n, outputTokens: 8n, credits: 13n, listCredits: 0n };
  const report = await openGenerationStore(storage, 1).usage(query);
  expect(report).toEqual({ groups: [{ name: "t", ...sums }], total: sums });
  expect(await openLedgerStore(storage).audit()).toMatchObject({ entries: 7, openHolds: 0, drifts: [] });
});

test("a server of that version that still runs takes no more holds, which it could not charge for", async () => {
  if (storage.engine !== "sqlite") throw new Error("no SQLite file");
  const { handle } = storage;
  expect(() => handle.run("UPDATE accounts SET debits_pending = 1, minute_start = 1")).toThrow("no such column");
});

test("an earlier expired call still ends late, and its record is replaced", async () => {
  const store = openLedgerStore(storage);
  const record = { ...call, owner: "alice", status: 200, milliseconds: 9, millisecondsToFirstByte: 1, startedAt: 31 };
  const late = { kind: "settle", id: "a-expired", amount: 8n, at: 40, record } as const;
  expect(await store.commit([late, late])).toEqual([
    { outcome: "settled", shortfall: 0n },
    { outcome: "exists", shortfall: 0n },
  ]);
  expect(await openGenerationStore(storage).find("a-expired", "alice")).toMatchObject({
    credits: 8n,
    outcome: "complete",
    startedAt: 31,
  });
  const query = { owner: "alice", from: 0, to: 99, groupBy: "day", groupsMax: 9 } as const;
  expect(await openGenerationStore(storage).usage(query)).toMatchObject({ total: { requests: 3n, credits: 21n } });
  expect(await store.audit()).toMatchObject({ drifts: [], shortfall: 0n });
});
