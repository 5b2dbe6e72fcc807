import { expect, test } from "bun:test";
import { LargeBodies } from "./large-bodies.ts";

test("steps run in their order, with other events between two of them", async () => {
  const bodies = new LargeBodies();
  const seen: string[] = [];
  const step = async (name: string): Promise<void> => {
    await bodies.turn("a");
    seen.push(name);
    setImmediate(() => seen.push(`after ${name}`));
  };
  await Promise.all([step("a"), step("b"), step("c")]);
  expect(seen).toEqual(["a", "after a", "b", "after b", "c"]);
  await step("d");
  expect(seen).toEqual(["a", "after a", "b", "after b", "c", "after c", "d"]);
});

test("a step is followed by a rest as long as it was", async () => {
  const bodies = new LargeBodies();
  let restedMs = 0;
  let endedAt = 0;
  const long = async (): Promise<void> => {
    await bodies.turn("a");
    const until = performance.now() + 20;
    while (performance.now() < until);
    endedAt = performance.now();
  };
  const next = async (): Promise<void> => {
    await bodies.turn("a");
    restedMs = performance.now() - endedAt;
  };
  await Promise.all([long(), next()]);
  // Not a bound on this machine's speed: a rest can only be longer.
  expect(restedMs).toBeGreaterThanOrEqual(19);
});

test("users have their turns one after the other, however many bodies of one wait", async () => {
  const bodies = new LargeBodies();
  const seen: string[] = [];
  const step = async (owner: string, name: string): Promise<void> => {
    await bodies.turn(owner);
    seen.push(name);
  };
  const hostile = Array.from({ length: 100 }, (_, at) => step("hostile", `h${at}`));
  /** Several steps, each of which waits for the one before it. */
  const caller = async (): Promise<void> => {
    for (const name of ["c0", "c1", "c2"]) await step("caller", name);
  };
  await Promise.all([...hostile, caller()]);
  expect(seen.slice(0, 6).toSorted()).toEqual(["c0", "c1", "c2", "h0", "h1", "h2"]);
  expect(seen).toHaveLength(103);
});
