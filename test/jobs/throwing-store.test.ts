/** A store that throws at once, instead of rejecting, ends neither the process nor what its timers keep. */
import { expect, test } from "bun:test";
import { type JobStore, keepLease } from "../../src/jobs/index.ts";
import { until } from "../kit/index.ts";
import { job, LEASE, message, POLL, sharedJobRig } from "./rig.ts";

const locked = new Error("the database is locked");

const scene = sharedJobRig("SQLite");

/** Breaks a method of the store, until the returned function is called. */
function breakStore(store: JobStore, name: keyof JobStore): () => void {
  const works = { [name]: store[name] };
  const broken = (): never => {
    throw locked;
  };
  Object.assign(store, { [name]: broken });
  return () => void Object.assign(store, works);
}

test.each([["due"], ["lease"], ["renew"], ["finish"], ["reschedule"]] as const)(
  "%s: the runner reports it, and goes on once the store works again",
  async (name) => {
    const { rig } = scene;
    await rig.store.put(job("a"));
    const isAtStart = name === "due" || name === "lease";
    const repairEarly = isAtStart ? breakStore(rig.store, name) : undefined;
    rig.start();
    if (!isAtStart) {
      const run = await rig.gate.nth(1);
      const repair = breakStore(rig.store, name);
      if (name === "renew") rig.pass(LEASE / 2);
      else run.end(name === "finish" ? { done: true } : { again: {}, afterMs: 0 });
      await until("it is reported", () => rig.errors.length > 0);
      repair();
      if (name === "renew") run.end({ done: true });
    } else {
      await until("it is reported", () => rig.errors.length > 0);
      repairEarly?.();
    }
    expect(rig.errors[0]).toEqual([locked.message, isAtStart ? undefined : "a"]);
    if (name !== "renew") {
      rig.pass(isAtStart ? POLL : LEASE + POLL);
      (await rig.gate.nth(isAtStart ? 1 : 2)).end({ done: true });
    }
    await rig.gone("a");
  },
);

test("a lease that is kept outside of the runner is renewed by the next attempt", async () => {
  const { rig } = scene;
  const lease = { token: "t", node: "n", until: rig.clock + LEASE };
  await rig.store.put(job("a"), lease);
  const errors: unknown[] = [];
  const planned: (() => void)[] = [];
  const ticker = {
    after: (_: number, run: () => void) => {
      planned.push(run);
      return () => undefined;
    },
  };
  const repair = breakStore(rig.store, "renew");
  const keeping = { jobs: rig.store, ticker, clock: () => rig.clock, leaseMs: LEASE };
  const stop = keepLease(
    { ...keeping, onError: (reason) => errors.push(message(reason)) },
    { ...job("a"), attempts: 0, lease },
  );
  planned.shift()?.();
  await until("another attempt is planned", () => planned.length > 0);
  expect(errors).toEqual([locked.message]);
  repair();
  rig.pass(LEASE / 4);
  planned.shift()?.();
  await until("the lease is renewed", async () => (await rig.store.find("a"))?.lease?.until === rig.clock + LEASE);
  stop();
});
