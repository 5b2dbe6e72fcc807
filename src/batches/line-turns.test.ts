import { expect, test } from "bun:test";
import { LineTurns } from "./line-turns.ts";

test("the batches of an owner share the owner's lines, and make room for live calls", async () => {
  let live = 0;
  const turns = new LineTurns({ lines: 2, running: () => live });
  const leave = turns.join("alice");
  expect(turns.limitOf("alice", 8)).toBe(8);
  const leaveSecond = turns.join("alice");
  expect([turns.limitOf("alice", 8), turns.limitOf("alice", 2), turns.limitOf("bob", 8)]).toEqual([4, 2, 8]);
  live = 100;
  expect(turns.limitOf("bob", 8)).toBe(1);
  live = 0;
  leaveSecond();
  expect(turns.limitOf("alice", 8)).toBe(8);
  leave();
  const { signal } = new AbortController();
  const leaves = [await turns.enter("alice", signal), await turns.enter("bob", signal)];
  expect(turns.load.running).toBe(2);
  for (const end of leaves) end();
  expect(turns.load.running).toBe(0);
});
