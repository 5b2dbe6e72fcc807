/**
 * A process that runs jobs until its standard input ends: `bun node.ts URL NAME`. It writes the events of its runs to the
 * table `runs`.
 */
import { randomBytes } from "node:crypto";
import { type Job, type JobResult, JobRunner, openJobStore } from "../../../src/jobs/index.ts";
import type { Storage } from "../../../src/storage/index.ts";
import { openStorage } from "../../kit/storage.ts";
import { Ticker } from "../../../src/streaming/index.ts";
import { query } from "../../kit/engines.ts";
import { until } from "../../kit/until.ts";

/** Short, since tests wait until it runs out, but long enough to be renewed on a busy machine. */
const LEASE_MS = 1_500;

const [url = "", node = ""] = process.argv.slice(2);

function note(storage: Storage, { id, attempts }: Job, what: string): Promise<unknown> {
  const row = [`'${id}'`, `'${node}'`, `'${what}'`, attempts, Date.now()];
  return query(storage, `INSERT INTO runs (job, node, what, attempts, at) VALUES (${row.join(", ")})`);
}

async function run(storage: Storage, job: Job, signal: AbortSignal): Promise<JobResult> {
  const { payload } = job;
  signal.addEventListener("abort", () => void note(storage, job, "aborted"));
  await note(storage, job, "begin");
  if (payload["do"] === "die") process.kill(process.pid, "SIGKILL");
  if (payload["do"] === "wait") {
    const gate = `SELECT node FROM gates WHERE node = '${node}'`;
    await until("the gate opens", async () => (await query(storage, gate)).length > 0, 60_000);
  }
  await note(storage, job, "end");
  const left = Number(payload["left"] ?? 0);
  return left === 0 ? { done: true } : { again: { ...payload, left: left - 1 }, afterMs: 0 };
}

const storage = await openStorage(url);
const ticker = new Ticker(20, () => performance.now());
const handler = {
  run: (job: Job, { signal }: { signal: AbortSignal }) => run(storage, job, signal),
  onExhausted: async (job: Job) => {
    await note(storage, job, "given up");
  },
  attemptsMax: 2,
  concurrencyMax: 6,
  runMsMax: 60_000,
};
const runner = new JobRunner({
  store: openJobStore(storage),
  handlers: new Map([["work", handler]]),
  node,
  clock: Date.now,
  ticker,
  randomBytes,
  randomFraction: Math.random,
  onError: (reason) => console.error(reason),
  pollMs: 50,
  leaseMs: LEASE_MS,
});
await Bun.stdin.text();
process.exitCode = await runner.stop(10_000);
ticker.stop();
await storage.close();
