import { describe, expect, test } from "bun:test";
import type { AttemptReport, WorkReport } from "../charges/index.ts";
import { orderOf, record } from "../charges/__fixtures__/work-scene.ts";
import { GatewayError } from "../core/index.ts";
import type { CallRecord } from "../ledger/index.ts";
import { CallMetrics } from "./call-metrics.ts";
import { exposition } from "./exposition.ts";

function endOf(call: Partial<CallRecord>, more: Partial<WorkReport> = {}): WorkReport {
  const order = orderOf({ id: "req_1" });
  return {
    order,
    record: { ...record(), outcome: "complete", provider: "up", model: "m", operation: "chat", ...call },
    credits: "0.5",
    unbilled: undefined,
    files: undefined,
    error: undefined,
    ...more,
  };
}

const attempt: AttemptReport = {
  workId: "req_1",
  provider: "up",
  model: "m",
  begunAt: 0,
  keyId: "k1",
  attempt: 1,
  status: 200,
  failure: undefined,
  milliseconds: 100,
  retryInMs: undefined,
  unbilled: undefined,
};

const linesOf = async (metrics: CallMetrics, name: string): Promise<string[]> =>
  (await exposition([metrics.families()])).split("\n").filter((line) => line.startsWith(name));

describe("a call is counted", () => {
  test("by operation, provider and model, with its units and credits", async () => {
    const metrics = new CallMetrics();
    const usage = { input: 10, cacheRead: 4, output: 5 };
    metrics.ended(endOf({ usage, listCredits: 400_000_000 }));
    metrics.ended(endOf({ usage, listCredits: 400_000_000 }));
    const labels = 'operation="chat",provider="up",model="m"';
    expect(await linesOf(metrics, "tollgate_calls_total")).toEqual([`tollgate_calls_total{${labels},class="ok"} 2`]);
    expect(await linesOf(metrics, "tollgate_units_total")).toEqual([
      `tollgate_units_total{${labels},unit="input"} 20`,
      `tollgate_units_total{${labels},unit="cache_read"} 8`,
      `tollgate_units_total{${labels},unit="output"} 10`,
    ]);
    expect(await linesOf(metrics, "tollgate_credits_total")).toEqual([`tollgate_credits_total{${labels}} 1`]);
    expect(await linesOf(metrics, "tollgate_list_credits_total")).toEqual([
      `tollgate_list_credits_total{${labels}} 0.8`,
    ]);
  });

  test.each<[string, Partial<CallRecord>, Partial<AttemptReport> | undefined, GatewayError | undefined]>([
    ["ok", { outcome: "complete" }, {}, undefined],
    ["abandoned", { outcome: "abandoned" }, { failure: "abandoned" }, undefined],
    ["interrupted", { outcome: "interrupted" }, {}, undefined],
    ["rate_limited", { outcome: "failed" }, { failure: "rate_limited" }, undefined],
    ["gateway", { outcome: "failed" }, undefined, new GatewayError("internal_error", "m")],
    ["request", { outcome: "failed" }, undefined, new GatewayError("validation_failed", "m")],
  ])("as %s", async (name, call, attempted, error) => {
    const metrics = new CallMetrics();
    metrics.ended(endOf({}));
    if (attempted !== undefined) metrics.attempted({ ...attempt, ...attempted });
    metrics.ended(endOf(call, { error }));
    const counts = await linesOf(metrics, "tollgate_calls_total");
    expect(counts.find((line) => line.includes(`class="${name}"`))).toEndWith(name === "ok" ? " 2" : " 1");
  });

  test("with the time that the gateway adds to that of its only attempt", async () => {
    const metrics = new CallMetrics();
    metrics.attempted(attempt);
    metrics.ended(endOf({ streamed: true, milliseconds: 900, millisecondsToFirstByte: 102 }));
    metrics.attempted({ ...attempt, failure: "overloaded" });
    metrics.attempted({ ...attempt, attempt: 2 });
    metrics.ended(endOf({ streamed: false, milliseconds: 900 }));
    const added = await linesOf(metrics, "tollgate_added_seconds");
    expect(added).toContain('tollgate_added_seconds_bucket{operation="chat",provider="up",le="0.001"} 0');
    expect(added).toContain('tollgate_added_seconds_bucket{operation="chat",provider="up",le="0.0025"} 1');
    expect(added).toContain('tollgate_added_seconds_count{operation="chat",provider="up"} 1');
    expect(await linesOf(metrics, "tollgate_attempts_total")).toEqual([
      'tollgate_attempts_total{provider="up",class="ok"} 2',
      'tollgate_attempts_total{provider="up",class="overloaded"} 1',
    ]);
  });
});

test("requests of one call that go out together are counted each", async () => {
  const metrics = new CallMetrics();
  for (let picture = 0; picture < 3; picture += 1) metrics.attempted(attempt);
  metrics.ended(endOf({}));
  expect(await linesOf(metrics, "tollgate_attempts_total")).toEqual([
    'tollgate_attempts_total{provider="up",class="ok"} 3',
  ]);
});

test("a request to another target after one that failed is a failover, a repeat at the same one is none", async () => {
  const metrics = new CallMetrics();
  const failed = { ...attempt, failure: "overloaded" } as const;
  metrics.attempted(failed);
  metrics.attempted({ ...failed, attempt: 2 });
  metrics.attempted({ ...failed, attempt: 3, provider: "other" });
  metrics.attempted({ ...attempt, attempt: 4, provider: "other", model: "n" });
  metrics.ended(endOf({}));
  metrics.attempted({ ...attempt, provider: "other" });
  expect(await linesOf(metrics, "tollgate_failovers_total")).toEqual([
    'tollgate_failovers_total{from="up",to="other"} 1',
    'tollgate_failovers_total{from="other",to="other"} 1',
  ]);
});

describe("accounts", () => {
  test("have no series unless an operator asks for them", async () => {
    const metrics = new CallMetrics();
    metrics.ended(endOf({ owner: "ann" }));
    expect((await exposition([metrics.families()])).includes("ann")).toBe(false);
  });

  test.each([
    ["user", 'user="ann"', 'user="bob"'],
    ["token", 'token="t1"', undefined],
  ] as const)(
    "by %s have calls and credits; those beyond the bound are others, and counted",
    async (by, first, second) => {
      const metrics = new CallMetrics({ accounts: { by, max: 2 } });
      for (const owner of ["ann", "bob", "ann", "eve", "other", "bob"]) metrics.ended(endOf({ owner }));
      const calls = await linesOf(metrics, "tollgate_account_calls_total");
      expect(calls).toEqual(
        second === undefined
          ? [`tollgate_account_calls_total{${first}} 6`]
          : [
              `tollgate_account_calls_total{${first}} 2`,
              `tollgate_account_calls_total{${second}} 2`,
              'tollgate_account_calls_total{user="other"} 2',
            ],
      );
      expect(await linesOf(metrics, "tollgate_unnamed_account_calls_total")).toEqual([
        `tollgate_unnamed_account_calls_total ${second === undefined ? 0 : 2}`,
      ]);
      expect((await linesOf(metrics, "tollgate_account_credits_total"))[0]).toEndWith(
        second === undefined ? " 3" : " 1",
      );
    },
  );
});

describe("the number of series is bounded", () => {
  test("by the models that have answered, however many are asked for", async () => {
    const metrics = new CallMetrics({ accounts: { by: "user", max: 100 } });
    const sizes = new Set<number>();
    for (let call = 0; call < 100_000; call += 1) {
      const model = `model-${call % 9_973}`;
      const order = orderOf({ id: `req_${call}`, principal: { ...orderOf().principal, user: `user-${call}` } });
      metrics.attempted({ ...attempt, workId: order.id });
      metrics.ended(endOf({ model, owner: `user-${call}`, session: `session-${call}` }, { order }));
      if (call % 20_000 === 19_999) sizes.add((await exposition([metrics.families()])).split("\n").length);
    }
    expect(sizes.size).toBe(1);
    const [unnamed = ""] = await linesOf(metrics, "tollgate_unnamed_calls_total");
    expect(Number(unnamed.split(" ")[1])).toBeGreaterThan(90_000);
  });

  test("and a name that no upstream has answered under takes no place", async () => {
    const metrics = new CallMetrics();
    for (let call = 0; call < 1_000; call += 1) metrics.ended(endOf({ model: `invented-${call}`, outcome: "failed" }));
    metrics.ended(endOf({ model: "real" }));
    const counts = await linesOf(metrics, "tollgate_calls_total");
    expect(counts.map((line) => /model="([^"]*)"/.exec(line)?.[1])).toEqual(["other", "real"]);
  });
});

test("a label is escaped", async () => {
  const metrics = new CallMetrics();
  metrics.ended(endOf({ model: 'a"b\\c\nd' }));
  expect(await linesOf(metrics, "tollgate_calls_total")).toEqual([
    'tollgate_calls_total{operation="chat",provider="up",model="a\\"b\\\\c\\nd",class="ok"} 1',
  ]);
});
