import { expect, test } from "bun:test";
import { parser } from "@prometheus-io/lezer-promql";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { orderOf, record } from "../charges/__fixtures__/work-scene.ts";
import { GatewayError } from "../core/index.ts";
import type { MetricFamily } from "./family.ts";
import { GatewayMetrics } from "./gateway-metrics.ts";

const root = join(import.meta.dir, "../..");

const heldNow = (): Promise<{ open: number; amount: bigint; oldestAt: number }> =>
  Promise.resolve({ open: 1, amount: 1n, oldestAt: 0 });

/** The metrics of a process in which everything has happened once. */
async function families(held = heldNow): Promise<MetricFamily[]> {
  const metrics = new GatewayMetrics("1.2.3", { accounts: { by: "user", max: 1 } });
  metrics.watch({
    calls: { active: 0 },
    sockets: { active: 0 },
    queues: { pages: { running: 0, waiting: 0, started: 0, waitedMs: 0 } },
    memory: { used: 0, bytesMax: 1 },
    circuits: { open: 0 },
    unsettled: { size: 0 },
    journal: { size: 0 },
    spans: { sent: 0, dropped: 0 },
    held,
    dueJobs: () => Promise.resolve({ count: 0, oldestAt: undefined }),
    catalogDays: () => 1,
    now: () => 1_000,
  });
  const order = orderOf();
  const { observer, onCommit } = metrics;
  const attempt = { provider: "up", model: "m", begunAt: 0, keyId: "k", attempt: 1, status: 200, milliseconds: 1 };
  const report = { ...attempt, workId: order.id, retryInMs: undefined, unbilled: undefined };
  observer.attempted?.({ ...report, provider: "other", failure: "overloaded" });
  observer.attempted?.({ ...report, failure: undefined });
  observer.attempted?.({ ...report, workId: "other", failure: undefined });
  const ended = {
    ...record(),
    streamed: true,
    usage: { output: 5 },
    outcome: "complete",
    milliseconds: 9,
    millisecondsToFirstByte: 2,
  } as const;
  for (const id of [order.id, "other"])
    observer.ended?.({
      order: orderOf({ id }),
      record: ended,
      credits: "1",
      unbilled: "1",
      files: undefined,
      error: undefined,
    });
  observer.refused?.(order, new GatewayError("insufficient_credits", "m"));
  onCommit(1);
  const all = await metrics.families();
  metrics.stop();
  return all;
}

test.each<[string, typeof heldNow]>([
  ["rejects", () => Promise.reject(new Error("the storage is away"))],
  [
    "throws at once",
    () => {
      throw new Error("the storage is locked");
    },
  ],
])("a storage that %s leaves only its own metrics out", async (_, held) => {
  const names = (all: readonly MetricFamily[]): string[] => all.map(({ name }) => name);
  const ofStorage = new Set([
    "tollgate_open_holds",
    "tollgate_held_credits",
    "tollgate_oldest_hold_seconds",
    "tollgate_due_jobs",
    "tollgate_oldest_due_job_seconds",
  ]);
  expect(names(await families(held))).toEqual(names(await families()).filter((name) => !ofStorage.has(name)));
});

test("the documented metrics are these", async () => {
  const rows = readFileSync(join(root, "docs/metrics.md"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .map(([, name = "", labels = "", help = ""]) => ({ name, labels, help }));
  const told = (await families()).map(({ name, help, values }) => {
    const labels = Object.keys(values[0]?.labels ?? {}).filter((label) => label !== "le");
    return { name: `\`${name}\``, labels: labels.map((label) => `\`${label}\``).join(" "), help };
  });
  const byName = (one: { name: string }, other: { name: string }): number => one.name.localeCompare(other.name);
  expect(rows.toSorted(byName)).toEqual(told.toSorted(byName));
});

/** The names that a query reads. Throws for one that Prometheus cannot parse. */
function namesIn(query: string): string[] {
  const names: string[] = [];
  parser.parse(query).iterate({
    enter({ name, from, to, type, node }) {
      if (type.isError) throw new Error(`not PromQL at ${from}: ${query}`);
      if (name === "Identifier" && node.parent?.name === "VectorSelector") names.push(query.slice(from, to));
    },
  });
  return names;
}

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[];
}

interface Rules {
  groups: { rules: { alert: string; expr: string }[] }[];
}

test("the queries of the dashboard and of the alerts can be parsed, and name metrics that there are", async () => {
  const dashboard = JSON.parse(readFileSync(join(root, "deploy/grafana/tollgate.json"), "utf8")) as Dashboard;
  const rules = parse(readFileSync(join(root, "deploy/prometheus/tollgate-rules.yaml"), "utf8")) as Rules;
  const queries = [
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
  ];
  expect(queries.length).toBeGreaterThan(30);
  const names = new Set(
    (await families()).flatMap(({ name, values }) => values.map(({ metricName = name }) => metricName)),
  );
  for (const query of queries) {
    const read = namesIn(query.replaceAll("$__rate_interval", "5m"));
    expect(read.length).toBeGreaterThan(0);
    expect(read.filter((name) => !names.has(name))).toEqual([]);
  }
  expect(() => namesIn("sum by (a) (rate(x[5m])")).toThrow("not PromQL");
});
