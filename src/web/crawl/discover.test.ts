/** The sitemaps of a crawl, on a real frontier, from a real server on the loopback interface. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CallAborter } from "../../core/index.ts";
import { PagePool } from "../../pages/index.ts";
import type { Storage } from "../../storage/index.ts";
import { openStorage } from "../../../test/kit/storage.ts";
import { MemoryBudget } from "../../streaming/index.ts";
import { outboundTo } from "../__fixtures__/outbound-to.ts";
import { Robots } from "../robots/index.ts";
import { openWebStores, type WebStores } from "../stores/web-stores.ts";
import { crawlRequest, discoveryOf } from "./crawl-request.ts";
import { crawlSitemaps } from "./discover.ts";
import { OpenCrawls } from "./open-crawl.ts";

const MEBIBYTE = 1024 * 1024;
const T0 = 2 ** 42;
const free = { connectionsMax: 9, intervalMs: 0 };

let folder: string;
let storage: Storage;
let crawls: WebStores["crawls"];
let pages: PagePool;
let site: { url: string; stop: () => Promise<void> };
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-discover-"));
  storage = await openStorage(`sqlite:${join(folder, "t.db")}`);
  ({ crawls } = openWebStores(storage));
  pages = new PagePool({ children: 1 });
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: ({ url }) => answer(new URL(url)) });
  site = { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
});
afterEach(async () => {
  await site.stop();
  await pages.close();
  await storage.close();
  rmSync(folder, { recursive: true });
});

/** More than every call has room for. */
const padding = `<!--${" ".repeat(2 * MEBIBYTE)}-->`;

/** The file that has too many requests, with its `retry-after`. */
let busy: { path: string; wait: string } | undefined;
afterEach(() => {
  busy = undefined;
});

/** Its sitemap lists two pages of the site, and one of another. */
function answer({ pathname, origin }: URL): Response {
  const wait = pathname === busy?.path ? busy.wait : undefined;
  if (wait !== undefined) return new Response("", { status: 429, headers: { "retry-after": wait } });
  if (pathname !== "/sitemap.xml") return new Response("", { status: 404 });
  const listed = ["/a", "/b", "http://other.test/c"].map(
    (each) => `<url><loc>${new URL(each, origin).href}</loc></url>`,
  );
  return new Response(`<urlset>${padding}${listed.join("")}</urlset>`);
}

/** Reads the sitemaps of a new crawl. Returns the pages that are due after that, and after a while. */
async function crawled({ memoryBytes = 512 * MEBIBYTE, signal = new CallAborter().signal } = {}): Promise<string[][]> {
  const { url } = site;
  const request = { url, scrape: {}, discovery: discoveryOf(crawlRequest.parse({ url })) };
  const facts = { id: "c", kind: "crawl", owner: "u", caller: {}, request, retry: undefined } as const;
  await crawls.insert({ ...facts, pagesMax: 9, concurrencyMax: 9, delayMs: 0, createdAt: T0, expiresAt: T0 + 1e9 }, 9);
  const { host } = new URL(url);
  await crawls.add("c", [{ kind: "sitemap", key: "s", url, host, depth: 0 }], T0, 99);
  const take = async (at: number) =>
    crawls.take({ lease: { token: "t", until: T0 + 1e9 }, at, pagesMax: 9, politeness: free });
  const [page] = await take(T0);
  const crawl = page && (await new OpenCrawls(crawls).get(page));
  if (page === undefined || crawl === undefined) throw new Error("the crawl is gone");
  const outbound = outboundTo(url);
  const environment = { clock: () => T0 };
  const sitemaps = { outbound, pages, memory: new MemoryBudget(memoryBytes), userAgent: "Tollgate/1", environment };
  const robots = new Robots({ outbound, ...environment, userAgent: "Tollgate/1" });
  const messages = { finish: () => Promise.reject(new Error("the crawl was ended")) };
  const bounds = { retryAfterMsMax: 60_000, politeness: { connectionsMax: 1, intervalMs: 0 } };
  await crawlSitemaps({ crawls, robots, sitemaps, pages, messages, environment, bounds }, { page, crawl, signal });
  const due = async (at: number) =>
    (await take(at)).map((each) => `${each.kind} ${new URL(each.url).pathname} ${each.attempts}`).toSorted();
  return [await due(T0), await due(T0 + 60_000)];
}

test("the pages that sitemaps list are due", async () => {
  expect(await crawled()).toEqual([["page /a 1", "page /b 1"], []]);
});

describe("sitemaps are read later", () => {
  test("if the page pool has no room", async () => {
    await pages.close();
    expect(await crawled()).toEqual([[], ["sitemap / 1"]]);
  });

  test.each(["/sitemap.xml", "/robots.txt"])("if %s is to be asked for later", async (path) => {
    busy = { path, wait: "20" };
    expect(await crawled()).toEqual([[], ["sitemap / 1"]]);
  });

  test("if the memory has no room", async () => {
    expect(await crawled({ memoryBytes: MEBIBYTE })).toEqual([[], ["sitemap / 1"]]);
  });

  test("by another process, if this one stops", async () => {
    const stopping = new CallAborter();
    stopping.abort(new Error("the server stops"));
    expect(await crawled({ signal: stopping.signal })).toEqual([["sitemap / 1"], []]);
  });
});

test.each(["/sitemap.xml", "/robots.txt"])(
  "a host that asks for too long a pause for %s is left alone",
  async (path) => {
    busy = { path, wait: "61" };
    expect(await crawled()).toEqual([[], []]);
  },
);
