/** Sums by day, and the sealing, exporting and removing of old entries, on both engines. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { Calendar } from "../../src/core/index.ts";
import { openGenerationStore, type UsageGrouping } from "../../src/generations/index.ts";
import { exportBooks, type LedgerStore, openLedgerStore, removeEntries, sealBooks } from "../../src/ledger/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { changeTimezone, openStorage } from "../kit/storage.ts";
import { engines, type PostgresServer, query, startPostgres, until } from "../kit/index.ts";
import {
  account,
  at,
  type Call,
  callAt,
  DAY_MS,
  dayOf,
  holdOf,
  HOUR_MS,
  owners,
  readOf,
  reportOf,
  settleOf,
} from "./dated-calls.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-retention-"));
let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(engines)("books on %s", (engine) => {
  let url: string;
  let storage: Storage;
  let store: LedgerStore;
  const storages: Storage[] = [];

  async function open(timezone?: string): Promise<Storage> {
    const opened = await openStorage(url, { timezone });
    storages.push(opened);
    return opened;
  }

  async function begin(timezone: string): Promise<void> {
    storage = await open(timezone);
    store = openLedgerStore(storage);
    for (const owner of owners) {
      await store.putAccount(account("user", owner), 1);
      await store.putAccount(account("token", owner, `user:${owner}`), 1);
      const grant = { kind: "grant", id: `g-${owner}`, accountId: `user:${owner}`, amount: 10n ** 9n } as const;
      await store.commit([{ ...grant, at: at("2026-01-01T00:00:00Z") }]);
    }
  }

  const endAll = async (all: readonly Call[], on: LedgerStore = store): Promise<void> => {
    for (let index = 0; index < all.length; index += 100) {
      const some = all.slice(index, index + 100);
      await on.commit([...some.map((call) => holdOf(call)), ...some.map((call) => settleOf(call))]);
    }
  };

  const usage = (owner: string, from: number, to: number, groupBy: UsageGrouping = "day") =>
    openGenerationStore(storage, 50).usage({ owner, from, to, groupBy, groupsMax: 1_000 });

  const expectClean = async (): Promise<void> => {
    const { drifts, openHolds } = await store.audit();
    expect({ drifts, openHolds }).toEqual({ drifts: [], openHolds: 0 });
  };

  const countOf = async (table: string): Promise<number> => {
    const [row] = await query<{ rows: bigint }>(storage, `SELECT count(*) AS rows FROM ${table}`);
    return Number(row?.rows);
  };

  beforeEach(async () => {
    url = engine === "Postgres" ? await postgres.createDatabase() : `sqlite:${join(folder, `${Math.random()}.db`)}`;
  });
  afterEach(async () => {
    for (const each of storages.splice(0)) await each.close();
  });

  /** Calls over the days on which Berlin's clocks change, some at the very ends of days. */
  function manyCalls(from: string, days: number, perDay: number): Call[] {
    const made: Call[] = [];
    for (let day = 0; day < days; day += 1) {
      for (let index = 0; index < perDay; index += 1) {
        made.push(callAt(at(from) + day * DAY_MS + Math.floor((index * DAY_MS) / perDay)));
      }
    }
    return made;
  }

  test.each(["UTC", "Europe/Berlin", "America/New_York"])(
    "usage by days in %s is the sum of the calls",
    async (zone) => {
      await begin(zone);
      const calendar = new Calendar(zone);
      const all = manyCalls("2026-10-22T00:00:00Z", 12, 48);
      for (const date of ["2026-10-25", "2026-10-26", "2026-11-01", "2026-11-02"]) {
        const start = calendar.startOfDay(dayOf(date));
        for (const startedAt of [start - 1, start, start + 1]) all.push(callAt(startedAt), callAt(startedAt));
      }
      await endAll(all);
      const start = calendar.startOfDay(dayOf("2026-10-23"));
      const ranges = [
        [start, calendar.startOfDay(dayOf("2026-11-03"))],
        [start + 1, calendar.startOfDay(dayOf("2026-11-01")) - 1],
        [at("2026-10-25T00:30:00Z"), at("2026-10-25T13:00:00Z")],
        [at("2026-10-24T12:00:00Z"), at("2026-10-26T12:00:00Z")],
        [0, at("2027-01-01T00:00:00Z")],
      ] as const;
      for (const owner of owners) {
        for (const [from, to] of ranges)
          expect(readOf(await usage(owner, from, to))).toEqual(reportOf(all, { owner, from, to }, calendar));
      }
      await expectClean();
    },
  );

  test("a zone is taken over by new books, and refused by others until they are counted again", async () => {
    await begin("Europe/Berlin");
    const all = manyCalls("2026-10-24T00:00:00Z", 3, 200);
    await endAll(all);
    expect((await open()).timezone).toBe("Europe/Berlin");
    const refused = await open("UTC").catch(String);
    expect(refused).toContain('run "tollgate ledger timezone UTC"');
    expect(await open("Europe/Atlantis").catch(String)).toContain("there is no time zone");
    await changeTimezone(url, "Asia/Kolkata");
    // A process that still has the former days gives no wrong sums.
    expect(await usage("alice", 0, at("2027-01-01T00:00:00Z")).catch(String)).toContain("Asia/Kolkata");
    storage = await open("Asia/Kolkata");
    store = openLedgerStore(storage);
    const range = { owner: "alice", from: 0, to: at("2027-01-01T00:00:00Z") };
    const calendar = new Calendar("Asia/Kolkata");
    expect(readOf(await usage("alice", range.from, range.to))).toEqual(reportOf(all, range, calendar));
    const more = manyCalls("2026-10-27T00:00:00Z", 2, 100);
    await endAll(more);
    expect(readOf(await usage("alice", range.from, range.to))).toEqual(reportOf([...all, ...more], range, calendar));
    await expectClean();
  });

  test("daily budgets restart at the zone's midnight, also after a day of 25 hours", async () => {
    await begin("Europe/Berlin");
    await store.putAccount(
      { ...account("token", "t"), maxBudget: 1_000n, period: "daily" },
      at("2026-10-01T00:00:00Z"),
    );
    const midnight = at("2026-10-25T23:00:00Z");
    const budgeted = (startedAt: number) => callAt(startedAt, { owner: "t", credits: 1_000n });
    const outcomes: string[] = [];
    for (const startedAt of [midnight - 25 * HOUR_MS, midnight - 2, midnight, midnight + 1]) {
      const call = budgeted(startedAt);
      const [held] = await store.commit([holdOf(call)]);
      outcomes.push(held?.outcome ?? "");
      if (held?.outcome === "held") await store.commit([settleOf(call, startedAt)]);
    }
    expect(outcomes).toEqual(["held", "insufficient", "held", "insufficient"]);
    await expectClean();
  });

  test("nodes that end calls of two days in any order agree with the audit, also about budgets", async () => {
    await begin("UTC");
    for (const owner of owners) {
      await store.putAccount({ ...account("token", owner, `user:${owner}`), maxBudget: 10n ** 9n, period: "daily" }, 1);
      await store.putAccount({ ...account("user", owner), maxBudget: 10n ** 9n, period: "monthly" }, 1);
    }
    const nodes = [store, openLedgerStore(await open()), openLedgerStore(await open())];
    const midnight = at("2026-11-01T00:00:00Z");
    const all = Array.from({ length: 600 }, (_, index) => callAt(midnight + ((index * 37) % 200) - 100));
    await Promise.all(
      nodes.map(async (node, which) => {
        const mine = all.filter((_call, index) => index % nodes.length === which);
        for (let index = 0; index < mine.length; index += 10) {
          const some = mine.slice(index, index + 10);
          await node.commit(some.map((call) => holdOf(call)));
          await node.commit(some.map((call) => settleOf(call, call.startedAt)));
        }
      }),
    );
    await expectClean();
    const calendar = new Calendar("UTC");
    for (const owner of owners) {
      const range = { owner, from: midnight - DAY_MS, to: midnight + DAY_MS };
      expect(readOf(await usage(owner, range.from, range.to))).toEqual(reportOf(all, range, calendar));
    }
  });

  test("a change of a budget's period keeps it in agreement with the entries", async () => {
    await begin("UTC");
    const noon = at("2026-11-10T12:00:00Z");
    for (const [index, period] of (["daily", undefined, "monthly", "daily", undefined] as const).entries()) {
      const now = noon + index * HOUR_MS;
      await endAll([callAt(now - 5_000, { owner: "alice" })]);
      await store.putAccount({ ...account("token", "alice", "user:alice"), maxBudget: 10n ** 6n, period }, now);
      await endAll([callAt(now, { owner: "alice" }), callAt(now + 20_000, { owner: "alice" })]);
      await expectClean();
    }
  });

  test("an expiry and its late end move the call to its own day and model, and are counted once", async () => {
    await begin("UTC");
    const evening = at("2026-11-09T23:59:00Z");
    const late = Array.from({ length: 300 }, (_, index) => callAt(evening + index, { model: "large" }));
    await store.commit(late.map((call) => holdOf(call, evening)));
    await store.commit([{ kind: "sweep", at: evening + HOUR_MS }]);
    const moved = late.map((call) => ({ ...call, startedAt: call.startedAt + 2 * HOUR_MS }));
    const settles = moved.map((call) => settleOf(call, evening + 3 * HOUR_MS));
    await store.commit(settles);
    // Once more, as a journal does.
    await store.commit(settles);
    const range = { owner: "alice", from: at("2026-11-09T00:00:00Z"), to: at("2026-11-11T00:00:00Z") };
    expect(readOf(await usage("alice", range.from, range.to))).toEqual(reportOf(moved, range, new Calendar("UTC")));
    await expectClean();
  });

  describe("old entries", () => {
    const now = at("2026-11-20T12:00:00Z");
    const sealed = dayOf("2026-11-11");
    const boundary = sealed * DAY_MS;
    let all: Call[];

    beforeEach(async () => {
      await begin("UTC");
      await store.putAccount({ ...account("user", "bob"), maxBudget: 10n ** 12n, period: "monthly" }, 1);
      all = manyCalls("2026-11-08T00:00:00Z", 6, 150);
      // Begins before the boundary and ends after it.
      all.push(callAt(boundary - 1), callAt(boundary - 1));
      await endAll(all);
    });

    const wholeDays = () => Promise.all(owners.map((owner) => usage(owner, at("2026-11-01T00:00:00Z"), now)));

    test("are sealed, exported and removed, and the reports of their days stay", async () => {
      const before = await wholeDays();
      const entries = await countOf("entries");
      expect(await sealBooks(store, sealed, now)).toEqual({ before: boundary, accounts: 4, entries: 2 + 450 });
      expect(await store.audit()).toMatchObject({ sealedBefore: boundary, entries: entries - 452, drifts: [] });
      const file = join(folder, `${engine}.jsonl.gz`);
      expect(await exportBooks(store, { day: sealed, file, now })).toMatchObject({ entries: 452 });
      const [head, ...lines] = gunzipSync(readFileSync(file))
        .toString()
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as object);
      expect(head).toMatchObject({ object: "ledger_export", before: "2026-11-11T00:00:00.000Z", timezone: "UTC" });
      expect(lines.pop()).toEqual({ object: "end", entries: 452 });
      const first = all[0];
      expect(lines.find((line) => "id" in line && line.id === first?.id)).toMatchObject({
        object: "entry",
        kind: "settle",
        debit_account: `token:${first?.owner}`,
        call: {
          owner: first?.owner,
          model: first?.model,
          input_tokens: 3,
          usage: { input: 1, cacheRead: 1, output: 1 },
        },
      });
      expect(await removeEntries(store, sealed)).toBe(452);
      expect(await countOf("entries")).toBe(entries - 452);
      await expectClean();
      expect(await wholeDays()).toEqual(before);
      expect(await usage("alice", boundary - HOUR_MS, now)).toEqual({ removedBefore: boundary });
      const range = { owner: "alice", from: boundary + HOUR_MS, to: now };
      expect(readOf(await usage("alice", range.from, range.to))).toEqual(reportOf(all, range, new Calendar("UTC")));
      const [gone, kept] = [all[0], all.at(-3)];
      const generations = openGenerationStore(storage);
      expect(await generations.find(gone?.id ?? "", gone?.owner ?? "")).toBeUndefined();
      expect(await generations.find(kept?.id ?? "", kept?.owner ?? "")).toMatchObject({ id: kept?.id });
      expect(await changeTimezone(url, "Asia/Kolkata").catch(String)).toContain("were removed");
      expect(await exportBooks(store, { day: sealed, file, now }).catch(String)).toContain("have been removed");
    });

    test("are sealed again at a later date from the first seal on", async () => {
      await sealBooks(store, sealed - 1, now);
      await removeEntries(store, sealed - 1);
      await sealBooks(store, sealed + 1, now);
      expect(await store.audit()).toMatchObject({ sealedBefore: boundary + DAY_MS, drifts: [] });
      await removeEntries(store, sealed);
      await expectClean();
      await endAll([callAt(now), callAt(now)]);
      await expectClean();
      const balance = all.filter(({ owner }) => owner === "bob").reduce((sum, { credits }) => sum + credits, 0n);
      const [bob] = await store.chain("user:bob", now);
      expect((bob?.debitsPosted ?? 0n) >= balance).toBe(true);
    });

    test("an end with a date before the seal is booked after it", async () => {
      const expired = callAt(boundary - 100, { credits: 900n });
      await store.commit([
        holdOf(expired, boundary),
        { kind: "renew", id: expired.id, leaseUntil: boundary, observed: 950n },
      ]);
      await store.commit([{ kind: "sweep", at: boundary + 1 }]);
      await sealBooks(store, sealed + 1, now);
      const other = openLedgerStore(await open());
      const early = callAt(boundary - 50);
      for (const node of [store, other]) {
        await node.commit([holdOf({ ...early, id: `${early.id}${node === other}` })]);
        await node.commit([settleOf({ ...early, id: `${early.id}${node === other}` })]);
      }
      // Returns a part of a sealed charge.
      await other.commit([settleOf(expired, boundary)]);
      await expectClean();
      await removeEntries(store, sealed + 1);
      await expectClean();
      const [row] = await query<{ least: bigint }>(storage, "SELECT min(created_at) AS least FROM entries");
      expect(Number(row?.least)).toBe(boundary + DAY_MS);
    });

    test("are not sealed while a hold is open, in the last two days, twice, or out of balance", async () => {
      const running = callAt(boundary - 5);
      await store.commit([holdOf(running)]);
      expect(await sealBooks(store, sealed, now).catch(String)).toContain(`hold ${running.id}`);
      await store.commit([settleOf(running)]);
      expect(await sealBooks(store, dayOf("2026-11-19"), now).catch(String)).toContain("too late");
      expect(await removeEntries(store, sealed).catch(String)).toContain("not sealed");
      await query(storage, "UPDATE accounts SET debits_posted = debits_posted + 1 WHERE id = 'user:bob'");
      expect(await sealBooks(store, sealed, now).catch(String)).toContain("do not balance");
      await query(storage, "UPDATE accounts SET debits_posted = debits_posted - 1 WHERE id = 'user:bob'");
      storage = await open();
      store = openLedgerStore(storage);
      await sealBooks(store, sealed, now);
      expect(await sealBooks(store, sealed, now).catch(String)).toContain("already sealed");
      expect(await removeEntries(store, sealed + 1).catch(String)).toContain("sealed only before");
    });

    test("cannot be deleted without a seal", async () => {
      const attempt = query(storage, "DELETE FROM entries").catch(String);
      expect(await Promise.resolve(attempt).catch(String)).toContain("only appended");
    });

    test.each([
      ["a sum", "UPDATE daily_sums SET credits = credits + 1 WHERE owner = 'bob' AND day = 20770", "usage_credits"],
      ["a missing sum", "DELETE FROM daily_sums WHERE owner = 'bob' AND day = 20770", "usage_requests"],
      [
        "a month",
        "UPDATE monthly_sums SET list_credits = list_credits - 1 WHERE owner = 'bob' AND operation = 'chat'",
        "usage_list_credits",
      ],
      [
        "cached tokens",
        "UPDATE daily_sums SET units_cache_read = 0 WHERE owner = 'bob' AND day = 20770",
        "usage_units_cache_read",
      ],
      [
        "a time",
        "UPDATE daily_sums SET first_tokens_0 = 0 WHERE owner = 'bob' AND day = 20770",
        "usage_first_tokens_0",
      ],
      ["a unit", "UPDATE daily_units SET units = units + 1 WHERE owner = 'bob' AND day = 20770", "usage_units"],
      ["missing units of a month", "DELETE FROM monthly_units WHERE owner = 'bob'", "usage_units"],
      ["a missing month", "DELETE FROM monthly_sums WHERE owner = 'bob'", "usage_requests"],
      ["a budget", "UPDATE accounts SET period_debits = period_debits + 1 WHERE id = 'user:bob'", "period_debits"],
    ])("the audit finds %s that differs", async (_, damage, counter) => {
      // All calls are in the sums.
      await endAll(Array.from({ length: 130 }, () => callAt(now)));
      await query(storage, damage);
      const { drifts } = await store.audit();
      expect(drifts.map((drift) => drift.counter)).toContain(counter as never);
      const [drift] = drifts;
      const date = damage.includes("monthly") ? "2026-11" : "2026-11-13";
      if (counter !== "period_debits") expect(drift?.place).toStartWith(`${date} bob openai/`);
    });

    test("are removed while other nodes take and end calls", async () => {
      await sealBooks(store, sealed, now);
      const other = openLedgerStore(await open());
      const later: Call[] = [];
      const progress = { isComplete: false };
      const removal = removeEntries(openLedgerStore(await open()), sealed).finally(() => (progress.isComplete = true));
      while (!progress.isComplete) {
        const some = Array.from({ length: 8 }, (_, index) => callAt(now + index));
        later.push(...some);
        await endAll(some, other);
        await setImmediate();
      }
      expect(await removal).toBe(452);
      await expectClean();
      const range = { owner: "bob", from: at("2026-11-01T00:00:00Z"), to: now + DAY_MS };
      const report = readOf(await usage("bob", range.from, range.to));
      expect(report).toEqual(reportOf([...all, ...later], range, new Calendar("UTC")));
    });

    test("a seal and a removal that are killed at any moment are completed by the next ones", async () => {
      const more = manyCalls("2026-11-09T00:00:01Z", 2, 600);
      await endAll(more);
      const before = await wholeDays();
      const entries = await countOf("entries");
      const tollgate = (command: string) =>
        Bun.spawn(
          [process.execPath, "src/cli/main.ts", "ledger", command, "--before", "2026-11-11", "--storage", url],
          {
            cwd: join(import.meta.dir, "../.."),
            stdout: "ignore",
            stderr: "pipe",
          },
        );
      const isClosed = async () => (await store.books.state()).closedBefore > 0;
      const sealing = tollgate("seal");
      await until("the seal has begun", isClosed);
      sealing.kill("SIGKILL");
      await sealing.exited;
      await expectClean();
      if ((await store.books.state()).sealedBefore === 0) expect(await tollgate("seal").exited).toBe(0);
      for (let left = await countOf("entries"); ; left = await countOf("entries")) {
        const removing = tollgate("remove");
        const isEnded = { value: false };
        void removing.exited.then(() => (isEnded.value = true));
        await until("entries are gone", async () => isEnded.value || (await countOf("entries")) < left);
        const isComplete = isEnded.value;
        removing.kill("SIGKILL");
        await removing.exited;
        await expectClean();
        expect(await wholeDays()).toEqual(before);
        if (isComplete) {
          expect([removing.exitCode, await new Response(removing.stderr).text()]).toEqual([0, ""]);
          break;
        }
      }
      expect(await countOf("entries")).toBe(entries - 452 - more.length);
      // Of a removal that was killed, too.
      expect(await countOf("audit WHERE act = 'ledger.remove'")).toBeGreaterThan(0);
    });
  });
});
