/**
 * `npm run bench:metrics`: the CPU time that a call takes to be counted, and the time of a scrape of four workers with 500 models
 * each, in the process that is scraped.
 */
import process from "node:process";
import { GatewayMetrics, addUp, exposition } from "../src/metrics/index.ts";

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
  return { order: { id: `req_${at % 64}` }, record, credits: "0.00123" } as Report;
}

const reports = Array.from({ length: MODELS * 4 }, (_, at) => reportOf(at));
const attempt = { provider: "up", keyId: "k", attempt: 1, status: 200, failure: undefined, milliseconds: 18 };
const count = (calls: number): void => {
  for (let call = 0; call < calls; call += 1) {
    const report = reports[call % reports.length];
    if (report === undefined) continue;
    observer.attempted?.({ ...attempt, workId: report.order.id, retryInMs: undefined, unbilled: undefined });
    observer.ended?.(report);
    observer.committed?.({ id: report.order.id, shortfall: 0n });
  }
};
count(CALLS / 10);
const before = process.cpuUsage();
count(CALLS);
const { user, system } = process.cpuUsage(before);
console.log(`a call: ${((user + system) / CALLS).toFixed(2)} µs of CPU`);

const families = await metrics.families();
const began = performance.now();
const text = await exposition([families, families, families, families]);
const scraped = performance.now();
await addUp([families, families]);
console.log(`a scrape of four workers: ${(scraped - began).toFixed(1)} ms, ${text.length} bytes`);
const alone = performance.now();
await metrics.families();
console.log(`a worker's part of it: ${(performance.now() - alone).toFixed(1)} ms`);
