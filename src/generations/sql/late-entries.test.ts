/** The entries that a stream of calls on Postgres has, whatever the order of commits and the clocks of their nodes. */
import { afterAll, beforeAll, beforeEach, expect, spyOn, test } from "bun:test";
import { SQL } from "bun";
import { type PostgresServer, startPostgres } from "../../../test/kit/postgres.ts";
import { openStorage } from "../../../test/kit/storage.ts";
import { runnerOf, type Storage } from "../../storage/index.ts";
import { LateEntries } from "./followers.ts";

let server: PostgresServer;
let storage: Storage;
let connection: SQL;
let entries: LateEntries;

beforeAll(async () => {
  server = await startPostgres();
  const url = await server.createDatabase();
  storage = await openStorage(url);
  connection = new SQL(url);
});
afterAll(async () => {
  await connection.close();
  await storage.close();
  await server.stop();
});
beforeEach(async () => {
  entries = new LateEntries(runnerOf(storage));
  await entries.read();
});

/** Writes entries of a node whose clock differs by so many milliseconds. */
const put = (on: Pick<SQL, "unsafe">, id: string, clock = 0): Promise<unknown> =>
  on.unsafe(
    `INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
     VALUES ($1, 'settle', 'token:a', 'revenue', 0, 0, 0, $2)`,
    [id, Date.now() + clock],
  );

/** The new ones since a position, after another read. */
async function news(position: number): Promise<string[]> {
  await entries.read();
  return entries.after(position).toSorted();
}

test("those of a node whose clock is four minutes behind, or ahead", async () => {
  const { end } = entries;
  await put(connection, "behind", -240_000);
  await put(connection, "ahead", 240_000);
  await put(connection, "now");
  expect(await news(end)).toEqual(["ahead", "behind", "now"]);
  expect(await news(entries.end)).toEqual([]);
  await put(connection, "behind-again", -240_000);
  expect(await news(end)).toEqual(["ahead", "behind", "behind-again", "now"]);
});

test("those that were written before others and committed after them, also in a part of a transaction", async () => {
  const { end } = entries;
  const seen: string[][] = [];
  await connection.begin(async (transaction) => {
    await put(transaction, "first");
    await transaction.savepoint((part) => put(part, "part"));
    for (const id of ["a", "b", "c"]) {
      await put(connection, id);
      seen.push(await news(end));
    }
  });
  expect(seen).toEqual([["a"], ["a", "b"], ["a", "b", "c"]]);
  expect(await news(end)).toEqual(["a", "b", "c", "first", "part"]);
  await put(connection, "d");
  for (let read = 0; read < 3; read += 1) expect(await news(end)).toEqual(["a", "b", "c", "d", "first", "part"]);
});

test("each once, while several connections write", async () => {
  const { end } = entries;
  const ids = Array.from({ length: 200 }, (_, number) => `many-${number}`);
  const writing = Promise.all(
    [0, 1, 2, 3].map(async (writer) => {
      for (const [number, id] of ids.entries())
        if (number % 4 === writer)
          await connection.begin(async (transaction) => {
            await transaction.savepoint((part) => put(part, id, (writer - 2) * 60_000));
          });
    }),
  );
  const writers = { end: false };
  void writing.finally(() => (writers.end = true));
  while (!writers.end) await entries.read();
  await writing;
  expect(await news(end)).toEqual(ids.toSorted());
});

test("all readers of a process share the reads", async () => {
  const { reads } = entries;
  await Promise.all(Array.from({ length: 32 }, () => entries.read()));
  expect(entries.reads - reads).toBe(1);
});

test("a read looks at the entries of the last minutes alone, however many there are", async () => {
  if (storage.engine !== "postgres") throw new Error("Postgres is expected");
  const run = spyOn(storage.statements, "run");
  await entries.read();
  const [text = "", values = []] = run.mock.calls[0] ?? [];
  run.mockRestore();
  const plan = await connection.unsafe<{ "QUERY PLAN": string }[]>(`EXPLAIN ${text}`, [...values]);
  // A condition that is no bound of the index would be a filter of all its entries.
  expect(plan.map((line) => line["QUERY PLAN"]).join("\n")).toMatch(/entries_by_time[^]*Index Cond: \(created_at >=/);
});
