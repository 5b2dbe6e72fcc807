import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Storage } from "../../storage/index.ts";
import { openStorage } from "../../../test/kit/storage.ts";
import { crawlRequest, discoveryOf } from "./crawl-request.ts";
import { OpenCrawls } from "./open-crawl.ts";
import { openWebStores } from "../stores/web-stores.ts";
import type { CrawlStore, LeasedPage } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-open-crawl-"));
let storage: Storage;
afterEach(async () => {
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

const planOf = (url: string) => ({ url, scrape: {}, discovery: discoveryOf(crawlRequest.parse({ url })) });

async function storeWith(url: string): Promise<CrawlStore> {
  storage = await openStorage(`sqlite:${join(folder, "t.db")}`);
  const store = openWebStores(storage).crawls;
  const crawl = { id: "c", kind: "crawl", owner: "u", caller: {}, request: planOf(url), retry: undefined } as const;
  await store.insert({ ...crawl, pagesMax: 9, concurrencyMax: 9, delayMs: 0, createdAt: 0, expiresAt: 9 }, 9);
  return store;
}

const page = (number: number, url: string, kind: LeasedPage["kind"] = "page"): LeasedPage => {
  const { host } = new URL(url);
  return { crawlId: "c", number, kind, url, host, depth: 0, attempts: 1, token: "t", work: undefined };
};

test.each(["page", "sitemap"] as const)(
  "a %s of another site shows a process that the start has moved",
  async (kind) => {
    const store = await storeWith("https://old.test/docs");
    const crawls = new OpenCrawls(store);
    const crawl = await crawls.get(page(0, "https://old.test/docs"));
    await store.rewrite("c", planOf("https://new.test/docs"));
    await crawls.get(page(1, "https://old.test/docs/a"));
    expect(crawl?.plan.url).toBe("https://old.test/docs");
    expect(await crawls.get(page(2, "https://new.test/docs/a", kind))).toBe(crawl);
    expect(crawl?.plan.url).toBe("https://new.test/docs");
    expect(crawl?.scope?.isWithin(new URL("https://new.test/docs/b"))).toBe(true);
  },
);
