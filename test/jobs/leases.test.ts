/** A runner's leases: renewed, lost, and given back when it stops. */
import { beforeEach, describe, expect, test } from "bun:test";
import type { Job } from "../../src/jobs/index.ts";
import { engines, until } from "../kit/index.ts";
import { done, Gate, job, type JobRig, KIND, LEASE, message, sharedJobRig, START } from "./rig.ts";

describe.each(engines)("a runner on %s", (engine) => {
  const shared = sharedJobRig(engine);
  let rig: JobRig;
  beforeEach(() => {
    ({ rig } = shared);
  });

  describe("a lease", () => {
    test("is renewed during a long run, and no other node gets the job", async () => {
      await rig.store.put(job("a"));
      rig.start();
      const run = await rig.gate.nth(1);
      const others = new Gate();
      for (let round = 0; round < 8; round += 1) {
        rig.pass(LEASE / 3);
        const due = rig.clock + LEASE;
        await until("it is renewed", async () => (await rig.store.find("a"))?.lease?.until === due);
        if (round === 3) rig.start("n2", new Map([[KIND, others]]));
      }
      expect(run.signal.aborted).toBe(false);
      run.end(done);
      await rig.gone("a");
      expect(others.runs).toEqual([]);
    });

    test("is renewed after the wall clock was set back, and the job goes on by the new time", async () => {
      await rig.store.put(job("a"));
      rig.start();
      const run = await rig.gate.nth(1);
      rig.clock -= 3_600_000;
      rig.elapsed += LEASE / 3;
      await until("it is renewed", async () => (await rig.store.find("a"))?.lease?.until === rig.clock + LEASE);
      expect(run.signal.aborted).toBe(false);
      run.end({ again: {}, afterMs: 5_000 });
      expect(await rig.waiting("a")).toMatchObject({ runAt: rig.clock + 5_000 });
      rig.pass(5_000);
      await rig.gate.nth(2);
    });

    test("that another node has taken aborts the run, and its result is ignored", async () => {
      rig.gate.listens = false;
      await rig.store.put(job("a"));
      rig.start("paused");
      const late = await rig.gate.nth(1);
      // During the pause of this process another one takes the job.
      const lease = { token: "other", node: "n2", until: rig.clock + 3 * LEASE };
      const [taken] = await rig.store.lease({ ids: ["a"], lease, at: rig.clock + LEASE + 1 });
      expect(taken).toMatchObject({ id: "a", attempts: 2 });
      rig.pass(LEASE / 3);
      await until("it is noticed", () => late.signal.aborted);
      expect(message(late.signal.reason)).toBe("the lease of job a is lost");
      late.end({ again: { late: true }, afterMs: 0 });
      await rig.looked();
      expect(await rig.store.find("a")).toEqual(taken as Job);
    });

    test("that is lost does not give the job up, although it was the last attempt", async () => {
      rig.gate.attemptsMax = 1;
      await rig.store.put(job("a"));
      rig.start("paused");
      const late = await rig.gate.nth(1);
      const lease = { token: "other", node: "n2", until: rig.clock + 3 * LEASE };
      const [taken] = await rig.store.lease({ ids: ["a"], lease, at: rig.clock + LEASE + 1 });
      rig.pass(LEASE / 3);
      await until("it is noticed", () => late.signal.aborted);
      await rig.looked();
      expect(rig.gate.givenUp).toEqual([]);
      expect(await rig.store.find("a")).toEqual(taken as Job);
    });

    test("that can't be renewed is retried, and aborts the run when it has run out", async () => {
      await rig.store.put(job("a"));
      const renew = rig.store.renew.bind(rig.store);
      let away = true;
      rig.store.renew = (...renewal) => (away ? Promise.reject(new Error("the storage is away")) : renew(...renewal));
      rig.start();
      const run = await rig.gate.nth(1);
      rig.pass(LEASE / 3);
      await until("the error is reported", () => rig.errors.length > 0);
      expect(rig.errors).toEqual([["the storage is away", "a"]]);
      expect(run.signal.aborted).toBe(false);
      away = false;
      rig.pass(LEASE / 12);
      await until(
        "the next try renews it",
        async () => (await rig.store.find("a"))?.lease?.until === rig.clock + LEASE,
      );
      away = true;
      const reported = rig.errors.length;
      rig.pass(LEASE - 1);
      await until("it is tried again", () => rig.errors.length > reported);
      expect(run.signal.aborted).toBe(false);
      rig.pass(1);
      await until("it ends", () => run.signal.aborted);
      // No other node has taken the job, so the failure is stored.
      expect(await rig.waiting("a")).toMatchObject({ attempts: 1, runAt: rig.clock + 500 });
    });

    test("is not renewed after runMsMax: the run is aborted, and later another one begins", async () => {
      rig.gate.listens = false;
      rig.gate.runMsMax = LEASE;
      await rig.store.put(job("a"));
      rig.start("hung");
      const hung = await rig.gate.nth(1);
      rig.pass(LEASE - 1);
      await until("it is renewed", async () => (await rig.store.find("a"))?.lease?.until === rig.clock + LEASE);
      rig.pass(1);
      await until("it is aborted", () => hung.signal.aborted);
      expect(message(hung.signal.reason)).toBe("job a takes too long");
      rig.pass(LEASE);
      const next = await rig.gate.nth(2);
      expect(next.job).toMatchObject({ id: "a", attempts: 2 });
      hung.end(done);
      await rig.looked();
      expect(await rig.store.find("a")).toMatchObject({ attempts: 2 });
      next.end(done);
      await rig.gone("a");
    });
  });

  describe("when it stops", () => {
    test("it takes no more jobs and waits for its runs", async () => {
      await rig.store.put(job("a"));
      const runner = rig.start();
      const run = await rig.gate.nth(1);
      await rig.store.put(job("b"));
      const stopped = runner.stop(50_000);
      runner.wake(KIND);
      rig.pass(LEASE / 3);
      await until(
        "the lease is renewed meanwhile",
        async () => (await rig.store.find("a"))?.lease?.until === rig.clock + LEASE,
      );
      run.end(done);
      expect(await stopped).toBe(0);
      expect(await rig.store.find("a")).toBeUndefined();
      expect(await rig.store.find("b")).toMatchObject({ attempts: 0, lease: undefined });
    });

    test("a run that does not end in time is aborted, and its job given back without counting the attempt", async () => {
      rig.gate.attemptsMax = 1;
      await rig.store.put(job("a", { payload: { step: 1 } }));
      const runner = rig.start();
      const run = await rig.gate.nth(1);
      const stopped = runner.stop(5_000);
      rig.pass(5_000);
      expect(await stopped).toBe(0);
      expect(message(run.signal.reason)).toBe("the job runner stops");
      expect(await rig.store.find("a")).toMatchObject({
        attempts: 0,
        lease: undefined,
        runAt: START,
        payload: { step: 1 },
      });
      expect([rig.gate.givenUp, rig.errors]).toEqual([[], []]);
      rig.start("n2");
      (await rig.gate.nth(2)).end(done);
      await rig.gone("a");
    });

    test("a run that succeeds after its abort is done", async () => {
      rig.gate.listens = false;
      await rig.store.put(job("a"));
      const runner = rig.start();
      const run = await rig.gate.nth(1);
      const stopped = runner.stop(0);
      rig.pass(1);
      await until("it is aborted", () => run.signal.aborted);
      run.end(done);
      expect(await stopped).toBe(0);
      expect(await rig.store.find("a")).toBeUndefined();
    });

    test("a run that ignores its signal keeps its lease", async () => {
      rig.gate.listens = false;
      await rig.store.put(job("a"));
      const runner = rig.start();
      const run = await rig.gate.nth(1);
      const stopped = runner.stop(0);
      rig.pass(1);
      await until("it is aborted", () => run.signal.aborted);
      rig.pass(2_000);
      expect(await stopped).toBe(1);
      expect(await rig.store.find("a")).toMatchObject({ attempts: 1, lease: { node: "n1" } });
    });

    test("a job that was leased during the stop is given back", async () => {
      await rig.store.put(job("a"));
      const asked = Promise.withResolvers<void>();
      const answer = Promise.withResolvers<void>();
      const lease = rig.store.lease.bind(rig.store);
      rig.store.lease = async (request) => {
        const jobs = await lease(request);
        asked.resolve();
        await answer.promise;
        return jobs;
      };
      const runner = rig.start();
      await asked.promise;
      const stopped = runner.stop(5_000);
      answer.resolve();
      expect(await stopped).toBe(0);
      expect(rig.gate.runs).toEqual([]);
      expect(await rig.store.find("a")).toMatchObject({ attempts: 0, lease: undefined });
    });
  });
});
