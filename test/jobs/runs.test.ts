/** A runner's jobs: taken when they are due, run again, retried and given up. */
import { beforeEach, describe, expect, test } from "bun:test";
import { engines, until } from "../kit/index.ts";
import { done, Gate, job, type JobRig, KIND, LEASE, POLL, sharedJobRig, START } from "./rig.ts";

describe.each(engines)("a runner on %s", (engine) => {
  const shared = sharedJobRig(engine);
  let rig: JobRig;
  beforeEach(() => {
    ({ rig } = shared);
  });

  describe("runs", () => {
    test("jobs that are due at its start, that become due, and that it is woken for", async () => {
      await rig.store.put(job("due"));
      await rig.store.put(job("later", { runAt: START + 5_000 }));
      const runner = rig.start();
      (await rig.gate.nth(1)).end(done);
      await rig.gone("due");
      rig.pass(4_999);
      await rig.looked();
      expect(rig.gate.ids).toEqual(["due"]);
      rig.pass(POLL);
      expect((await rig.gate.nth(2)).job).toMatchObject({ id: "later", attempts: 1, owner: "alice" });
      await rig.store.put(job("woken"));
      runner.wake(KIND);
      expect((await rig.gate.nth(3)).job.id).toBe("woken");
      expect(rig.errors).toEqual([]);
    });

    test("no job of a kind without a handler", async () => {
      await rig.store.put(job("other", { kind: "unknown", runAt: 0 }));
      rig.start().wake("unknown");
      await rig.looked();
      expect(await rig.store.find("other")).toMatchObject({ attempts: 0, lease: undefined });
    });

    test("a job again with the payload of its result, until it is done", async () => {
      await rig.store.put(job("a", { payload: { step: 1 } }));
      rig.start();
      (await rig.gate.nth(1)).end({ again: { step: 2 }, afterMs: 3_000 });
      expect(await rig.waiting("a")).toMatchObject({ payload: { step: 2 }, runAt: START + 3_000, attempts: 0 });
      rig.pass(2_999);
      await rig.looked();
      expect(rig.gate.runs).toHaveLength(1);
      rig.pass(POLL);
      expect((await rig.gate.nth(2)).job).toMatchObject({ payload: { step: 2 }, attempts: 1 });
      // At once, without waiting for the next look.
      rig.gate.runs[1]?.end({ again: { step: 3 }, afterMs: 0 });
      (await rig.gate.nth(3)).end(done);
      expect(rig.gate.runs[2]?.job).toMatchObject({ payload: { step: 3 } });
      await rig.gone("a");
    });

    test("at most concurrencyMax jobs of a kind at the same time, in the order of their runAt", async () => {
      rig.gate.concurrencyMax = 2;
      for (let index = 0; index < 6; index += 1) {
        await rig.store.put(job(`j${index}`, { runAt: START - index, owner: `user${index}` }));
      }
      rig.start();
      await rig.gate.nth(2);
      expect(await rig.store.find("j3")).toMatchObject({ lease: undefined });
      rig.gate.runs[1]?.end(done);
      await rig.gate.nth(3);
      rig.gate.runs[0]?.end(done);
      await rig.gate.nth(4);
      expect(rig.gate.ids).toEqual(["j5", "j4", "j3", "j2"]);
      for (const run of rig.gate.runs) run.end(done);
      for (const run of [await rig.gate.nth(5), await rig.gate.nth(6)]) run.end(done);
      for (let index = 0; index < 6; index += 1) await rig.gone(`j${index}`);
    });

    test("leave the last place to an owner that has none, however many jobs of another are due", async () => {
      rig.gate.concurrencyMax = 4;
      for (let index = 0; index < 300; index += 1) await rig.store.put(job(`a${index}`, { runAt: START - 1 }));
      const runner = rig.start();
      await rig.gate.nth(3);
      await rig.store.put(job("b1", { owner: "bob" }));
      await rig.store.put(job("b2", { owner: "bob" }));
      await rig.store.put(job("c1", { owner: "carol" }));
      runner.wake(KIND);
      expect((await rig.gate.nth(4)).job.id).toBe("b1");
      // Alice was served longest ago, and has her share: carol has none.
      rig.gate.runs[0]?.end(done);
      expect((await rig.gate.nth(5)).job.id).toBe("c1");
      for (const run of rig.gate.runs.splice(0)) run.end(done);
      await runner.stop(0);
    });

    test("a kind although another one is at its bound", async () => {
      const other = new Gate();
      rig.gate.concurrencyMax = 1;
      await rig.store.put(job("a"));
      await rig.store.put(job("b"));
      await rig.store.put(job("c", { kind: "other" }));
      rig.start(
        "n1",
        new Map([
          [KIND, rig.gate],
          ["other", other],
        ]),
      );
      (await other.nth(1)).end(done);
      await rig.gone("c");
      expect(rig.gate.ids).toEqual(["a"]);
    });
  });

  describe("a run that fails", () => {
    test("is retried after growing waits with the same payload, and then given up", async () => {
      await rig.store.put(job("a", { payload: { step: 1 } }));
      rig.start();
      for (const [attempt, wait] of [
        [1, 500],
        [2, 1_000],
      ] as const) {
        (await rig.gate.nth(attempt)).fail(new Error(`failure ${attempt}`));
        expect(await rig.waiting("a")).toMatchObject({
          runAt: rig.clock + wait,
          attempts: attempt,
          payload: { step: 1 },
        });
        rig.pass(wait - 1);
        await rig.looked();
        expect(rig.gate.runs).toHaveLength(attempt);
        rig.pass(POLL);
      }
      (await rig.gate.nth(3)).fail(new Error("the last"));
      await rig.gone("a");
      expect(rig.gate.givenUp).toMatchObject([
        { job: { id: "a", attempts: 3, payload: { step: 1 } }, reason: "the last" },
      ]);
      expect(rig.errors).toEqual([
        ["failure 1", "a"],
        ["failure 2", "a"],
        ["the last", "a"],
      ]);
    });

    test("counts from one again after a run that succeeded", async () => {
      await rig.store.put(job("a"));
      rig.start();
      for (let round = 0; round < 3; round += 1) {
        (await rig.gate.nth(2 * round + 1)).fail(new Error("now and then"));
        await rig.waiting("a");
        rig.pass(POLL);
        (await rig.gate.nth(2 * round + 2)).end({ again: {}, afterMs: 0 });
      }
      expect((await rig.gate.nth(7)).job.attempts).toBe(1);
      expect(rig.gate.givenUp).toEqual([]);
    });

    test("may throw synchronously, and any value", async () => {
      rig.gate.attemptsMax = 1;
      rig.gate.run = () => {
        // eslint-disable-next-line typescript/only-throw-error -- what a library may do
        throw "a text";
      };
      await rig.store.put(job("a"));
      rig.start();
      await rig.gone("a");
      expect(rig.gate.givenUp).toMatchObject([{ reason: "a text" }]);
    });

    test("is given up again until onExhausted succeeds", async () => {
      rig.gate.attemptsMax = 1;
      const { onExhausted } = rig.gate;
      let refusals = 2;
      rig.gate.onExhausted = async (exhausted, reason) => {
        refusals -= 1;
        if (refusals >= 0) throw new Error("the ledger is away");
        return onExhausted(exhausted, reason);
      };
      await rig.store.put(job("a"));
      rig.start();
      (await rig.gate.nth(1)).fail(new Error("poison"));
      for (const attempts of [1, 2]) {
        expect(await until("it waits", async () => (await rig.waiting("a")).attempts === attempts)).toBe(true);
        rig.pass(300_000);
      }
      await rig.gone("a");
      expect(rig.gate.runs).toHaveLength(1);
      expect(rig.gate.givenUp).toMatchObject([{ job: { attempts: 3 }, reason: undefined }]);
      expect(rig.errors).toEqual([
        ["poison", "a"],
        ["the ledger is away", "a"],
        ["the ledger is away", "a"],
      ]);
    });

    test("whose process died counts like one that threw", async () => {
      await rig.store.put(job("a"));
      for (const attempt of [1, 2, 3]) {
        const lease = { token: `dead-${attempt}`, node: "dead", until: rig.clock + 5 };
        expect(await rig.store.lease({ ids: ["a"], lease, at: rig.clock })).toHaveLength(1);
        rig.pass(6);
      }
      rig.start();
      await rig.gone("a");
      expect(rig.gate.runs).toEqual([]);
      expect(rig.gate.givenUp).toMatchObject([{ job: { id: "a", attempts: 4 }, reason: undefined }]);
    });

    test("with a payload that can't be stored is retried", async () => {
      await rig.store.put(job("a"));
      rig.start();
      (await rig.gate.nth(1)).end({ again: { amount: 1n }, afterMs: 0 });
      await until("the error is reported", () => rig.errors.length === 1);
      expect(rig.errors).toEqual([[expect.stringContaining("BigInt"), "a"]]);
      rig.pass(LEASE + 1);
      expect((await rig.gate.nth(2)).job).toMatchObject({ attempts: 2, payload: {} });
    });
  });

  test("an unavailable storage is reported at each poll, and polling goes on", async () => {
    await rig.store.put(job("a"));
    const lease = rig.store.lease.bind(rig.store);
    let away = true;
    rig.store.lease = (request) => (away ? Promise.reject(new Error("away")) : lease(request));
    rig.start();
    for (const looks of [1, 2, 3]) {
      await until("the error is reported", () => rig.errors.length === looks);
      rig.pass(POLL);
    }
    away = false;
    rig.pass(POLL);
    expect((await rig.gate.nth(1)).job.attempts).toBe(1);
    expect(rig.errors.slice(0, 3)).toEqual([1, 2, 3].map(() => ["away", undefined]));
  });
});
