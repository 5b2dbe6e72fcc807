import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { compare, type OwnRow, reasons } from "./compare.ts";
import type { ReportRow } from "./provider-report.ts";

const TODAY = 100;

const ours = (more: Partial<OwnRow> = {}): OwnRow => ({
  day: 10,
  model: "gpt-4o-mini",
  requests: 4,
  failures: 0,
  inputTokens: 900,
  outputTokens: 100,
  listCredits: 10,
  ...more,
});

const theirs = (cost: number | undefined, more: Partial<ReportRow> = {}): ReportRow => ({
  day: 10,
  model: "gpt-4o-mini",
  ...(cost !== undefined && { cost }),
  ...more,
});

const tokens = (inputTokens: number, outputTokens: number): ReportRow =>
  theirs(undefined, { inputTokens, outputTokens });

const compared = (
  report: ReportRow[],
  own: OwnRow[],
  { holds = [], today = TODAY }: { holds?: Parameters<typeof compare>[0]["holds"]; today?: number } = {},
) => compare({ report, own, holds, tolerance: 0.01, today });

test("the same amounts have no reason, whatever the model is called and however they are split", () => {
  const report = [theirs(4, { model: "gpt-4o-mini" }), theirs(6)];
  const own = [ours({ model: "gpt-4o-mini-2024-07-18", listCredits: 3 }), ours({ listCredits: 7 })];
  expect(compared(report, own)).toEqual([
    {
      day: 10,
      model: "gpt-4o-mini",
      provider: { cost: 10, tokens: undefined },
      own: { cost: 10, tokens: 2_000, requests: 8 },
      difference: 0,
      isBeyond: false,
      reason: undefined,
    },
  ]);
});

test.each<[string, ReturnType<typeof compared>, unknown[]]>([
  ["a fraction of a cent", compared([theirs(10.009)], [ours()]), [[false, "rounding"]]],
  ["less than the tolerance", compared([theirs(10.09)], [ours()]), [[false, undefined]]],
  [
    "a call over midnight",
    compared([theirs(8), theirs(12, { day: 11 })], [ours(), ours({ day: 11 })]),
    [
      [false, "midnight"],
      [false, "midnight"],
    ],
  ],
  [
    "an open call",
    compared([theirs(12)], [ours()], { holds: [{ day: 10, model: "gpt-4o-mini", count: 1, credits: 5 }] }),
    [[true, "open-holds"]],
  ],
  ["calls without a price", compared([theirs(12)], [ours({ listCredits: 0 })]), [[true, "unpriced"]]],
  ["a report of today", compared([theirs(5)], [ours()], { today: 11 }), [[true, "not-reported-yet"]]],
  ["a model that only the provider has", compared([theirs(12)], []), [[true, "other-calls"]]],
  [
    "a model that only we have",
    compared([theirs(1, { day: 9 })], [ours(), ours({ day: 9, listCredits: 1 })]),
    [
      [false, undefined],
      [true, "another-account"],
    ],
  ],
  ["another price", compared([theirs(5), tokens(900, 100)], [ours()]), [[true, "price"]]],
  ["more calls", compared([theirs(20), tokens(1_800, 200)], [ours()]), [[true, "other-calls"]]],
  ["fewer calls", compared([theirs(5), tokens(450, 50)], [ours()]), [[true, "another-account"]]],
  ["failed calls that are billed", compared([theirs(12)], [ours({ failures: 1 })]), [[true, "failed-calls"]]],
  ["nothing that tells", compared([theirs(12)], [ours()]), [[true, "unknown"]]],
  [
    "costs of no model",
    compared([theirs(10), theirs(2, { model: undefined })], [ours()]),
    [
      [false, undefined],
      [true, "unnamed"],
    ],
  ],
  ["a report of tokens alone", compared([tokens(900, 101)], [ours()]), [[false, undefined]]],
  ["a report of other tokens", compared([tokens(1_900, 101)], [ours()]), [[true, "other-calls"]]],
])("%s", (_, rows, wanted) => {
  expect(rows.map(({ isBeyond, reason }) => [isBeyond, reason])).toEqual(wanted as never);
});

test("a report without models is compared by day", () => {
  const rows = compared([theirs(12, { model: undefined })], [ours(), ours({ model: "o3", listCredits: 2 })]);
  expect(rows).toMatchObject([{ model: "all models", difference: 0, own: { cost: 12 } }]);
});

test("the differences add up to that of all, and each beyond the tolerance has a reason", () => {
  const model = fc.constantFrom("a", "b", "c");
  const day = fc.integer({ min: 1, max: 4 });
  const credits = fc.integer({ min: 0, max: 5_000 }).map((cents) => cents / 100);
  const report = fc.array(fc.record({ day, model, cost: credits }), { minLength: 1, maxLength: 12 });
  const own = fc.array(
    fc.record({ day, model, listCredits: credits }).map((row) => ours(row)),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(report, own, (provider, mine) => {
      const rows = compared(provider, mine);
      const total = rows.reduce((sum, { difference }) => sum + difference, 0);
      const wanted =
        provider.reduce((sum, { cost }) => sum + cost, 0) - mine.reduce((sum, { listCredits }) => sum + listCredits, 0);
      expect(Math.abs(total - wanted)).toBeLessThan(1e-6);
      for (const { isBeyond, reason } of rows) if (isBeyond) expect(reason).toBeString();
      expect(new Set(rows.map((row) => `${row.day} ${row.model}`)).size).toBe(rows.length);
    }),
  );
});

test("each reason stands in the documents", () => {
  const text = readFileSync(new URL("../../../docs/usage.md", import.meta.url), "utf8");
  for (const reason of Object.keys(reasons)) expect(text).toContain(`| \`${reason}\` |`);
});
