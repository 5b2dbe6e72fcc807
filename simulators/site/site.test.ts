import { afterAll, beforeAll, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { type DemoSite, sitePages, startDemoSite } from "./index.ts";

let site: DemoSite;

beforeAll(() => {
  site = startDemoSite({ host: "127.0.0.1", port: 0 });
});
afterAll(() => site.stop());

/** The addresses in a sitemap or a sitemap index. */
function locations(xml: string): string[] {
  return [...xml.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, address = ""]) => address);
}

async function read(address: string): Promise<string> {
  const response = await fetch(address);
  expect(response.status, address).toBe(200);
  if (!address.endsWith(".gz")) return response.text();
  return gunzipSync(await response.arrayBuffer()).toString("utf8");
}

test("the sitemaps list every page, and each of them can be read", async () => {
  const robots = await read(`${site.url}/robots.txt`);
  expect(robots).toContain(`Sitemap: ${site.url}/sitemap.xml`);
  const maps = locations(await read(`${site.url}/sitemap.xml`));
  const listed = (await Promise.all(maps.map(async (map) => locations(await read(map))))).flat();
  const expected = [...sitePages().map(({ path }) => path), "/live", "/files/bw-200-datasheet.pdf"];
  expect(listed.toSorted()).toEqual(expected.map((path) => site.url + path).toSorted());
  expect(listed.length).toBeGreaterThanOrEqual(25);
  for (const address of listed) expect((await read(address)).length).toBeGreaterThan(500);
});

test("every link within the site leads somewhere", async () => {
  for (const { path } of sitePages()) {
    const html = await read(site.url + path);
    const targets = [...html.matchAll(/(?:href|src)="(\/[^"#]*)/g)].map(([, target = ""]) => target);
    expect(targets.length).toBeGreaterThan(5);
    for (const target of new Set(targets))
      expect((await fetch(site.url + target)).status, `${path} → ${target}`).toBe(200);
  }
});

test("pages name the host that they were asked for", async () => {
  const response = await fetch(`${site.url}/shop/bw-200`, { headers: { host: "shop.example:8080" } });
  const html = await response.text();
  expect(html).toContain('<link rel="canonical" href="http://shop.example:8080/shop/bw-200">');
  const [, data = ""] = /<script type="application\/ld\+json">(.*)<\/script>/.exec(html) ?? [];
  expect(JSON.parse(data)).toMatchObject({ "@type": "Product", sku: "BW-200", offers: { price: "249.00" } });
});

test("other addresses are redirected, missing or refused", async () => {
  const moved = await fetch(`${site.url}/docs`, { redirect: "manual" });
  expect([moved.status, moved.headers.get("location")]).toEqual([301, "/docs/"]);
  expect((await fetch(`${site.url}/docs/nothing`)).status).toBe(404);
  expect((await fetch(site.url, { method: "POST" })).status).toBe(405);
  const sheet = await (await fetch(`${site.url}/files/bw-200-datasheet.pdf`)).text();
  expect(sheet.slice(0, 8)).toBe("%PDF-1.4");
});

test("a port that is taken is replaced", async () => {
  const second = startDemoSite({ host: "127.0.0.1", port: Number(new URL(site.url).port) });
  expect(second.url).not.toBe(site.url);
  await second.stop();
});
