import { expect, test } from "bun:test";
import { SessionCaches } from "./session-caches.ts";

test("knows what a model's cache has of a session, for five minutes after its last answer", () => {
  let now = 0;
  const caches = new SessionCaches(() => now);
  caches.note("s", "a/1", { input: 10, cacheRead: 1_000, cacheWrite5m: 200 });
  caches.note("s", "b/1", { input: 1_210 });
  caches.note(undefined, "a/1", { cacheRead: 5 });
  const known = (): number[] => [
    caches.of("s", "a/1"),
    caches.of("s", "b/1"),
    caches.of("t", "a/1"),
    caches.of(undefined, "a/1"),
  ];
  expect(known()).toEqual([1_200, 0, 0, 0]);
  now = 299_999;
  expect(known()).toEqual([1_200, 0, 0, 0]);
  caches.note("s", "a/1", { cacheRead: 1_300 });
  now += 299_999;
  expect(known()).toEqual([1_300, 0, 0, 0]);
  now += 1;
  expect(known()).toEqual([0, 0, 0, 0]);
});

test("forgets the sessions that were used longest ago", () => {
  const caches = new SessionCaches(() => 0);
  for (let number = 0; number < 10_002; number += 1) caches.note(`s${number}`, "a/1", { cacheRead: 1 });
  expect(["s0", "s1", "s2", "s10001"].map((session) => caches.of(session, "a/1"))).toEqual([0, 0, 1, 1]);
});
