import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { insertGeneration, plainGeneration } from "../../test/kit/generations.ts";
import { openStorage } from "../../test/kit/storage.ts";
import { createAccounts } from "./accounts.ts";
import { firstRequestIdAt, type GatewayError } from "../core/index.ts";
import { openGenerationStore } from "../generations/index.ts";
import type { SqliteStorage } from "../storage/index.ts";
import { type TableRequest, TablesHere, TablesThread } from "../http/index.ts";

const CALLS = 1_200;

let folder: string;
let storage: SqliteStorage;
let thread: TablesThread;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-tables-"));
  storage = await openStorage(`sqlite:${join(folder, "books.sqlite")}`);
  for (let index = 0; index < CALLS; index += 1) {
    const id = firstRequestIdAt(1_000_000 + index);
    await insertGeneration(storage, {
      id,
      owner: "ann",
      tokenId: "t",
      ...plainGeneration,
      startedAt: 1_000_000 + index,
    });
  }
  const { file = "", place, timezone } = storage;
  thread = new TablesThread({ file, place, timezone });
});
afterEach(async () => {
  await thread.stop();
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

const calls: TableRequest = {
  what: "calls",
  query: { filter: {}, from: 0, to: 2_000_000 },
  caller: { actor: { name: "owner" }, role: "owner" },
  format: "csv",
};

const never = new AbortController().signal;

async function textOf(chunks: AsyncIterator<Uint8Array, undefined>): Promise<string> {
  const parts: Uint8Array[] = [];
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) parts.push(next.value);
  return Buffer.concat(parts).toString();
}

const codeOf = (failing: Promise<unknown>): Promise<string> =>
  failing.then(
    () => "none",
    (reason: GatewayError) => reason.code,
  );

test("a thread has the same text as this one, for several at the same time", async () => {
  const { caller: _, ...admin } = createAccounts(
    storage,
    { clock: Date.now, randomBytes: (size) => Buffer.alloc(size) },
    "",
  );
  const here = await textOf(new TablesHere({ admin, generations: openGenerationStore(storage) }).read(calls, never));
  expect(here.trim().split("\n")).toHaveLength(CALLS + 1);
  const both = [thread.read(calls, never), thread.read(calls, never)].map(textOf);
  expect(await Promise.all(both)).toEqual([here, here]);
});

test("refusals keep their codes", async () => {
  const actor = { name: "admin" };
  const entries: TableRequest = {
    what: "entries",
    user: "nobody",
    from: 0,
    to: 1,
    caller: { actor, role: "owner" },
    format: "csv",
  };
  expect(await codeOf(thread.read(entries, never).next() as Promise<unknown>)).toBe("account_not_found");
  expect(await textOf(thread.read({ ...entries, user: undefined }, never))).toStartWith("id,kind,");
});

describe("a reading ends", () => {
  test("when its client leaves, and the others go on", async () => {
    const leaving = new AbortController();
    const left = thread.read(calls, leaving.signal);
    const other = thread.read(calls, never);
    await Promise.all([left.next(), other.next()]);
    leaving.abort();
    expect(await codeOf(left.next())).toBe("request_interrupted");
    expect((await textOf(other)).split("\n").length).toBeGreaterThan(100);
  });

  test("when the storage is closed, with a failure", async () => {
    const reading = thread.read(calls, never);
    await reading.next();
    await thread.stop();
    expect(await codeOf(reading.next())).toBe("storage_unavailable");
  });
});
