import { expect, test } from "bun:test";
import { Places } from "./places.ts";

test("tasks that have got a place, and the time that they waited for it, are counted; one that gave up is not", async () => {
  const places = new Places({ what: "pages", places: 1 });
  const leave = await places.enter({ owner: "a" });
  expect([places.running, places.started]).toEqual([1, 1]);
  const abort = new AbortController();
  const gone = places.enter({ owner: "b", signal: abort.signal });
  const next = places.enter({ owner: "c" });
  const before = places.waitedMs;
  abort.abort(new Error("gone"));
  expect(await gone.catch((reason: unknown) => reason)).toEqual(new Error("gone"));
  await Bun.sleep(5);
  leave();
  (await next)();
  expect(places.started).toBe(2);
  expect(places.waitedMs - before).toBeGreaterThanOrEqual(4);
});
