import { expect, test } from "bun:test";
import type { WorkReport } from "../charges/index.ts";
import { orderOf, record } from "../charges/__fixtures__/work-scene.ts";
import { ProcessCounts } from "./process-counts.ts";

const MINUTE = 60_000;

function scene() {
  const time = { now: 1_000 * MINUTE };
  const counts = new ProcessCounts(() => time.now);
  const end = (of: Partial<WorkReport["record"]> = {}): void =>
    counts.ended({
      order: orderOf(),
      record: record(of),
      credits: "0",
      unbilled: undefined,
      files: undefined,
      error: undefined,
    });
  return { time, counts, end };
}

test("calls count for five minutes, failed ones if the caller is not to blame", () => {
  const { time, counts, end } = scene();
  expect(counts.report(0)).toBeUndefined();
  end();
  end({ status: 502, outcome: "failed" });
  end({ status: 400, outcome: "failed" });
  end({ outcome: "interrupted" });
  end({ outcome: "abandoned" });
  time.now += 4 * MINUTE;
  end({ provider: "other" });
  expect(counts.report(0)?.calls).toEqual({ up: [5, 2], other: [1, 0] });
  time.now += MINUTE;
  expect(counts.report(0)?.calls).toEqual({ other: [1, 0] });
});

test("rare events count for an hour, and a caller's names are bounded", () => {
  const { time, counts } = scene();
  counts.committed({ id: "a", shortfall: 500_000_000n });
  counts.committed({ id: "b", shortfall: 0n });
  for (let number = 0; number < 1_000; number += 1) counts.unpriced(`a/m${number}`);
  counts.unpriced("a/m1");
  const report = counts.report(0);
  expect([report?.shortfall, report?.unpriced["a/m1"], Object.keys(report?.unpriced ?? {}).length]).toEqual([
    0.5, 2, 100,
  ]);
  time.now += 59 * MINUTE;
  expect(counts.report(3)).toMatchObject({ shortfall: 0.5, journal: 3 });
  time.now += MINUTE;
  expect(counts.report(0)).toBeUndefined();
});
