import { expect, test } from "bun:test";
import type { CrawlDependencies } from "./crawl-dependencies.ts";
import { CrawlRunner } from "./crawl-runner.ts";

const ignore = (): void => undefined;

test("a store that throws at once ends nothing: it is reported, and asked again later", async () => {
  const asked: string[] = [];
  const lines: unknown[] = [];
  let isBroken = true;
  let now = 0;
  const store = new Proxy(
    {},
    {
      get: (_, name) => () => {
        asked.push(String(name));
        if (isBroken) throw new Error("the database is locked");
        return Promise.resolve([]);
      },
    },
  );
  const deps: Partial<CrawlDependencies> = {
    crawls: store as CrawlDependencies["crawls"],
    environment: { clock: () => now, randomBytes: (size) => new Uint8Array(size), randomFraction: () => 0 },
    ticker: { now: () => now, watch: () => undefined, leave: () => undefined, after: () => () => undefined },
    bounds: {
      politeness: { connectionsMax: 1, intervalMs: 0 },
      pagesAtOnceMax: 1,
      maxAgeMs: undefined,
      retryAfterMsMax: 1,
      crawlsPerUserMax: 1,
      bytesPerUserMax: 1,
    },
    logger: { info: ignore, warn: ignore, error: (fields) => void lines.push(fields), flush: ignore },
  };
  const runner = new CrawlRunner(deps as CrawlDependencies);
  const tick = async (milliseconds: number): Promise<string[]> => {
    asked.length = 0;
    now += milliseconds;
    runner.onTick(now);
    await new Promise(setImmediate);
    return [...asked];
  };
  const reason = "Error: the database is locked";
  expect(await tick(1_000)).toEqual(["take", "exhausted"]);
  expect(lines).toEqual([{ reason }, { reason }]);
  expect(await tick(250)).toEqual([]);
  isBroken = false;
  expect(await tick(1_000)).toEqual(["take", "exhausted", "oversized", "overdue"]);
  expect(lines).toHaveLength(2);
});
