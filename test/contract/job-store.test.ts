/** The contract of every `JobStore`, on either engine. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type JobLease, type JobStore, type LeasedJob, type NewJob, openJobStore } from "../../src/jobs/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { type Engine, engines, type PostgresServer, query, startPostgres } from "../kit/index.ts";

const AT = 1_000;
const LEASE = 100;

const job = (id: string, rest: Partial<NewJob> = {}): NewJob => ({
  id,
  kind: "video",
  owner: "alice",
  payload: { step: 1 },
  runAt: AT,
  createdAt: AT,
  ...rest,
});

const waiting = (each: NewJob, attempts = 0) => ({ ...each, attempts, lease: undefined });

let folder: string;
let server: PostgresServer;
let storages: Storage[];
let urls = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-jobs-"));
  server = await startPostgres();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

async function urlOf(engine: Engine): Promise<string> {
  urls += 1;
  return engine === "Postgres" ? server.createDatabase() : `sqlite:${join(folder, `${urls}.db`)}`;
}

describe.each(engines)("jobs on %s", (engine) => {
  let url: string;
  let store: JobStore;
  let tokens = 0;

  /** A store on a separate connection, as in another process. */
  async function connect(): Promise<JobStore> {
    const storage = await openStorage(url);
    storages.push(storage);
    return openJobStore(storage);
  }

  beforeEach(async () => {
    storages = [];
    url = await urlOf(engine);
    store = await connect();
  });
  afterEach(async () => {
    for (const storage of storages) await storage.close();
  });

  function newLease(at: number, node = "n1"): JobLease {
    tokens += 1;
    return { token: `token-${tokens}`, node, until: at + LEASE };
  }

  async function lease(at: number, rest: { kind?: string; jobsMax?: number; from?: JobStore; node?: string } = {}) {
    const { kind = "video", jobsMax = 10, from = store, node } = rest;
    const due = await from.due({ kind, at, jobsMax, except: [] });
    return from.lease({ ids: due.map(({ id }) => id), lease: newLease(at, node), at });
  }

  async function leaseOne(at: number, from = store): Promise<LeasedJob> {
    const [first, ...others] = await lease(at, { from });
    if (first === undefined || others.length > 0) throw new Error("not one job is due");
    return first;
  }

  const idsOf = (jobs: readonly LeasedJob[]): string[] => jobs.map(({ id }) => id);

  describe("claim", () => {
    test("leases a job that is not due, once, and counts no attempt", async () => {
      await store.put(job("a", { runAt: AT + 1_000_000 }));
      const others = await connect();
      const mine = newLease(AT);
      const claimed = await Promise.all([store.claim("a", mine, AT), others.claim("a", newLease(AT), AT)]);
      expect(claimed.filter((each) => each !== undefined)).toHaveLength(1);
      expect(claimed.find((each) => each !== undefined)).toMatchObject({ id: "a", attempts: 0, payload: { step: 1 } });
      expect(await store.claim("a", newLease(AT + LEASE), AT + LEASE)).toBeUndefined();
      expect(await store.claim("a", newLease(AT + LEASE + 1), AT + LEASE + 1)).toMatchObject({ id: "a" });
    });

    test("knows of jobs by the beginning of their ids", async () => {
      await store.put(job("webhook:c1-page-3"));
      await store.put(job("webhook:c2.end", { runAt: AT + 1_000_000 }));
      const prefixes = [
        "webhook:c1-",
        "webhook:c1-page-3",
        "webhook:c1-page-4",
        "webhook:c-",
        "webhook:c2-",
        "xebhook",
        "",
      ];
      const known: string[] = [];
      for (const prefix of prefixes) if (await store.hasAny(prefix)) known.push(prefix);
      expect(known).toEqual(["webhook:c1-", "webhook:c1-page-3", ""]);
      await store.finish(await leaseOne(AT));
      expect(await store.hasAny("webhook:c1-")).toBe(false);
    });

    test("counts those that are due since before a moment, and knows since when the first one is", async () => {
      expect(await store.dueBefore(AT, AT)).toEqual({ count: 0, oldestAt: undefined });
      await store.put(job("a", { runAt: AT - 30 }));
      await store.put(job("b", { runAt: AT - 50, kind: "other" }));
      await store.put(job("c", { runAt: AT }));
      await store.put(job("d", { runAt: AT - 90 }), { token: "t", node: "n", until: AT + LEASE });
      expect(await store.dueBefore(AT, AT)).toEqual({ count: 2, oldestAt: AT - 50 });
      expect(await store.dueBefore(AT - 30, AT)).toEqual({ count: 1, oldestAt: AT - 50 });
      expect(await store.dueBefore(AT, AT + LEASE + 1)).toEqual({ count: 3, oldestAt: AT - 90 });
    });

    test("finds no job that is gone", async () => {
      await store.put(job("a"));
      await store.finish(await leaseOne(AT));
      expect(await store.claim("a", newLease(AT), AT)).toBeUndefined();
    });
  });

  describe("put", () => {
    const odd = `Ω \u{1f642} ' \\ " \n \t`;
    test.each<[string, NewJob]>([
      ["a plain one", job("a")],
      ["an empty payload", job("a", { payload: {} })],
      [
        "a payload with everything in it",
        job("a", {
          owner: odd,
          payload: { odd, nul: "\0", half: "\ud800", deep: [{ a: [null, true, 1.5e300, -0.25] }], [odd]: {} },
          runAt: 2 ** 42,
          createdAt: 2 ** 41,
        }),
      ],
    ])("stores every field: %s", async (_, each) => {
      expect(await store.put(each)).toBe(true);
      expect(await store.find(each.id)).toEqual(waiting(each));
      expect(await lease(each.runAt)).toMatchObject([each]);
    });

    test("with a lease is the caller's own until that runs out", async () => {
      const own = newLease(AT);
      expect(await store.put(job("a"), own)).toBe(true);
      expect(await store.find("a")).toEqual({ ...job("a"), attempts: 0, lease: own });
      expect(await lease(AT + LEASE)).toEqual([]);
      expect(await store.reschedule({ id: "a", lease: own }, { runAt: AT + 5, attempts: 0 })).toBe(true);
      expect(idsOf(await lease(AT + 5))).toEqual(["a"]);
    });

    test("of an existing id changes nothing, whatever the state of the job", async () => {
      expect(await store.put(job("a"))).toBe(true);
      const again = job("a", { kind: "crawl", owner: "mallory", payload: { step: 9 }, runAt: 0 });
      expect(await store.put(again)).toBe(false);
      expect(await store.find("a")).toEqual(waiting(job("a")));
      const leased = await leaseOne(AT);
      expect(await store.put(again)).toBe(false);
      expect(await store.find("a")).toEqual(leased);
      await store.reschedule(leased, { runAt: 5 * AT, attempts: 0, payload: { step: 2 } });
      expect(await store.put(again)).toBe(false);
      expect(await store.find("a")).toEqual(waiting(job("a", { runAt: 5 * AT, payload: { step: 2 } })));
    });

    test("by many at once is new for one of them", async () => {
      const stores = [store, await connect(), await connect()];
      const puts = Array.from({ length: 30 }, async (_each, index) =>
        (stores[index % 3] as JobStore).put(job("a", { payload: { index } })),
      );
      expect((await Promise.all(puts)).filter(Boolean)).toHaveLength(1);
      expect(await lease(AT)).toHaveLength(1);
    });

    test("is found by its exact id", async () => {
      await store.put(job("a"));
      for (const id of ["", "A", "a ", "%", "_", "' OR 1=1 --"]) expect(await store.find(id)).toBeUndefined();
    });
  });

  describe("lease", () => {
    test("takes due jobs in the order of their runAt, as many as asked for", async () => {
      for (const [id, runAt] of [
        ["c", 30],
        ["a", 40],
        ["e", 11],
        ["b", 20],
        ["d", 10],
        ["later", 41],
      ] as const)
        await store.put(job(id, { runAt }));
      expect(idsOf(await lease(9))).toEqual([]);
      expect(idsOf(await lease(40, { jobsMax: 2 }))).toEqual(["d", "e"]);
      expect(idsOf(await lease(40, { jobsMax: 2 }))).toEqual(["b", "c"]);
      expect(idsOf(await lease(40, { jobsMax: 2 }))).toEqual(["a"]);
      expect(idsOf(await lease(41))).toEqual(["later"]);
    });

    test("takes the jobs of one kind", async () => {
      await store.put(job("a"));
      await store.put(job("b", { kind: "crawl" }));
      for (const kind of ["", "vide", "video ", "VIDEO", "%"]) expect(await lease(AT, { kind })).toEqual([]);
      expect(idsOf(await lease(AT, { kind: "crawl" }))).toEqual(["b"]);
      expect(idsOf(await lease(AT))).toEqual(["a"]);
    });

    test("counts the attempt and stores the lease", async () => {
      await store.put(job("a"));
      const own = newLease(AT, "node-7");
      const leased = { ...job("a"), attempts: 1, lease: own };
      expect(await store.lease({ ids: ["a"], lease: own, at: AT })).toEqual([leased]);
      expect(await store.find("a")).toEqual(leased);
    });

    test("finds due jobs of all owners but some, and takes none of another process", async () => {
      for (const owner of ["alice", "bob", 'c"arol']) await store.put(job(owner, { owner, runAt: AT }));
      await store.put(job("later", { runAt: AT + 1 }));
      const due = (except: string[]): Promise<LeasedJob["id"][]> =>
        store.due({ kind: "video", at: AT, jobsMax: 10, except }).then((jobs) => jobs.map(({ id }) => id));
      expect(await due([])).toEqual(["alice", "bob", 'c"arol']);
      expect(await due(["alice", 'c"arol'])).toEqual(["bob"]);
      const ids = ["alice", "bob", "later", "nobody"];
      expect(await store.lease({ ids, lease: newLease(AT), at: AT })).toHaveLength(2);
      expect(await store.lease({ ids, lease: newLease(AT, "n2"), at: AT })).toEqual([]);
      expect(await due([])).toEqual(['c"arol']);
    });

    test("takes a leased job after the last moment of its lease, not before", async () => {
      await store.put(job("a"));
      await leaseOne(AT);
      expect(await lease(AT + LEASE)).toEqual([]);
      const taken = await leaseOne(AT + LEASE + 1);
      expect(taken).toMatchObject({ id: "a", attempts: 2, payload: { step: 1 } });
    });

    test("goes by the given clock: after it was set back no job is due and no lease runs out", async () => {
      await store.put(job("running"));
      const leased = await leaseOne(AT);
      await store.put(job("waiting"));
      for (const at of [AT - 1, 0, -AT]) expect(await lease(at)).toEqual([]);
      expect(await store.renew(leased, LEASE)).toBe(true);
      // A renewal by that clock runs out by it.
      expect(idsOf(await lease(LEASE))).toEqual([]);
      expect(idsOf(await lease(AT))).toEqual(["running", "waiting"]);
    });

    test("of many connections at once takes each job once", async () => {
      const stores = await Promise.all([connect(), connect(), connect(), connect()]);
      for (let index = 0; index < 120; index += 1) await store.put(job(`j${String(index).padStart(3, "0")}`));
      const asked = Array.from({ length: 60 }, (_each, index) =>
        lease(AT, { from: stores[index % 4] ?? store, jobsMax: 3 }),
      );
      const ids = (await Promise.all(asked)).flatMap(idsOf);
      expect(new Set(ids).size).toBe(ids.length);
      // A request skips rows that another one has locked, so some jobs may be left.
      for (;;) {
        const rest = await lease(AT, { jobsMax: 50 });
        if (rest.length === 0) break;
        ids.push(...idsOf(rest));
      }
      expect(ids.toSorted()).toEqual(
        Array.from({ length: 120 }, (_each, index) => `j${String(index).padStart(3, "0")}`),
      );
    });
  });

  describe("under a lease a job", () => {
    test("is renewed, and no one else gets it", async () => {
      await store.put(job("a"));
      const leased = await leaseOne(AT);
      expect(await store.renew(leased, AT + 3 * LEASE)).toBe(true);
      expect(await lease(AT + 2 * LEASE)).toEqual([]);
      expect(await store.find("a")).toEqual({ ...leased, lease: { ...leased.lease, until: AT + 3 * LEASE } });
    });

    test("is rescheduled with a new payload or its own", async () => {
      await store.put(job("a"));
      expect(await store.reschedule(await leaseOne(AT), { runAt: AT + 5, attempts: 1 })).toBe(true);
      expect(await store.find("a")).toEqual(waiting(job("a", { runAt: AT + 5 }), 1));
      expect(await lease(AT + 4)).toEqual([]);
      const again = await leaseOne(AT + 5);
      expect(again).toMatchObject({ attempts: 2, payload: { step: 1 } });
      expect(await store.reschedule(again, { runAt: AT + 6, attempts: 0, payload: { step: 2 } })).toBe(true);
      expect(await store.find("a")).toEqual(waiting(job("a", { runAt: AT + 6, payload: { step: 2 } })));
    });

    test("gets a new payload while its lease goes on", async () => {
      await store.put(job("a"));
      const leased = await leaseOne(AT);
      expect(await store.rewrite(leased, { step: 2 })).toBe(true);
      expect(await store.find("a")).toEqual({ ...leased, payload: { step: 2 } });
      const others = await leaseOne(AT + 2 * LEASE);
      expect(await store.rewrite(leased, { step: 3 })).toBe(false);
      await store.finish(others);
      expect(await store.rewrite(others, { step: 4 })).toBe(false);
      expect(await store.find("a")).toBeUndefined();
    });

    test("is finished and removed, and its id is free for a new job", async () => {
      await store.put(job("a"));
      await store.put(job("b", { runAt: 9 * AT }));
      expect(await store.finish(await leaseOne(AT))).toBe(true);
      expect(await store.find("a")).toBeUndefined();
      expect(await store.find("b")).toBeDefined();
      expect(await store.put(job("a", { payload: { step: 7 } }))).toBe(true);
      expect(await leaseOne(AT)).toMatchObject({ attempts: 1, payload: { step: 7 } });
    });

    test("is still its holder's after the lease has run out, until another process takes it", async () => {
      await store.put(job("a"));
      const leased = await leaseOne(AT);
      expect(await store.renew(leased, AT + 9 * LEASE)).toBe(true);
      expect(await lease(AT + 5 * LEASE)).toEqual([]);
    });
  });

  /** The writes of a node that was paused past its lease. */
  const lateWrites: Record<string, (late: LeasedJob) => Promise<boolean>> = {
    renew: (late) => store.renew(late, 9 * AT),
    reschedule: (late) => store.reschedule(late, { runAt: 0, attempts: 0, payload: { step: "late" } }),
    finish: (late) => store.finish(late),
  };

  describe.each(Object.entries(lateWrites))("a late %s changes nothing", (_name, write) => {
    let late: LeasedJob;

    beforeEach(async () => {
      await store.put(job("a"));
      late = await leaseOne(AT);
    });

    async function expectRefused(): Promise<void> {
      const before = await store.find("a");
      expect(await write(late)).toBe(false);
      expect(await store.find("a")).toEqual(before as NonNullable<typeof before>);
    }

    test("while another has the job", async () => {
      await leaseOne(AT + LEASE + 1, await connect());
      await expectRefused();
    });

    test("while the same node has it again", async () => {
      await leaseOne(AT + LEASE + 1);
      await expectRefused();
    });

    test("once another has rescheduled it", async () => {
      await store.reschedule(await leaseOne(AT + LEASE + 1), { runAt: AT, attempts: 0 });
      await expectRefused();
    });

    test("once it has rescheduled the job itself", async () => {
      await store.reschedule(late, { runAt: AT, attempts: 0 });
      await expectRefused();
    });

    test("once another has finished it", async () => {
      await store.finish(await leaseOne(AT + LEASE + 1));
      expect(await write(late)).toBe(false);
      expect(await store.find("a")).toBeUndefined();
    });

    test("to a new job of the same id, leased as often", async () => {
      await store.finish(await leaseOne(AT + LEASE + 1));
      await store.put(job("a"));
      await leaseOne(AT);
      await expectRefused();
    });

    test("with the right token for another job", async () => {
      await store.put(job("b"));
      const other = await leaseOne(AT);
      expect(await write({ ...other, id: "a" })).toBe(false);
      expect(await write({ ...late, id: "b" })).toBe(false);
      expect(await store.find("a")).toEqual(late);
      expect(await store.find("b")).toEqual(other);
    });
  });

  test("random steps of three nodes: one valid lease a job at a time, and no job is lost", async () => {
    const step = fc.record({
      node: fc.nat(2),
      do: fc.constantFrom("lease", "lease", "renew", "reschedule", "finish"),
      back: fc.nat(3),
      wait: fc.constantFrom(0, 0, 10, LEASE, LEASE + 1, -LEASE),
    });
    const stores = [store, await connect(), await connect()];
    let runs = 0;
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      runs += 1;
      const kind = `kind-${runs}`;
      const paper = new Map<string, { token: string | undefined; until: number; runAt: number }>();
      const ids = [0, 1, 2].map((index) => `${kind}-${index}`);
      for (const id of ids) {
        await store.put(job(id, { kind }));
        paper.set(id, { token: undefined, until: 0, runAt: AT });
      }
      let at = AT;
      /** All leases so far, with the jobs as they were then. */
      const given: LeasedJob[] = [];
      for (const each of steps) {
        at += each.wait;
        const own = stores[each.node] ?? store;
        const leased = given.at(-1 - each.back);
        if (each.do === "lease") {
          const jobs = await lease(at, { kind, jobsMax: 2, from: own });
          const due = ids.filter((id) => {
            const row = paper.get(id);
            return row !== undefined && row.runAt <= at && (row.token === undefined || row.until < at);
          });
          expect(jobs).toHaveLength(Math.min(2, due.length));
          for (const taken of jobs) {
            expect(due).toContain(taken.id);
            paper.set(taken.id, { token: taken.lease.token, until: taken.lease.until, runAt: taken.runAt });
          }
          given.push(...jobs);
        } else if (leased !== undefined) {
          const row = paper.get(leased.id);
          const holds = row !== undefined && row.token === leased.lease.token;
          if (each.do === "renew") {
            expect(await own.renew(leased, at + LEASE)).toBe(holds);
            if (holds) row.until = at + LEASE;
          } else if (each.do === "finish") {
            expect(await own.finish(leased)).toBe(holds);
            if (holds) paper.delete(leased.id);
          } else {
            expect(await own.reschedule(leased, { runAt: at + 10, attempts: 0 })).toBe(holds);
            if (holds) paper.set(leased.id, { token: undefined, until: 0, runAt: at + 10 });
          }
        }
      }
      for (const id of ids) {
        const row = paper.get(id);
        const found = await store.find(id);
        expect(found?.lease?.token).toBe(row?.token as string);
        expect(found?.runAt).toBe(row?.runAt as number);
      }
    });
    await fc.assert(property, { numRuns: 40 });
    const [halves] = await query<{ jobs: bigint }>(
      storages[0] as Storage,
      `SELECT count(*) AS jobs FROM jobs WHERE (lease_token IS NULL) <> (lease_until IS NULL)
        OR (lease_token IS NULL) <> (lease_node IS NULL)`,
    );
    expect(halves).toEqual({ jobs: 0n });
  });
});
