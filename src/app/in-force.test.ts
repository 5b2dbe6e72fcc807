import { beforeEach, describe, expect, test } from "bun:test";
import type { RunningPart } from "../http/index.ts";
import { InForce } from "./in-force.ts";

const BODY_MS = 2_000;

let now: number;
let looks: Set<() => void>;
let errors: unknown[];
beforeEach(() => {
  now = 0;
  looks = new Set();
  errors = [];
});

interface Part extends RunningPart {
  active: number;
  own: number;
  events: string[];
}

const partOf = (counts: { active?: number; own?: number } = {}): Part => {
  const events: string[] = [];
  return {
    active: 0,
    own: 0,
    ...counts,
    events,
    close: () => void events.push("close"),
    retire: () => void events.push("retire"),
    stop: () => void events.push("stop"),
  };
};

const inForceOf = (part: RunningPart) =>
  new InForce(
    { running: [part] },
    {
      beginMsMax: BODY_MS,
      logger: {
        info: () => undefined,
        warn: () => undefined,
        error: (fields) => void errors.push(fields),
        flush: () => undefined,
      },
      now: () => now,
      every: (_ms, onDue) => {
        looks.add(onDue);
        return () => looks.delete(onDue);
      },
    },
  );

async function look(milliseconds: number): Promise<void> {
  now += milliseconds;
  for (const each of looks) each();
  await new Promise<void>((resolve) => setImmediate(resolve));
}

describe("parts of a configuration that is replaced", () => {
  test("take up nothing, stay while they have work, and are stopped once", async () => {
    const [first, second] = [partOf({ active: 1, own: 1 }), partOf()];
    const inForce = inForceOf(first);
    const next = { running: [second] };
    inForce.replace(next);
    expect(inForce.current).toBe(next);
    expect(first.events).toEqual(["retire"]);
    await look(10 * BODY_MS);
    first.active = 0;
    await look(BODY_MS);
    expect(first.events).toEqual(["retire"]);
    expect(inForce.all.flatMap(({ running }) => running)).toEqual([second, first]);
    first.own = 0;
    await look(BODY_MS);
    await look(BODY_MS);
    expect(first.events).toEqual(["retire", "stop"]);
    expect(inForce.all).toEqual([next]);
    expect(looks.size).toBe(0);
    expect(second.events).toEqual([]);
  });

  test("are kept for requests whose bodies are still arriving", async () => {
    const first = partOf();
    const inForce = inForceOf(first);
    inForce.replace({ running: [] });
    await look(BODY_MS - 1);
    expect(first.events).toEqual(["retire"]);
    await look(1);
    expect(first.events).toEqual(["retire", "stop"]);
  });

  test("that cannot stop are left, with a line in the log", async () => {
    const stuck = { stop: () => Promise.reject(new Error("stuck")) };
    const inForce = inForceOf(stuck);
    inForce.replace({ running: [] });
    await look(BODY_MS);
    expect(errors).toHaveLength(1);
    expect(inForce.all).toHaveLength(1);
  });
});
