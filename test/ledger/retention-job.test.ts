/** The job that seals, exports and removes old entries: its steps, and gateways that are killed between them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type LedgerStore, openLedgerStore, removeEntries, sealBooks } from "../../src/ledger/index.ts";
import { type RetentionStep, runStep } from "../../src/retention/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import {
  engines,
  type Gateway,
  type PostgresServer,
  query,
  startGateway,
  startPostgres,
  storageOn,
  until,
} from "../kit/index.ts";
import { account, type Call, callAt, DAY_MS, holdOf, owners, settleOf } from "./dated-calls.ts";

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

const messageOf = (promise: Promise<unknown>): Promise<string> => promise.then(JSON.stringify, String);

const today = Math.floor(Date.now() / DAY_MS);
const dayText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
const nameOf = (from: number, before: number): string => `ledger_${dayText(from)}_${dayText(before)}.jsonl.gz`;

describe.each(engines)("on %s", (engine) => {
  let folder: string;
  let exports: string;
  let url: string;
  let storage: Storage;
  let store: LedgerStore;
  let gateways: Gateway[];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-retention-job-"));
    exports = join(folder, "exports");
    url = (await storageOn(engine, postgres)).storage ?? `sqlite:${join(folder, "tollgate.db")}`;
    storage = await openStorage(url);
    store = openLedgerStore(storage);
    gateways = [];
    for (const owner of owners) {
      await store.putAccount(account("user", owner), 1);
      await store.putAccount(account("token", owner, `user:${owner}`), 1);
      const grant = { kind: "grant", id: `g-${owner}`, accountId: `user:${owner}`, amount: 10n ** 9n } as const;
      await store.commit([{ ...grant, at: Date.now() }]);
    }
  });
  afterEach(async () => {
    for (const gateway of gateways) {
      gateway.process.kill("SIGKILL");
      await gateway.process.exited;
      await gateway.storage.close();
    }
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Ends calls of some days, counted from today. */
  async function endCalls(firstDay: number, lastDay: number, perDay: number): Promise<Call[]> {
    const made: Call[] = [];
    for (let day = firstDay; day <= lastDay; day += 1) {
      const calls = Array.from({ length: perDay }, (_, index) => callAt((today + day) * DAY_MS + index * 1_000));
      await store.commit(calls.map((call) => holdOf(call)));
      await store.commit(calls.map((call) => settleOf(call)));
      made.push(...calls);
    }
    return made;
  }

  const idsIn = (file: string): string[] =>
    gunzipSync(readFileSync(file))
      .toString()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { object: string; id?: string })
      .flatMap(({ object, id }) => (object === "entry" && id !== undefined ? [id] : []));
  const exported = (...folders: string[]): string[] =>
    folders.flatMap((each) => readdirSync(each).flatMap((name) => idsIn(join(each, name)))).toSorted();
  const idsOf = (calls: readonly Call[]): string[] => calls.map(({ id }) => id).toSorted();
  const kept = async (): Promise<string[]> =>
    (await query<{ id: string }>(storage, "SELECT id FROM entries WHERE id LIKE 'req%'"))
      .map(({ id }) => id)
      .toSorted();

  const settingsAt = (day: number, everyMs = DAY_MS) => ({
    keptMs: 5 * DAY_MS,
    everyMs,
    folder: exports,
    now: (today + day) * DAY_MS + 3_600_000,
    signal: new AbortController().signal,
  });

  test("each step may be repeated later: one file has each removed entry", async () => {
    const old = await endCalls(-20, -6, 20);
    const young = await endCalls(-5, -1, 20);
    const done: string[] = [];
    let step: RetentionStep | undefined = { step: "seal" };
    for (let day = 0; step !== undefined && day < 12; day += 1) {
      // Its process has ended before it could note the next step, and a day has passed.
      await runStep(store, step, settingsAt(0));
      if (step.step === "export") writeFileSync(join(exports, `${nameOf(0, today - 5)}.x-1.part`), "cut off");
      const { next } = await runStep(store, step, settingsAt(step.step === "seal" ? 0 : 2));
      done.push(step.step);
      step = next;
    }
    expect(done).toEqual(["seal", "export", "remove"]);
    expect(readdirSync(exports)).toEqual([nameOf(0, today - 5)]);
    expect(exported(exports)).toEqual(idsOf(old));
    expect(await kept()).toEqual(idsOf(young));
    expect((await store.audit()).drifts).toEqual([]);
    // The next file begins with the day after this one.
    expect(await runStep(store, { step: "seal" }, settingsAt(0))).toEqual({ next: undefined });
    expect(await runStep(store, { step: "seal" }, settingsAt(2, 3 * DAY_MS))).toEqual({ next: undefined });
    const before = (today - 3) * DAY_MS;
    const export2: RetentionStep = { step: "export", from: (today - 5) * DAY_MS, before };
    expect(await runStep(store, { step: "seal" }, settingsAt(2))).toMatchObject({
      next: export2,
      done: { sealedBefore: before },
    });
    expect(await runStep(store, export2, settingsAt(2))).toMatchObject({ next: { step: "remove", before } });
    expect(readdirSync(exports).toSorted()).toEqual([nameOf(0, today - 5), nameOf(today - 5, today - 3)]);
  });

  test("nothing is removed without a file, nor exported after somebody else's removal", async () => {
    const old = await endCalls(-10, -6, 10);
    const { next } = await runStep(store, { step: "seal" }, settingsAt(0));
    writeFileSync(exports, "a file in its place");
    expect(await messageOf(runStep(store, next ?? { step: "seal" }, settingsAt(0)))).toContain("EEXIST");
    expect(await kept()).toEqual(idsOf(old));
    await removeEntries(store, today - 8);
    expect(await runStep(store, next ?? { step: "seal" }, settingsAt(0))).toEqual({ next: { step: "seal" } });
    rmSync(exports);
    const again = await runStep(store, { step: "seal" }, settingsAt(0));
    expect(again.next).toEqual({ step: "export", from: (today - 8) * DAY_MS, before: (today - 5) * DAY_MS });
    // An operator's seal of later days changes nothing of it.
    await endCalls(-5, -4, 10);
    await sealBooks(store, today - 3, Date.now());
    await runStep(store, again.next ?? { step: "seal" }, settingsAt(0));
    expect(readdirSync(exports)).toEqual([nameOf(today - 8, today - 5)]);
  });

  test("books that do not balance are neither sealed nor removed", async () => {
    const old = await endCalls(-10, -6, 10);
    await query(storage, "UPDATE accounts SET debits_posted = debits_posted + 1 WHERE id = 'user:bob'");
    const books = engine === "SQLite" ? openLedgerStore(await openStorage(url)) : store;
    expect(await messageOf(runStep(books, { step: "seal" }, settingsAt(0)))).toContain("do not balance");
    expect(await kept()).toEqual(idsOf(old));
  });

  const start = async (target: string): Promise<Gateway> => {
    const retention = { generations: "5d", export: target };
    const gateway = await startGateway({ providers: {}, config: { retention }, storage: url });
    gateways.push(gateway);
    return gateway;
  };
  const kill = async (gateway: Gateway): Promise<void> => {
    gateway.process.kill("SIGKILL");
    await gateway.process.exited;
  };

  test("a gateway that is killed between export and removal loses nothing, and its successor exports nothing again", async () => {
    const old = await endCalls(-30, -6, 40);
    const young = await endCalls(-4, -2, 10);
    const first = await start(exports);
    const file = join(exports, nameOf(0, today - 5));
    await until("the file is complete", () => existsSync(file));
    await kill(first);
    expect(idsIn(file).toSorted()).toEqual(idsOf(old));
    // Its lease runs out in a minute; the operator has no reason to wait for that.
    await query(storage, "UPDATE jobs SET lease_until = 0");
    const written = readFileSync(file);
    const second = await start(exports);
    await until("the entries are gone", async () => (await kept()).length <= young.length, 60_000);
    await until("the job has ended", async () => (await query(storage, "SELECT id FROM jobs")).length === 0);
    expect(readdirSync(exports)).toEqual([nameOf(0, today - 5)]);
    expect([await kept(), exported(exports)]).toEqual([idsOf(young), idsOf(old)]);
    expect((await second.cli("ledger", "audit")).code).toBe(0);
    // The removal was planned before the kill, or the same days were written once more.
    expect(gunzipSync(readFileSync(file)).length).toBe(gunzipSync(written).length);
    const acts = JSON.parse((await second.cli("audit", "list", "--json")).stdout) as {
      data: { act: string; actor: string; after: unknown }[];
    };
    const before = new Date((today - 5) * DAY_MS).toISOString();
    const removal = { before, entries: old.length, file };
    const actor = expect.stringMatching(/^node:/) as string;
    expect(acts.data.findLast(({ act }) => act === "ledger.seal")).toMatchObject({ actor, after: { before } });
    expect(acts.data.findLast(({ act }) => act === "ledger.remove")).toMatchObject({ actor, after: removal });
  });
});
