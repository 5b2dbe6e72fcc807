/** Maps of the test site: sitemaps in every form, links, order and limits. */
import { expect, test } from "bun:test";
import { post } from "../kit/index.ts";
import { startCrawlSite } from "./site/crawl-site.ts";
import { webScene } from "./web-scene.ts";

const scene = webScene(() => ({ web: { allow_private_hosts: ["127.0.0.1:*"] } }));

interface Link {
  readonly url: string;
  readonly title?: string;
}

interface Mapped {
  readonly success: boolean;
  readonly links: Link[];
  readonly warning?: string;
}

async function mapped(options: object): Promise<Mapped> {
  const { rig, caller, site } = scene();
  const answer = await post(rig, "/v2/map", caller.token, { url: site.url, ...options });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Mapped;
}

async function map(options: object = {}): Promise<string[]> {
  const { success, links, warning } = await mapped(options);
  expect([success, warning]).toEqual([true, undefined]);
  return links.map(({ url }) => url);
}

const pathOf = (url: string): string => new URL(url).pathname;

test("an index, a compressed sitemap and a list of addresses, each address once", async () => {
  const { site } = scene();
  const found = (await map({ sitemap: "only" })).map(pathOf);
  expect(new Set(found).size).toBe(found.length);
  for (const path of site.listed) expect(found).toContain(path);
});

test("the links of the page as well, or only them", async () => {
  const { site } = scene();
  site.clear();
  const found = (await map({ sitemap: "skip" })).map(pathOf);
  expect(site.visits("/sitemap-index.xml")).toEqual([]);
  for (const path of site.listed) expect(found).toContain(path);
});

test("a limit, and a search that puts the best first", async () => {
  expect(await map({ limit: 7 })).toHaveLength(7);
  const [first = ""] = await map({ search: "sourdough ghost" });
  expect(pathOf(first)).toBe("/ghost/sourdough");
});

test("a sitemap without end is read in part, which the answer says", async () => {
  const million = await startCrawlSite({ sitemap: "million" });
  try {
    const { links, warning } = await mapped({ url: million.url, sitemap: "only", search: "99999", limit: 2 });
    expect(links.map(({ url }) => pathOf(url))).toEqual(["/listed/99999", "/listed/9999"]);
    expect(warning).toContain("100000 addresses");
  } finally {
    await million.stop();
  }
});
