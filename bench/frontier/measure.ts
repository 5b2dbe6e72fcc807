/** How long the choice of the next pages takes in a frontier with a million addresses. */
import type { Storage } from "../../src/storage/index.ts";
import { openWebStores } from "../../src/web/index.ts";
import { Samples } from "../load/samples.ts";
import { onEachStore } from "../system/stores.ts";
import { fillFrontier, type FrontierShape } from "./fill.ts";

export interface FrontierFigures {
  store: string;
  shape: string;
  rows: number;
  /** Milliseconds of one choice, its commit included. */
  p50: number;
  p99: number;
  pagesPerTake: number;
  /** Why the figures don't count. */
  problem: string | null;
}

const shapes: readonly FrontierShape[] = [
  { title: "1 crawl, 1 host", crawls: 1, hostsOfCrawl: 1 },
  { title: "20 crawls, 10,000 hosts", crawls: 20, hostsOfCrawl: 500 },
];

/** Pages that a choice asks for, as a node with that many free places. */
const takenMax = 20;

const politeness = { connectionsMax: 2, intervalMs: 200 };
const unbounded = { connectionsMax: 1_000, intervalMs: 0 };

const leaseMs = 30_000;
const warmUpTakes = 50;

/** Measures each store with each shape. */
export async function measureFrontier(
  { rows, takes }: { rows: number; takes: number },
  progress: (line: string) => void,
): Promise<FrontierFigures[]> {
  const figures: FrontierFigures[] = [];
  for (const shape of shapes) {
    const measured = await onEachStore(async ({ name: store, storage, url }) => {
      progress(`frontier: ${store}, ${rows} addresses, ${shape.title}`);
      const at = Date.now();
      await fillFrontier(storage, url, { ...shape, rows, at });
      return { store, shape: shape.title, rows, ...(await measureTakes(storage, shape, takes, at)) };
    });
    figures.push(...measured);
  }
  return figures;
}

/** Each choice is made when the pages of the one before have been read, at a clock that runs as if each took a second. */
async function measureTakes(storage: Storage, { crawls }: FrontierShape, takes: number, from: number) {
  const store = openWebStores(storage).crawls;
  const samples = new Samples();
  let pages = 0;
  for (let take = -warmUpTakes; take < takes; take += 1) {
    const at = from + (take + warmUpTakes) * 1_000;
    const lease = { token: "bench", until: at + leaseMs };
    const begun = performance.now();
    const taken = await store.take({
      lease,
      at,
      pagesMax: takenMax,
      ownerShare: 1,
      politeness: crawls === 1 ? unbounded : politeness,
    });
    const ms = performance.now() - begun;
    if (take >= 0) {
      samples.add(ms);
      pages += taken.length;
    }
    for (const page of taken) await store.end(page, { state: "done", credits: 1_000n }, at);
  }
  const { p50, p99 } = samples.spread() ?? { p50: Number.NaN, p99: Number.NaN };
  const pagesPerTake = pages / takes;
  const problem = pagesPerTake === takenMax ? null : `${pagesPerTake} pages of ${takenMax} were chosen`;
  return { p50, p99, pagesPerTake, problem };
}
