/** The open realtime sessions of several processes, on either engine. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { AuditLog } from "../../src/audit/index.ts";
import { OpenSessions, openSessionStore, SessionDirectory } from "../../src/realtime/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { type PostgresServer, startPostgres } from "../kit/index.ts";
import { openStorage } from "../kit/storage.ts";

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

describe.each([
  ["SQLite", () => Promise.resolve("sqlite::memory:")],
  ["Postgres", () => postgres.createDatabase()],
] as const)("open sessions on %s", (_engine, newStorage) => {
  let storage: Storage;
  let directory: SessionDirectory;
  let log: AuditLog;
  let now = 1_000_000;
  const clock = (): number => now;
  const act = { actor: { name: "cli:test" }, reason: "it loops" };

  beforeEach(async () => {
    storage = await openStorage(await newStorage());
    log = new AuditLog({ storage, clock });
    directory = new SessionDirectory({ storage, log, clock });
  });
  afterEach(() => storage.close());

  /** A process that looks only when it is told to. */
  const processOf = (process: string, failures: unknown[] = []): OpenSessions =>
    new OpenSessions({
      store: openSessionStore(storage),
      clock,
      node: `gw-${process}:1`,
      process,
      onFailure: (thrown) => failures.push(thrown),
      every: () => () => undefined,
    });

  const sessionOf = (id: string) => ({
    id,
    type: "realtime" as const,
    model: "openai/gpt-realtime",
    owner: "alice",
    accountId: "user:alice",
    tokenId: "t",
    endUser: undefined,
    openedAt: now,
  });

  const listed = async (): Promise<string[]> => (await directory.list({ limit: 10 })).map(({ id }) => id);
  const rows = async () => (await log.list({ limit: 10 })).map((row) => [row.act, row.target, row.reason]);

  test("are listed by id from all processes, page by page, until they have ended", async () => {
    const [one, other] = [processOf("one"), processOf("other")];
    const leave = one.enter(sessionOf("b"), () => undefined);
    other.enter(sessionOf("a"), () => undefined);
    one.enter(sessionOf("c"), () => undefined);
    await Promise.all([one.look(), other.look()]);
    expect(await directory.list({ limit: 2 })).toMatchObject([
      { id: "a", node: "gw-other:1" },
      { id: "b", node: "gw-one:1", owner: "alice", endAskedAt: undefined },
    ]);
    expect((await directory.list({ limit: 2, after: "b" })).map(({ id }) => id)).toEqual(["c"]);
    leave();
    await one.look();
    expect(await listed()).toEqual(["a", "c"]);
    await one.stop();
    expect(await listed()).toEqual(["a"]);
  });

  test("end in the process that has them, with one row of the audit log", async () => {
    const ended: string[] = [];
    const [one, other] = [processOf("one"), processOf("other")];
    for (const id of ["a", "b"]) one.enter(sessionOf(id), () => ended.push(`one ${id}`));
    other.enter(sessionOf("c"), () => ended.push("other c"));
    await Promise.all([one.look(), other.look()]);
    expect(await directory.end("b", { ...act, dryRun: true })).toMatchObject({ endAskedAt: now });
    await one.look();
    expect([ended, await rows()]).toEqual([[], []]);
    expect(await directory.end("b", act)).toMatchObject({ id: "b", endAskedAt: now });
    expect(await directory.end("b", act)).toMatchObject({ id: "b", endAskedAt: now });
    await Promise.all([one.look(), other.look()]);
    expect(ended).toEqual(["one b"]);
    expect(await rows()).toEqual([["realtime_session.end", "realtime_session:b", "it loops"]]);
    expect(await directory.end("nobody's", act)).toBeUndefined();
  });

  test("of a process that has died are gone after half a minute, and nobody can end them", async () => {
    processOf("unseen").enter(sessionOf("x"), () => undefined);
    const [dies, lives] = [processOf("dies"), processOf("lives")];
    dies.enter(sessionOf("a"), () => undefined);
    lives.enter(sessionOf("b"), () => undefined);
    await Promise.all([dies.look(), lives.look()]);
    expect(await listed()).toEqual(["a", "b"]);
    now += 30_001;
    await lives.look();
    expect(await listed()).toEqual(["b"]);
    expect(await directory.end("a", act)).toBeUndefined();
    now += 30_001;
    await directory.deleteLost();
    await Promise.all([dies.look(), lives.look()]);
    // It was only held up: its session goes on, and is there again.
    expect(await listed()).toEqual(["a", "b"]);
  });

  test("go on while the storage fails, and are listed afterwards", async () => {
    const failures: unknown[] = [];
    const one = processOf("one", failures);
    const broken = new OpenSessions({
      store: { ...openSessionStore(storage), add: () => Promise.reject(new Error("away")) },
      clock,
      node: "gw:2",
      process: "two",
      onFailure: (thrown) => failures.push(thrown),
      every: () => () => undefined,
    });
    broken.enter(sessionOf("a"), () => undefined);
    one.enter(sessionOf("b"), () => undefined);
    for (let time = 0; time < 3; time += 1) await Promise.all([broken.look(), one.look()]);
    expect(failures).toHaveLength(1);
    expect(await listed()).toEqual(["b"]);
  });
});
