import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Admission, circuitIdOf, Circuits, type CircuitOutcome, modelOfCircuit } from "./circuits.ts";

const id = "a/m";
const failed: CircuitOutcome = { retryAfterMs: undefined };

function scene(seed = 1) {
  let [now, state] = [1_000_000, seed];
  const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const changes: unknown[] = [];
  const onChange = (_: string, change: unknown): void => void changes.push(change);
  const circuits = new Circuits({ clock: () => now, random, onChange });
  const call = (outcome: CircuitOutcome): boolean => {
    const admission = circuits.admit(id);
    if (admission !== undefined) circuits.note(admission, outcome);
    return admission !== undefined;
  };
  const pass = (milliseconds: number): void => {
    now += milliseconds;
  };
  /** Three failures in a row. */
  const open = (): void => [1, 2, 3].forEach(() => call(failed));
  return { circuits, changes, call, pass, open, random, now: () => now };
}

test("open circuits are counted until their targets work again", () => {
  const { circuits, call, open, pass } = scene();
  expect(circuits.open).toBe(0);
  open();
  expect(circuits.open).toBe(1);
  pass(5_000);
  call("works");
  expect(circuits.open).toBe(1);
  pass(8_000);
  call("works");
  expect(circuits.open).toBe(0);
});

test("a target that works again is due before one that is left out, for the calls that its ramp leaves aside", () => {
  const { circuits, call, open, pass } = scene();
  open();
  pass(5_000);
  call("works");
  for (let time = 0; time < 3; time += 1) circuits.note(circuits.force("b/m"), failed);
  expect(circuits.dueAt(id)).toBeLessThan(circuits.dueAt("b/m"));
});

describe("a circuit opens", () => {
  test("after three failures in a row", () => {
    const { call, changes } = scene();
    expect([call(failed), call(failed), call("works"), call(failed), call(failed)]).toEqual(
      Array<boolean>(5).fill(true),
    );
    expect([call(failed), call(failed), changes]).toEqual([true, false, [{ openMs: 5_000 }]]);
  });

  test("after half of ten within 30 s, and not of older ones", () => {
    const quick = scene();
    const outcomes: CircuitOutcome[] = [failed, failed, "works", "works", failed, failed, "works", "works", "works"];
    for (const outcome of outcomes) quick.call(outcome);
    expect(quick.changes).toEqual([]);
    quick.call(failed);
    expect(quick.changes).toEqual([{ openMs: 5_000 }]);
    const slow = scene();
    for (const outcome of [...outcomes, failed]) {
      slow.call(outcome);
      slow.pass(4_000);
    }
    expect(slow.changes).toEqual([]);
  });

  test("for longer if the upstream asks for it, within a bound", () => {
    const { circuits, call, changes } = scene();
    call(failed);
    call(failed);
    call({ retryAfterMs: 40_000 });
    expect([circuits.admit(id), changes]).toEqual([undefined, [{ openMs: 40_000 }]]);
    const far = scene();
    for (let times = 0; times < 3; times += 1) far.call({ retryAfterMs: 1e12 });
    expect(far.changes).toEqual([{ openMs: 600_000 }]);
  });
});

describe("an open circuit", () => {
  test("lets one call through after its pause, of any number at once", () => {
    const { circuits, open, pass } = scene();
    open();
    pass(4_999);
    expect(circuits.admit(id)).toBeUndefined();
    pass(1);
    const admitted = Array.from({ length: 500 }, () => circuits.admit(id)).filter((each) => each !== undefined);
    expect(admitted).toMatchObject([{ isProbe: true }]);
  });

  test("lets another one through if the first never ends", () => {
    const { circuits, open, pass } = scene();
    open();
    pass(5_000);
    expect(circuits.admit(id)?.isProbe).toBe(true);
    pass(9_999);
    expect(circuits.admit(id)).toBeUndefined();
    pass(1);
    expect(circuits.admit(id)?.isProbe).toBe(true);
  });

  test("is open for twice as long after each failure, up to a minute", () => {
    const { call, changes, open, pass } = scene();
    open();
    for (let times = 0; times < 6; times += 1) {
      pass(60_000);
      call(failed);
    }
    expect(changes).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000].map((openMs) => ({ openMs })));
  });

  test("lets a call through that has no other target, and names when it is due", () => {
    const { circuits, open, now } = scene();
    open();
    expect(circuits.force(id)).toMatchObject({ id, isProbe: false });
    expect([circuits.dueAt(id), circuits.dueAt("b/m")]).toEqual([now() + 5_000, 0]);
  });

  test("is not closed by a call that began before it opened", () => {
    const { circuits, open, pass } = scene();
    const early = circuits.admit(id);
    open();
    pass(5_000);
    if (early !== undefined) circuits.note(early, "works");
    expect(circuits.admit(id)?.isProbe).toBe(true);
    expect(circuits.admit(id)).toBeUndefined();
    // Nor is it opened for longer.
    if (early !== undefined) circuits.note(early, failed);
    pass(10_000);
    expect(circuits.admit(id)?.isProbe).toBe(true);
  });

  test("which has closed again is not opened by calls that began before", () => {
    const { circuits, call, changes, open, pass } = scene();
    const early = Array.from({ length: 20 }, () => circuits.admit(id));
    open();
    pass(5_000);
    call("works");
    pass(8_000);
    expect([call("works"), changes.at(-1)]).toEqual([true, "closed"]);
    for (const admission of early) if (admission !== undefined) circuits.note(admission, failed);
    expect([call("works"), circuits.open, changes.length]).toEqual([true, 0, 2]);
  });

  test("lets the next call through at once if the one that it let through was never asked, or was at fault itself", () => {
    const { circuits, open, pass } = scene();
    open();
    pass(5_000);
    for (let times = 0; times < 5; times += 1) {
      const probe = circuits.admit(id);
      expect([probe?.isProbe, circuits.admit(id)]).toEqual([true, undefined]);
      if (probe !== undefined) circuits.note(probe, "none");
    }
  });
});

describe("calls without another target", () => {
  test("do not lengthen the pause, however many fail in it, unless the upstream asks for more", () => {
    const { circuits, changes, open, pass, now } = scene();
    open();
    for (let times = 0; times < 100; times += 1) {
      pass(40);
      circuits.note(circuits.force(id), failed);
    }
    expect([circuits.dueAt(id) - now(), changes]).toEqual([1_000, [{ openMs: 5_000 }]]);
    circuits.note(circuits.force(id), { retryAfterMs: 20_000 });
    circuits.note(circuits.force(id), { retryAfterMs: 2_000 });
    expect([circuits.dueAt(id) - now(), circuits.isOpen(id)]).toEqual([20_000, true]);
  });

  test("open it again once after the pause, together, and start the ramp when one succeeds", () => {
    const { circuits, changes, open, pass } = scene();
    open();
    pass(5_000);
    const asked = Array.from({ length: 50 }, () => circuits.force(id));
    for (const admission of asked) circuits.note(admission, failed);
    expect(changes).toEqual([{ openMs: 5_000 }, { openMs: 10_000 }]);
    circuits.note(circuits.force(id), "works");
    expect([circuits.isOpen(id), circuits.open]).toEqual([false, 1]);
    pass(8_000);
    expect([circuits.open, changes.at(-1)]).toEqual([0, "closed"]);
  });
});

test("made-up models displace no open circuit", () => {
  const { circuits, open } = scene();
  open();
  for (let each = 0; each < 3_000; each += 1) circuits.note(circuits.force(`a/made-up-${each}`), failed);
  expect([circuits.isOpen(id), circuits.open]).toEqual([true, 1]);
});

test("a circuit is that of a model at an address, in which nothing is secret", () => {
  const at = (baseUrl: string): string => circuitIdOf({ route: { prefix: "a", baseUrl }, model: "org/m 1" });
  expect(at("https://user:sk-secret@one.example/v1?key=sk-secret")).toBe("a/org/m 1 one.example/v1");
  expect(modelOfCircuit(at("https://two.example:8443/v1"))).toBe("a/org/m 1");
});

describe("after a success", () => {
  test("10, 25, 50 and 100 % of the calls pass, two seconds each", () => {
    const { circuits, call, changes, open, pass } = scene();
    open();
    pass(5_000);
    call("works");
    const shares = [0.1, 0.25, 0.5, 1].map((share) => {
      const admitted = Array.from({ length: 4_000 }, () => circuits.admit(id)).filter((each) => each !== undefined);
      pass(2_000);
      return Math.abs(admitted.length / 4_000 - share) < 0.03;
    });
    expect([shares, changes.length]).toEqual([[true, true, true, true], 1]);
    expect([circuits.admit(id)?.isProbe, changes.at(-1)]).toEqual([false, "closed"]);
  });

  test("one failure on the way opens it again", () => {
    const { circuits, call, changes, open, pass } = scene();
    open();
    pass(5_000);
    call("works");
    pass(6_000);
    call(failed);
    expect([circuits.admit(id), changes.at(-1)]).toEqual([undefined, { openMs: 10_000 }]);
  });
});

test.each([
  ["refuses", 0],
  ["is silent", 3_000],
])("a target that %s for a minute is asked at most eight times by a call every four seconds", (_, answerMs) => {
  const { circuits, call, pass } = scene();
  let asked = 0;
  for (let at = 0; at < 60_000; at += 4_000) {
    const admission = circuits.admit(id);
    pass(answerMs);
    if (admission !== undefined) circuits.note(admission, failed);
    asked += admission === undefined ? 0 : 1;
    pass(4_000 - answerMs);
  }
  expect(asked).toBeLessThanOrEqual(8);
  // It is back within the longest pause and the ramp.
  for (let second = 0; second < 70; second += 1) {
    call("works");
    pass(1_000);
  }
  expect(Array.from({ length: 100 }, () => call("works"))).toEqual(Array<boolean>(100).fill(true));
});

/** By seed: calls of any length begin and end in any order, and the target fails at any time. */
test("whatever happens, an open circuit lets nothing through, a half-open one a single call, and one that works closes", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("begin" as const) }),
    fc.record({ kind: fc.constant("end" as const), place: fc.nat(50), works: fc.boolean(), delayMs: fc.nat(100_000) }),
    fc.record({ kind: fc.constant("pass" as const), milliseconds: fc.nat(15_000) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.integer({ min: 1, max: 1e9 }), (steps, seed) => {
      const { circuits, call, changes, pass, now } = scene(seed);
      const running: Admission[] = [];
      let openUntil = 0;
      let probeAt = Number.NEGATIVE_INFINITY;
      for (const one of steps) {
        const before = changes.length;
        if (one.kind === "pass") pass(one.milliseconds);
        else if (one.kind === "begin") {
          const admission = circuits.admit(id);
          if (admission !== undefined) {
            expect(now()).toBeGreaterThanOrEqual(openUntil);
            if (admission.isProbe) expect(now() - probeAt).toBeGreaterThanOrEqual(10_000);
            if (admission.isProbe) probeAt = now();
            running.push(admission);
          }
        } else {
          const [admission] = running.splice(one.place % Math.max(running.length, 1), 1);
          if (admission !== undefined) circuits.note(admission, one.works ? "works" : { retryAfterMs: one.delayMs });
        }
        const change = changes.length > before ? (changes.at(-1) as { openMs?: number }) : undefined;
        if (change?.openMs !== undefined) {
          expect(change.openMs).toBeGreaterThanOrEqual(5_000);
          openUntil = now() + change.openMs;
          probeAt = Number.NEGATIVE_INFINITY;
        }
      }
      pass(600_000);
      for (let second = 0; second < 20; second += 1) {
        call("works");
        pass(1_000);
      }
      expect(Array.from({ length: 20 }, () => call("works"))).toEqual(Array<boolean>(20).fill(true));
    }),
    { numRuns: 300 },
  );
});
