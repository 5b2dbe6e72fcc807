/** Firecrawl's own SDK for Python, with crawls, batches and searches. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type Caller, findPython, type Rig, root, startRig } from "../kit/index.ts";
import { type CrawlSite, startCrawlSite } from "./site/crawl-site.ts";

const found = await findPython("test/web/python/requirements.txt");
if ("missing" in found) console.log(`skipped: firecrawl-py, ${found.missing}`);

let site: CrawlSite;
let rig: Rig;
let caller: Caller;
beforeAll(async () => {
  site = await startCrawlSite();
  const crawl = { pages_per_second: 0, connections_per_host: 8, per_user: 10 };
  rig = await startRig({ config: { web: { allow_private_hosts: [new URL(site.url).host], crawl } } });
  caller = await rig.caller();
});
afterAll(async () => {
  await rig.stop();
  await site.stop();
});

test.skipIf("missing" in found)(
  "crawl, batch, watcher and search",
  async () => {
    const python = "python" in found ? found.python : "";
    const script = join(root, "test/web/python/crawl.py");
    const child = Bun.spawn([python, script, rig.gateway.url, caller.token, site.url], {
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, problems] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect(await child.exited, problems).toBe(0);
    const chapters = [1, 2, 3, 4, 5, 6].map((number) => `${site.url}/docs/chapter-${number}/`);
    const pages = [1, 2, 3].map((number) => `${site.url}/docs/chapter-1/page-${number}`);
    // The credits of jobs that it started are left out: its models read whole numbers only, and have these defaults.
    expect(JSON.parse(output)).toEqual({
      crawl: ["completed", 7, [`${site.url}/docs/`, ...chapters], 0],
      asynchronous: ["completed", 3, expect.arrayContaining([`${site.url}/docs/`]) as string[], 0],
      active: true,
      cancelled: [true, "cancelled"],
      watched: ["completed", 5, 0],
      watched_batch: ["completed", 3, 0],
      parts: [3, 3],
      batch: ["completed", 3, pages, null],
      keyed: true,
      failed: ["completed", 0, 0],
      errors: 0,
      batch_errors: ["SCRAPE_SITE_ERROR"],
      found: Array.from({ length: 3 }, () => [expect.stringContaining(site.url) as string, true]),
      read: [
        [true, 200],
        [true, 200],
      ],
      unknown: 404,
      remaining: 999,
      concurrency: expect.any(Number) as number,
    });
  },
  60_000,
);
