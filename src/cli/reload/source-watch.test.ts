import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SourceWatch } from "./source-watch.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-watch-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function scene() {
  const file = join(folder, "a");
  const state = { now: 0, works: false, tries: [] as number[], inForce: new Map([[file, "one"]]) };
  const watch = new SourceWatch({
    inForce: () => state.inForce,
    onChange: async () => {
      state.tries.push(state.now);
      return state.works;
    },
    now: () => state.now,
  });
  /** Looks every two seconds. */
  const pass = async (seconds: number): Promise<void> => {
    for (const until = state.now + seconds * 1_000; state.now < until; state.now += 2_000) await watch.look();
  };
  return { state, file, pass, write: (text: string) => writeFileSync(file, text) };
}

test("a change is taken once it is the same at two looks", async () => {
  const { state, pass, write } = scene();
  write("one");
  await pass(10);
  write("two");
  state.works = true;
  await pass(600);
  expect(state.tries).toEqual([12_000]);
});

test("a reload that failed is tried again after 30 s, then ever more seldom, until it works or the file is as before", async () => {
  const { state, pass, write } = scene();
  write("two");
  await pass(220);
  expect(state.tries).toEqual([2_000, 32_000, 92_000, 212_000]);
  state.works = true;
  await pass(3_600);
  expect(state.tries).toEqual([2_000, 32_000, 92_000, 212_000, 452_000]);
});

test("another change is tried at once, and one that was taken back is none", async () => {
  const { state, pass, write } = scene();
  write("two");
  await pass(4);
  write("three");
  await pass(4);
  expect(state.tries).toEqual([2_000, 6_000]);
  write("one");
  await pass(100);
  expect(state.tries).toHaveLength(2);
  write("three");
  await pass(4);
  expect(state.tries).toEqual([2_000, 6_000, 110_000]);
});
