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

  test("the positions of results stand before their content", async () => {
    const none = { id: "batch_none", outputFileId: "none", errorFileId: "none" };
    expect(await openBatchStore(storage).ended(none)).toEqual([]);
    if (storage.engine !== "sqlite") return;
    const columns = await query<{ name: string }>(storage, "SELECT name FROM pragma_table_info('batch_file_parts')");
    expect(columns.map(({ name }) => name)).toEqual(["file_id", "number", "lines", "content"]);
  });
});
