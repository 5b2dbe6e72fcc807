import { expect, test } from "bun:test";
import { CallAborter } from "../../../core/index.ts";
import type { OpenCrawl } from "../open-crawl.ts";
import type { CrawlStore } from "../store.ts";
import { type BusyEnd, restHost } from "./busy-host.ts";

const now = 2 ** 42;

/** What becomes of a page after these answers, and until when its host rested each time. */
async function rested(...askedMs: (number | undefined)[]): Promise<[BusyEnd[], number[]]> {
  const rests: number[] = [];
  const crawls = {
    rest: async (host: string, until: number) => void rests.push(host === "h" ? until - now : Number.NaN),
  };
  const deps = {
    crawls: crawls as unknown as CrawlStore,
    environment: { clock: () => now },
    bounds: { retryAfterMsMax: 60_000, politeness: { connectionsMax: 1, intervalMs: 0 } },
  };
  const page = { crawlId: "c", number: 3, kind: "page", url: "http://h/", host: "h", depth: 0, attempts: 1 } as const;
  const crawl = { busyTries: new Map<number, number>() } as OpenCrawl;
  const run = { page: { ...page, token: "t", work: undefined }, crawl, signal: new CallAborter().signal };
  const ends: BusyEnd[] = [];
  for (const each of askedMs) ends.push(await restHost(deps, run, each));
  return [ends, rests];
}

test("a host rests as long as it asks for, ten seconds if it names no time, a second at least", async () => {
  expect(await rested(25_000)).toEqual([[{ askAt: now + 25_000 }], [25_000]]);
  expect(await rested(60_000)).toEqual([[{ askAt: now + 60_000 }], [60_000]]);
  expect(await rested(undefined)).toEqual([[{ askAt: now + 10_000 }], [10_000]]);
  expect(await rested(0)).toEqual([[{ askAt: now + 1_000 }], [1_000]]);
});

test("a page is asked for three times, and its host rests after each", async () => {
  const { askAt } = { askAt: now + 2_000 };
  expect(await rested(2_000, 2_000, 2_000)).toEqual([
    [{ askAt }, { askAt }, "tried"],
    [2_000, 2_000, 2_000],
  ]);
});

test("a pause that is too long is not waited for", async () => {
  expect(await rested(60_001)).toEqual([["too_long"], []]);
});
