import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { get } from "node:http";
import { gunzipSync } from "node:zlib";
import { compareMarkdown, startWebSite, type WebSite } from "./index.ts";

let site: WebSite;

beforeAll(async () => {
  site = await startWebSite();
});
afterAll(() => site.stop());

test("more than a hundred pages, each with an expectation of its own", () => {
  const pages = [...site.content, ...site.charsets, ...site.documents, ...site.scripted];
  expect(pages.length).toBeGreaterThan(100);
  expect(new Set(pages.map(({ path }) => path)).size).toBe(pages.length);
});

test("every content page contains its text and its margins", async () => {
  for (const { path, expected, forbidden } of site.content) {
    const response = await fetch(site.url + path);
    const html = await response.text();
    expect([path, response.status]).toEqual([path, 200]);
    for (const text of forbidden)
      expect(html.includes(text) || path.startsWith("/special/"), `${path}: ${text}`).toBe(true);
    const [, title = ""] = /^# (.*)$/m.exec(expected) ?? [];
    expect(html, path).toContain(title.replaceAll("&", "&amp;"));
  }
});

test("encodings, documents and scripts are sent as they claim", async () => {
  for (const path of site.encoded.filter((name) => !/zstd|layers|raw/.test(name))) {
    expect(await (await fetch(site.url + path)).text(), path).toBe(site.target.html);
  }
  for (const { path } of [...site.charsets, ...site.documents, ...site.scripted]) {
    expect((await fetch(site.url + path)).status, path).toBe(200);
  }
});

test("good redirects end at the target", async () => {
  for (const path of site.goodRedirects.filter((name) => !/\/(meta|refresh)$/.test(name))) {
    const response = await fetch(site.url + path);
    expect([path, new URL(response.url).pathname]).toEqual([path, site.target.path]);
  }
});

test("the sitemaps list the content", async () => {
  const index = await (await fetch(`${site.url}/sitemap-index.xml`)).text();
  const maps = [...index.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, address = ""]) => address);
  const texts = await Promise.all(
    maps.map(async (address) => {
      const bytes = await (await fetch(address)).bytes();
      return address.endsWith(".gz") ? gunzipSync(bytes).toString() : new TextDecoder().decode(bytes);
    }),
  );
  const found = texts.flatMap((text) => text.match(/http:\/\/127[^<\s]*/g) ?? []);
  expect(found).toEqual(site.listed.map((path) => site.url + path));
});

test("hostile answers begin", async () => {
  for (const path of [
    "/hostile/gzip-bomb",
    "/hostile/brotli-bomb",
    "/hostile/endless",
    "/hostile/million-links",
    "/hostile/drip",
  ]) {
    const aborter = new AbortController();
    const size = await new Promise<number>((resolve, reject) => {
      const asked = get(site.url + path, { signal: aborter.signal }, (reply) => {
        reply.once("data", (bytes: Buffer) => resolve(bytes.length));
        reply.on("error", () => undefined);
      });
      asked.on("error", reject);
    });
    expect(size, path).toBeGreaterThan(0);
    aborter.abort();
  }
});

test("requests are recorded, with the most at once", async () => {
  site.clear();
  const aborter = new AbortController();
  const drips = [1, 2, 3].map((n) => fetch(`${site.url}/hostile/drip?ms=5&n=${n}`, { signal: aborter.signal }));
  await Promise.all(drips);
  expect(site.visits("/hostile/drip")).toHaveLength(3);
  expect(site.mostAtOnce()).toBe(3);
  aborter.abort();
  await fetch(`${site.url}/echo`, { headers: { "x-mark": "1" } });
  expect(site.visits("/echo")[0]?.headers["x-mark"]).toBe("1");
  expect(site.mostAtOnce(({ path }) => path === "/echo")).toBe(1);
});

describe("compareMarkdown", () => {
  const expectation = { expected: "# A\n\ntext\n\n```\n\nx\n```", forbidden: ["Footer"], extraBlocksMax: 1 };

  test("finds nothing where blocks are there in their order", () => {
    expect(compareMarkdown("# A\n\nby me\n\ntext\n\n```\n\nx\n```", expectation)).toEqual([]);
  });

  test("names lacking, surplus and marginal texts", () => {
    expect(compareMarkdown("text\n\n## [A](#a)\n\none\n\ntwo Footer", expectation)).toEqual([
      "missing: text",
      "missing: ```\n\nx\n```",
      "not expected: one",
      "not expected: two Footer",
      "belongs to the margins: Footer",
    ]);
  });
});
