/** Maps of the test site: sitemaps in every form, links, order and limits. */
import { expect, test } from "bun:test";
import { post } from "../kit/index.ts";
import { webScene } from "./web-scene.ts";

const scene = webScene();

interface Link {
  readonly url: string;
  readonly title?: string;
}

async function map(options: object = {}): Promise<string[]> {
  const { rig, caller, site } = scene();
  const answer = await post(rig, "/v2/map", caller.token, { url: site.url, ...options }, { msMax: 30_000 });
  expect(answer.status).toBe(200);
  const { success, links } = (await answer.json()) as { success: boolean; links: Link[] };
  expect(success).toBe(true);
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
