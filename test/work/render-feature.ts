/**
 * A small model of a video or crawl feature: paid work without an HTTP request, done by a durable job. It only uses
 * charges/ and jobs/, and runs as a separate process, so that a test can kill it.
 *   bun render-feature.ts order STORAGE   orders the work, parks it with its job, and hangs in the job's first run
 *   bun render-feature.ts work STORAGE    runs due jobs until it is killed
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  EndJournal,
  type ParkedWork,
  openWork,
  resumeWork,
  Work,
  type WorkDependencies,
} from "../../src/charges/index.ts";
import type { ObservedUsage } from "../../src/core/index.ts";
import { type JobHandler, JobRunner, openJobStore } from "../../src/jobs/index.ts";
import { Ledger, type LedgerStore, openLedgerStore } from "../../src/ledger/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { Ticker } from "../../src/streaming/index.ts";
import { heldAtFirst, renderId, renderOrder } from "./render-order.ts";

const HOUR_MS = 3_600_000;
const KIND = "render";

interface Feature {
  ledgerStore: LedgerStore;
  work: WorkDependencies;
  jobs: ReturnType<typeof openJobStore>;
}

function featureOn(storage: Storage): Feature {
  const ledgerStore = openLedgerStore(storage);
  const work: WorkDependencies = {
    ledger: new Ledger({ store: ledgerStore }),
    ticker: new Ticker(20, () => performance.now()),
    clock: Date.now,
    openAnswers: { add: () => undefined, remove: () => undefined },
    onUnsettled: (id, reason) => console.error(`unsettled ${id}: ${String(reason)}`),
    unsettled: new Map(),
    journal: new EndJournal(join(tmpdir(), `tollgate-journal-${process.pid}`)),
    observer: { committed: ({ id }) => console.log(`committed ${id}`) },
  };
  return { ledgerStore, work, jobs: openJobStore(storage) };
}

/** Opens the work and parks it: its job has it from now on. */
async function orderRender({ work: deps }: Feature): Promise<void> {
  const work = await openWork(deps, renderOrder());
  if (!(work instanceof Work)) throw new Error("a replay");
  const now = Date.now();
  const row = { id: renderId, kind: KIND, owner: "u", runAt: now, createdAt: now };
  await work.park(now + HOUR_MS, (parked) => ({ ...row, payload: { parked } }));
  console.log("parked");
}

/** The job's first run on a node that is about to die: it never comes to its end. */
const hanging: JobHandler["run"] = () => {
  console.log("running");
  return new Promise(() => undefined);
};

/** Continues the work: its output exceeds the hold, which is topped up on the way. */
async function finish(feature: Feature, parked: ParkedWork): Promise<void> {
  const work = resumeWork(feature.work, parked);
  let seen: ObservedUsage = { usage: { output: 90_000 } };
  const { promise: exhausted, reject } = Promise.withResolvers<never>();
  work.meter(() => seen, reject);
  try {
    await Promise.race([exhausted, untilHeld(feature, 2n * heldAtFirst)]);
    seen = { usage: { output: 190_000 } };
    await Promise.race([exhausted, untilHeld(feature, 4n * heldAtFirst)]);
    seen = { usage: { output: 300_000 } };
    await work.end({ status: 200, outcome: "complete", observed: seen });
  } finally {
    // A run that failed must not follow the work any longer: another run goes on with it.
    work.leave();
  }
}

/** Resolves once the work has so much set aside. */
async function untilHeld({ ledgerStore, work: { ticker } }: Feature, amount: bigint): Promise<void> {
  for (;;) {
    const holds = await ledgerStore.openHolds();
    if (holds.some((hold) => hold.id === renderId && hold.amount >= amount)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    ticker.after(20, resolve);
    await promise;
  }
}

// A gateway's server keeps its process alive; the ticker alone does not.
setInterval(() => undefined, 60_000);

const [mode, url = ""] = process.argv.slice(2);
const storage = await openStorage(url);
const feature = featureOn(storage);
if (mode === "order") await orderRender(feature);
const runner = new JobRunner({
  store: feature.jobs,
  clock: Date.now,
  ticker: feature.work.ticker,
  randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
  randomFraction: Math.random,
  node: `node-${process.pid}`,
  pollMs: 20,
  onError: (reason) => console.error(String(reason)),
  handlers: new Map([
    [
      KIND,
      {
        run: async (job, context) => {
          if (mode === "order") return hanging(job, context);
          await finish(feature, job.payload["parked"] as ParkedWork);
          console.log("ended");
          return { done: true };
        },
        onExhausted: () => Promise.resolve(),
        attemptsMax: 5,
        runMsMax: 60_000,
        concurrencyMax: 1,
      },
    ],
  ]),
});
runner.wake(KIND);
