import { expect, test } from "bun:test";
import type { MetricFamily } from "../../metrics/index.ts";
import { WorkerMetrics } from "./worker-metrics.ts";

const familiesOf = (calls: number, memory: number): MetricFamily[] => [
  {
    name: "calls_total",
    help: "h",
    type: "counter",
    values: [{ labels: { a: "b" }, value: calls }],
    aggregator: "sum",
  },
  { name: "memory", help: "h", type: "gauge", values: [{ labels: {}, value: memory }], aggregator: "sum" },
];

/** A worker that answers each request with its next families. */
function workerOf(metrics: WorkerMetrics, answers: MetricFamily[][]) {
  const worker = {
    requests: 0,
    send(): void {
      worker.requests += 1;
      const next = answers.shift();
      if (next !== undefined) setImmediate(() => metrics.receive(worker, next));
    },
  };
  metrics.join(worker);
  return worker;
}

const sumOf = async (metrics: WorkerMetrics, name: string): Promise<number> => {
  const all = (await metrics.collect()).flat().filter((family) => family.name === name);
  return all.flatMap(({ values }) => values).reduce((sum, { value }) => sum + value, 0);
};

test("the counts of workers that have ended stay, their gauges do not", async () => {
  const metrics = new WorkerMetrics();
  const first = workerOf(metrics, [familiesOf(5, 100), familiesOf(5, 100)]);
  workerOf(metrics, [familiesOf(2, 30), familiesOf(3, 30), familiesOf(3, 30), familiesOf(4, 30), familiesOf(4, 30)]);
  expect([await sumOf(metrics, "calls_total"), await sumOf(metrics, "memory")]).toEqual([7, 130]);
  metrics.leave(first);
  metrics.leave(workerOf(metrics, []));
  expect([await sumOf(metrics, "calls_total"), await sumOf(metrics, "memory")]).toEqual([8, 30]);
  workerOf(metrics, [familiesOf(1, 100)]);
  expect(await sumOf(metrics, "calls_total")).toBe(10);
});

test("scrapes at the same time ask each worker once, and one that has just ended delays none", async () => {
  const metrics = new WorkerMetrics();
  const worker = workerOf(metrics, [familiesOf(5, 100)]);
  metrics.join({
    send() {
      throw new Error("the channel is closed");
    },
  });
  expect(await Promise.all([sumOf(metrics, "calls_total"), sumOf(metrics, "calls_total")])).toEqual([5, 5]);
  expect(worker.requests).toBe(1);
});
