/**
 * `npm run bench:metrics`: the CPU time that a call takes to be counted, and to be traced or not; and the time of a scrape of four
 * workers with 500 models each, in the process that is scraped.
 */
import process from "node:process";
import type { WorkObserver } from "../src/charges/index.ts";
import { GatewayMetrics, addUp, exposition } from "../src/metrics/index.ts";
import { genAiNames, TraceObserver } from "../src/traces/index.ts";

const CALLS = 500_000;
const MODELS = 500;

const metrics = new GatewayMetrics("0.0.0");
const { observer } = metrics;

type Report = Parameters<NonNullable<typeof observer.ended>>[0];

/** With the members that are counted. */
function reportOf(at: number): Report {
  const record = {
    operation: "chat",
    provider: "up",
    model: `model-${at % MODELS}`,
    streamed: true,
    outcome: "complete",
    usage: { input: 100, cacheRead: 20, output: 50 },
    milliseconds: 900,
    millisecondsToFirstByte: 20,
  };
  const principal = { user: "user", tokenId: "token" };
  const source = { provider: "up", model: record.model, modelId: `up/${record.model}` };
  const order = { id: `req_${at % 64}`, operation: "chat", dialect: "chat", principal, source, at: Date.now() };
  return { order, record, heldMs: 2, credits: "0.00123" } as Report;
}

const reports = Array.from({ length: MODELS * 4 }, (_, at) => reportOf(at));
const attempt = {
  provider: "up",
  model: "m",
  begunAt: 0,
  keyId: "k",
  attempt: 1,
  status: 200,
  failure: undefined,
  milliseconds: 18,
};

/** Reports as many calls to an observer, and returns the CPU time of each in microseconds. */
function measure(to: WorkObserver): string {
  const count = (calls: number): void => {
    for (let call = 0; call < calls; call += 1) {
      const report = reports[call % reports.length];
      if (report === undefined) continue;
      to.attempted?.({ ...attempt, workId: report.order.id, retryInMs: undefined, unbilled: undefined });
      to.ended?.(report);
      to.committed?.({ id: report.order.id, shortfall: 0n });
    }
  };
  count(CALLS / 10);
  const before = process.cpuUsage();
  count(CALLS);
  const { user, system } = process.cpuUsage(before);
  return `${((user + system) / CALLS).toFixed(2)} µs of CPU`;
}

console.log(`a call that is counted: ${measure(observer)}`);
/** Drawn in bulk, as in the gateway. */
const pool = crypto.getRandomValues(new Uint8Array(8_192));
let characters = 0;
for (const sample of [0, 1]) {
  const traces = new TraceObserver({
    names: genAiNames.latest,
    apiOf: (prefix) => prefix,
    sample,
    onTrace: ({ json }) => (characters += json.length),
    clock: Date.now,
    randomBytes: (size) => pool.slice(0, size),
    randomFraction: Math.random,
  });
  console.log(`a call that is ${sample === 0 ? "not traced" : "traced"}: ${measure(traces)}`);
}
console.log(`a trace: ${Math.round(characters / (CALLS * 1.1))} characters`);

const families = await metrics.families();
const began = performance.now();
const text = await exposition([families, families, families, families]);
const scraped = performance.now();
await addUp([families, families]);
console.log(`a scrape of four workers: ${(scraped - began).toFixed(1)} ms, ${text.length} bytes`);
const alone = performance.now();
await metrics.families();
console.log(`a worker's part of it: ${(performance.now() - alone).toFixed(1)} ms`);
