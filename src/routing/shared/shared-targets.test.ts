import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Circuits } from "../health/circuits.ts";
import { KeyPool, keyIdOf } from "../key-pool.ts";
import { type OverrideChanges, Overrides } from "../health/overrides.ts";
import { SharedTargets } from "./shared-targets.ts";
import { readSharedKeyId, sharedKeyId, type TargetOverride, type TargetState, type TargetStore } from "./store.ts";

const id = "a/m one.example/v1";
const failed = { retryAfterMs: undefined };

/** The storage of several processes; a test decides when it reports a change, and whether it answers. */
class FakeStore implements TargetStore {
  readonly states = new Map<string, TargetState>();
  readonly byTarget = new Map<string, TargetOverride>();
  isDown = false;
  reads = 0;
  writes = 0;

  async putState(state: TargetState): Promise<void> {
    this.#answer();
    this.writes += 1;
    this.states.set(state.id, state);
  }
  async statesSince(changedAt: number): Promise<TargetState[]> {
    this.#answer();
    this.reads += 1;
    return [...this.states.values()].filter((state) => state.changedAt >= changedAt);
  }
  async removeStatesBefore(changedAt: number): Promise<void> {
    this.#answer();
    for (const state of this.states.values()) if (state.changedAt < changedAt) this.states.delete(state.id);
  }
  async putOverride(override: TargetOverride): Promise<void> {
    this.byTarget.set(override.target, override);
  }
  async overrides(now: number): Promise<TargetOverride[]> {
    this.#answer();
    return [...this.byTarget.values()].filter(({ until }) => until === undefined || until > now);
  }
  #answer(): void {
    if (this.isDown) throw new Error("down");
  }
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
};

function scene(count = 2) {
  let now = 1_000_000_000;
  const clock = (): number => now;
  const store = new FakeStore();
  const listeners = new Set<() => void>();
  const processes = Array.from({ length: count }, (_, number) => {
    const circuits = new Circuits({ clock, random: () => 0, onChange: () => undefined });
    const keys = new KeyPool(["k", "l"], clock, {
      onChange: (key, change) => shared.learnKey(sharedKeyId("a", key), change),
    });
    const overrides = new Overrides(clock);
    const changes: OverrideChanges[] = [];
    const failures: unknown[] = [];
    const shared: SharedTargets = new SharedTargets({
      store,
      onForeignChange(callback) {
        listeners.add(callback);
        return () => listeners.delete(callback);
      },
      clock,
      every: () => () => undefined,
      process: `p${number}`,
      circuits,
      overrides,
      adoptKey: (key, state, changedAt) => keys.adopt(readSharedKeyId(key), state, changedAt),
      onOverrides: (change) => void changes.push(change),
      onFailure: (reason) => void failures.push(reason),
    });
    const fail = (): void => [1, 2, 3].forEach(() => circuits.note(circuits.force(id), failed));
    return { circuits, keys, overrides, changes, failures, shared, fail };
  });
  /** Everything is written, reported to all, and read. */
  const settle = async (): Promise<void> => {
    await turns();
    for (const report of listeners) report();
    await turns();
  };
  const pass = (milliseconds: number): void => {
    now += milliseconds;
  };
  const [one, two] = processes;
  if (one === undefined || two === undefined) throw new Error("two processes at least");
  return { store, processes, one, two, settle, pass, clock, listeners };
}

describe("a circuit", () => {
  test("that opens in one process opens in the others, for as long, and closes there when it works in one", async () => {
    const { one, two, settle, pass } = scene();
    one.fail();
    await settle();
    expect(two.circuits.admit(id)).toBeUndefined();
    pass(4_999);
    expect(two.circuits.admit(id)).toBeUndefined();
    pass(1);
    expect([one.circuits.admit(id)?.isProbe, two.circuits.admit(id)?.isProbe]).toEqual([true, true]);
    one.circuits.note(one.circuits.force(id), "works");
    await settle();
    expect([two.circuits.isOpen(id), two.circuits.open]).toEqual([false, 1]);
    pass(8_000);
    expect(two.circuits.open).toBe(0);
  });

  test("is not closed in another process by a call from before it opened", async () => {
    const { one, two, settle } = scene();
    const early = two.circuits.admit(id);
    one.fail();
    await settle();
    if (early !== undefined) two.circuits.note(early, "works");
    expect(two.circuits.isOpen(id)).toBe(true);
  });

  test("that was open before is so for a process that begins later", async () => {
    const { one, settle, store, clock } = scene();
    one.fail();
    await settle();
    const circuits = new Circuits({ clock, random: () => 0, onChange: () => undefined });
    const shared = new SharedTargets({
      store,
      onForeignChange: () => () => undefined,
      clock,
      every: () => () => undefined,
      process: "later",
      circuits,
      overrides: new Overrides(clock),
      adoptKey: () => undefined,
      onOverrides: () => undefined,
      onFailure: () => undefined,
    });
    await shared.read();
    expect(circuits.isOpen(id)).toBe(true);
  });

  test("that another process claims to be open for years is open for ten minutes", async () => {
    const { two, store, settle, pass, clock } = scene();
    const state = {
      id,
      kind: "open",
      openUntil: clock() + 1e12,
      pauseMs: 1e12,
      process: "odd",
      changedAt: clock(),
    } as const;
    await store.putState(state);
    await settle();
    pass(600_000);
    expect(two.circuits.admit(id)?.isProbe).toBe(true);
  });
});

test("a key that is refused in one process rests in the others, until it works in one", async () => {
  const { one, two, settle } = scene();
  const key = { id: keyIdOf("k"), secret: "k", cachedHeaders: [] };
  for (let times = 0; times < 3; times += 1) one.keys.note(key, { name: "key_refused", retryAfterMs: undefined });
  await settle();
  expect([two.keys.acquire()?.secret, two.keys.acquire()?.secret]).toEqual(["l", "l"]);
  one.keys.noteAnswer(key, undefined);
  await settle();
  expect(new Set([two.keys.acquire()?.secret, two.keys.acquire()?.secret])).toEqual(new Set(["k", "l"]));
});

test("what an operator disables is known to all, each change once, and ends by itself", async () => {
  const { one, store, settle, pass, clock } = scene();
  const override = { target: "a", until: clock() + 60_000, reason: "slow", actor: "cli:me", createdAt: clock() };
  await store.putOverride(override);
  await settle();
  await settle();
  expect(() => one.overrides.require("a", "m")).toThrow("The operator of the gateway has disabled a.");
  expect(() => one.overrides.require("b", "m")).not.toThrow();
  pass(60_000);
  expect(() => one.overrides.require("a", "m")).not.toThrow();
  await settle();
  expect(one.changes).toEqual([
    { disabled: [override], enabled: [] },
    { disabled: [], enabled: ["a"] },
  ]);
});

test("a key that was refused before the processes began is asked, and found to work", async () => {
  const { one, two, store, settle, clock } = scene();
  const shared = sharedKeyId("a", { keyId: keyIdOf("k"), operation: "/chat" });
  const changedAt = clock() - 36_000_000;
  store.states.set(shared, { id: shared, kind: "refused", openUntil: 0, pauseMs: 0, process: "gone", changedAt });
  await settle();
  const refused = [{ keyId: keyIdOf("k"), operation: "/chat" }];
  expect([one.keys.refused, two.keys.refused]).toEqual([refused, refused]);
  const asked = ["first", "second", "third"].map(() => one.keys.acquire(undefined, "/chat")?.secret);
  expect(asked.filter((secret) => secret === "k")).toHaveLength(1);
  one.keys.noteAnswer({ id: keyIdOf("k"), secret: "k", cachedHeaders: [] }, undefined, "/chat");
  await settle();
  expect([store.states.get(shared)?.kind, one.keys.refused, two.keys.refused]).toEqual(["repaired", [], []]);
});

describe("the storage", () => {
  test("that does not answer is reported once, and each process goes on alone", async () => {
    const { one, two, store, settle, pass } = scene();
    store.isDown = true;
    one.fail();
    for (let times = 0; times < 4; times += 1) await settle();
    expect([one.circuits.isOpen(id), two.circuits.isOpen(id), one.failures.length]).toEqual([true, false, 1]);
    store.isDown = false;
    pass(5_000);
    one.circuits.note(one.circuits.force(id), failed);
    await settle();
    expect([two.circuits.isOpen(id), one.failures.length]).toEqual([true, 1]);
  });

  test("is read at most twice for any number of reports at once, and never for a call", async () => {
    const { one, store, settle, listeners } = scene();
    await settle();
    store.reads = 0;
    const [report] = listeners;
    for (let times = 0; times < 100; times += 1) report?.();
    await turns();
    expect(store.reads).toBe(2);
    for (let times = 0; times < 100; times += 1) one.circuits.admit(id);
    expect(store.reads).toBe(2);
  });

  test("keeps no more than the last change of each target", async () => {
    const { one, store, settle, pass } = scene();
    for (let times = 0; times < 20; times += 1) {
      one.fail();
      pass(60_000);
    }
    await settle();
    expect([...store.states.keys()]).toEqual([id]);
  });
});

/** By seed: calls in three processes end in any way, the storage fails, and reports come late. */
test("whatever happens, all processes are of one mind in the end", async () => {
  const step = fc.record({
    process: fc.nat(2),
    what: fc.constantFrom("fails", "works", "settles", "storage"),
    passes: fc.nat(8_000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { processes, store, settle, pass } = scene(3);
      for (const { process, what, passes } of steps) {
        const circuits = processes[process]?.circuits;
        if (what === "settles") await settle();
        else if (what === "storage") store.isDown = !store.isDown;
        else circuits?.note(circuits.force(id), what === "works" ? "works" : failed);
        pass(passes);
      }
      store.isDown = false;
      pass(600_000);
      for (const { circuits } of processes) {
        circuits.note(circuits.force(id), "works");
        await settle();
      }
      pass(8_000);
      expect(processes.map(({ circuits }) => circuits.open)).toEqual([0, 0, 0]);
      // An opening in any of them opens all.
      processes[1]?.fail();
      await settle();
      expect(processes.map(({ circuits }) => circuits.isOpen(id))).toEqual([true, true, true]);
    }),
    { numRuns: 40 },
  );
});
