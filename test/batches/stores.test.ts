/** The storage of batches and their files, on both engines. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type KeptFile, openBatchStore, openKeptFileStore } from "../../src/batches/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { engines, query, sharedPostgres } from "../kit/index.ts";
import { openStorage } from "../kit/storage.ts";

const postgres = sharedPostgres();

const fileOf = (id: string, owner: string, bytes: number): KeptFile => ({
  id,
  owner,
  purpose: "batch",
  filename: "in.jsonl",
  bytes,
  parts: 0,
  isListed: true,
  createdAt: 1_000,
  keptUntil: 5_000,
});

describe.each(engines)("on %s", (engine) => {
  let storage: Storage;
  beforeAll(async () => {
    storage = await openStorage(engine === "SQLite" ? "sqlite::memory:" : await postgres.createDatabase());
  });
  afterAll(() => storage.close());

  test("uploads at the same time do not pass the bytes of their owner", async () => {
    const files = openKeptFileStore(storage);
    const begun = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        files.begin(fileOf(`of-alice-${index}`, "alice", 40), { bytes: 40, bytesMax: 100 }),
      ),
    );
    expect(begun.filter(Boolean)).toHaveLength(2);
    expect(await files.begin(fileOf("of-bob", "bob", 40), { bytes: 40, bytesMax: 100 })).toBe(true);
    await files.remove("of-alice-0");
    await files.remove("of-alice-1");
    expect(await files.begin(fileOf("again", "alice", 100), { bytes: 100, bytesMax: 100 })).toBe(
      begun[0] === true && begun[1] === true,
    );
  });

  test("a file of many parts is removed with all of them", async () => {
    const files = openKeptFileStore(storage);
    const file = fileOf("many", "carol", 70);
    await files.begin(file, { bytes: 70, bytesMax: 100 });
    for (let number = 0; number < 70; number += 1) await files.append("many", number, Buffer.from("a"));
    await files.finish({ ...file, parts: 70 });
    await files.remove("many");
    expect(await files.find("many", 0)).toBeUndefined();
    expect(await query(storage, "SELECT number FROM batch_file_parts WHERE file_id = 'many'")).toEqual([]);
  });

  test("a removal that was cut short is ended by the next sweep, and nobody finds the file before", async () => {
    const files = openKeptFileStore(storage);
    await files.begin(fileOf("cut", "dave", 1), { bytes: 1, bytesMax: 100 });
    await files.append("cut", 0, Buffer.from("a"));
    await query(storage, "UPDATE batch_files SET kept_until = 0 WHERE id = 'cut'");
    expect(await files.find("cut", 0)).toBeUndefined();
    expect(await files.begin(fileOf("room", "dave", 100), { bytes: 100, bytesMax: 100 })).toBe(true);
    await files.deleteExpired(2_000);
    expect(await files.part("cut", 0)).toBeUndefined();
    expect(await query(storage, "SELECT id FROM batch_files WHERE id = 'cut'")).toEqual([]);
  });

  test("operators page through the batches of all users, or of one, from either end", async () => {
    for (const [id, owner] of [
      ["batch_1", "ann"],
      ["batch_2", "bob"],
      ["batch_3", "ann"],
    ] as const)
      await query(
        storage,
        `INSERT INTO batches (id, owner, token_id, kind, endpoint, input_file_id, output_file_id, error_file_id, headers, usage,
           completion_window, status, run_token, total, succeeded, failed, cancelled, expired, created_at, expires_at, kept_until)
         VALUES ('${id}', '${owner}', 't', 'calls', '/v1/chat/completions', 'i', 'o', 'e', '{}', '{"input":0,"cached":0,"output":0,"reasoning":0}', '24h', 'in_progress', 'r',
           1, 0, 0, 0, 0, 1000, 5000, 5000)`,
      );
    const store = openBatchStore(storage);
    const idsOf = async (isNewestFirst: boolean, after?: string, owner?: string): Promise<string[]> =>
      (await store.all({ owner, after, isNewestFirst, limit: 2 })).map(({ id }) => id);
    expect(await idsOf(false)).toEqual(["batch_1", "batch_2"]);
    expect(await idsOf(false, "batch_2")).toEqual(["batch_3"]);
    expect(await idsOf(true)).toEqual(["batch_3", "batch_2"]);
    expect(await idsOf(true, "batch_2")).toEqual(["batch_1"]);
    expect(await idsOf(true, undefined, "ann")).toEqual(["batch_3", "batch_1"]);
    expect(await idsOf(true, "batch_3", "ann")).toEqual(["batch_1"]);
  });

  test("the positions of results stand before their content", async () => {
    const none = { id: "batch_none", outputFileId: "none", errorFileId: "none" };
    expect(await openBatchStore(storage).ended(none)).toEqual([]);
    if (storage.engine !== "sqlite") return;
    const columns = await query<{ name: string }>(storage, "SELECT name FROM pragma_table_info('batch_file_parts')");
    expect(columns.map(({ name }) => name)).toEqual(["file_id", "number", "lines", "content"]);
  });
});
