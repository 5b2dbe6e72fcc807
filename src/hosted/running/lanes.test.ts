import { expect, test } from "bun:test";
import { Lanes } from "./lanes.ts";

test.each([1, 2])("%d run side by side, and none is begun after the end of its call", async (count) => {
  const lanes = new Lanes(count);
  const ended = new AbortController();
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const begun: number[] = [];
  const results = gates.map(({ promise }, index) =>
    lanes.run(async () => {
      begun.push(index);
      await promise;
      if (index === 0) throw new Error("failed");
      return index;
    }, ended.signal),
  );
  const settled = Promise.allSettled(results);
  await Bun.sleep(0);
  expect(begun).toHaveLength(count);
  for (const { resolve } of gates.slice(0, count)) resolve();
  await Promise.allSettled(results.slice(0, count));
  await Bun.sleep(0);
  expect(begun).toHaveLength(2 * count);
  ended.abort(new Error("left"));
  for (const { resolve } of gates) resolve();
  expect((await settled).map((each) => (each.status === "fulfilled" ? each.value : String(each.reason)))).toEqual(
    count === 1 ? ["Error: failed", 1, "Error: left", "Error: left"] : ["Error: failed", 1, 2, 3],
  );
});
