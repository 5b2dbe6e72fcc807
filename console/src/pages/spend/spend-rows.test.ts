import { expect, test } from "bun:test";
import type { UsageGroup } from "../../api/types.ts";
import { add, plainText, sum } from "../../money/decimal.ts";
import { rowsOf, seriesOf } from "./spend-rows.ts";

const group = (credits: number, more: Partial<UsageGroup>): UsageGroup => ({
  requests: 1,
  failures: 0,
  input_tokens: 10,
  output_tokens: 5,
  credits,
  list_credits: credits,
  ...more,
});

const usage = (data: UsageGroup[]) => ({ data, total: group(0, {}), from: "", to: "" });

const now = usage([
  group(0.1, { model: "a" }),
  group(0.7, { model: "b" }),
  group(0.2, { model: "c" }),
  group(1e-9, { model: "d" }),
]);

test("the rows are the dearest groups, and one of all others", () => {
  const before = usage([group(0.35, { model: "b" }), group(3, { model: "gone" })]);
  const rows = rowsOf(now, before, { groupings: ["model"], metric: "credits", top: 2 });
  expect(
    rows.map(({ names, sums, before: earlier }) => [...names, plainText(sums.credits), earlier && plainText(earlier)]),
  ).toEqual([
    ["b", "0.7", "0.35"],
    ["c", "0.2", "0"],
    ["2 others", "0.100000001", "3"],
  ]);
  expect(plainText(sum(rows.map(({ sums }) => sums.credits)))).toBe("1.000000001");
});

test("as long as the period before is not known, no row claims that it was empty", () => {
  const [row] = rowsOf(now, undefined, { groupings: ["model"], metric: "requests", top: 5 });
  expect(row?.before).toBeUndefined();
});

test("a bar consists of the groups, and has gaps filled", () => {
  const byInterval = usage([
    group(0.1, { day: "2026-11-01", model: "a" }),
    group(0.2, { day: "2026-11-03", model: "a" }),
    group(0.7, { day: "2026-11-03", model: "b" }),
  ]);
  const starts = ["2026-11-01", "2026-11-02", "2026-11-03"];
  const series = seriesOf(now, byInterval, { grouping: "model", metric: "credits", starts });
  expect(series.map(({ name, color, values }) => [name, color, ...values.map(plainText)])).toEqual([
    ["b", 1, "0", "0", "0.7"],
    ["c", 2, "0", "0", "0"],
    ["a", 3, "0.1", "0", "0.2"],
    ["d", 4, "0", "0", "0"],
  ]);
});

test("groups without a colour of their own are drawn together", () => {
  const many = usage(Array.from({ length: 11 }, (_, index) => group(index + 1, { model: `m${index}` })));
  const day = "2026-11-01";
  const byInterval = usage(many.data.map((each) => ({ ...each, day })));
  const series = seriesOf(many, byInterval, { grouping: "model", metric: "credits", starts: [day] });
  expect(series).toHaveLength(9);
  expect(
    plainText(
      series
        .map(({ values }) => values[0])
        .reduce((one, other) => add(one ?? { units: 0n, scale: 0 }, other ?? { units: 0n, scale: 0 })) ?? {
        units: 0n,
        scale: 0,
      },
    ),
  ).toBe("66");
  expect(series.at(-1)).toMatchObject({ name: "Others", color: "other" });
});
