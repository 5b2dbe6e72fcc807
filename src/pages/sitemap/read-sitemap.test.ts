import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { bytesOf } from "../__fixtures__/request.ts";
import { readSitemap } from "./read-sitemap.ts";
import { failureOf } from "../../../test/kit/failure-of.ts";
import type { SitemapRequest } from "./sitemap.ts";

type ReadSitemap = Awaited<ReturnType<typeof readSitemap>>;

function read(text: string | Uint8Array, request: Partial<SitemapRequest> = {}): Promise<ReadSitemap> {
  const bytes = typeof text === "string" ? bytesOf(text) : text;
  return readSitemap(bytes, {
    url: "https://site.test/sitemap.xml",
    contentType: undefined,
    isCut: false,
    ...request,
  });
}

/** The pages of such a sitemap. */
async function pagesOf(...[text, request]: Parameters<typeof read>): Promise<string[]> {
  return (await read(text, request)).pages.map(({ url }) => url);
}

describe("what a sitemap lists", () => {
  test("pages, each once, absolute", async () => {
    const sitemap = await read(
      '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc> https://site.test/a?x=1&amp;y=2 </loc>' +
        "<lastmod>2026-01-01</lastmod></url><url><loc>/b</loc></url><url><loc><![CDATA[https://site.test/b]]></loc></url></urlset>",
    );
    expect(sitemap).toEqual({
      pages: [{ url: "https://site.test/a?x=1&y=2" }, { url: "https://site.test/b" }],
      sitemaps: [],
      isCut: false,
    });
  });

  test("further sitemaps", async () => {
    const sitemap = await read("<sitemapindex><sitemap><loc>https://site.test/1.xml.gz</loc></sitemap></sitemapindex>");
    expect(sitemap.sitemaps).toEqual([{ url: "https://site.test/1.xml.gz" }]);
  });

  test("not the images of a page, in it or beside it", async () => {
    const sitemap = await read(
      "<urlset><image:image><image:loc>https://site.test/j.png</image:loc></image:image><url><loc>https://site.test/a</loc><image:image><image:loc>https://site.test/i.png</image:loc></image:image></url></urlset>",
    );
    expect(sitemap.pages.map(({ url }) => url)).toEqual(["https://site.test/a"]);
  });

  test("with a prefix", async () => {
    expect(await pagesOf("<s:urlset><s:url><s:loc>https://site.test/a</s:loc></s:url></s:urlset>")).toEqual([
      "https://site.test/a",
    ]);
  });

  test("addresses that are in no entry", async () => {
    expect(await pagesOf("<urlset><loc>/a</loc>text<loc><![CDATA[ /b?x&y ]]></loc></urlset>")).toEqual([
      "https://site.test/a",
      "https://site.test/b?x&y",
    ]);
    const index = await read(`<?xml version="1.0"?>\n<sitemapindex xmlns="x"><loc>/1.xml.gz</loc></sitemapindex>`);
    expect(index).toEqual({ pages: [], sitemaps: [{ url: "https://site.test/1.xml.gz" }], isCut: false });
  });

  test("addresses behind, and across, any number of characters", async () => {
    const padding = `<!--${"x".repeat(65_500)}-->`;
    const listed = Array.from({ length: 20 }, (_, index) => `<url>${padding}<loc>/${index}</loc></url>`);
    expect(await pagesOf(`<urlset>${listed.join("")}</urlset>`)).toHaveLength(20);
  });

  test("entries of feeds", async () => {
    const rss = await read(
      "<rss><channel><link>https://site.test/</link><item><title>T</title><link>https://site.test/1</link></item></channel></rss>",
    );
    expect(rss.pages).toEqual([{ url: "https://site.test/1", title: "T" }]);
    const atom = await read(
      '<feed><entry><link rel="self" href="/x"/><link href="/2"/><updated>2026</updated></entry></feed>',
    );
    expect(atom.pages).toEqual([{ url: "https://site.test/2" }]);
  });

  test("lines of a text", async () => {
    const text = "\uFEFFhttps://site.test/1\r\nnot an address\n\nhttps://site.test/2\r https://site.test/3 \n";
    expect(await pagesOf(text)).toEqual([1, 2, 3].map((id) => `https://site.test/${id}`));
    expect(await pagesOf("https://site.test/1")).toEqual(["https://site.test/1"]);
  });

  test("packed, also twice", async () => {
    const packed = gzipSync(gzipSync("<urlset><url><loc>https://site.test/a</loc></url></urlset>"));
    expect(await pagesOf(packed)).toEqual(["https://site.test/a"]);
  });

  test("of other schemes: nothing", async () => {
    expect(
      await pagesOf("<urlset><url><loc>file:///etc/passwd</loc></url><url><loc>javascript:x</loc></url></urlset>"),
    ).toEqual([]);
  });
});

describe("a sitemap that is cut off lists no part of an address", () => {
  test.each([
    ["<urlset><url><loc>/1</loc></url><url><loc>/2", ["https://site.test/1"]],
    ["<urlset><loc>/1</loc><loc>/2</lo", ["https://site.test/1"]],
    ["<urlset><url><loc>/1</loc><lastmod>20", ["https://site.test/1"]],
    ["https://site.test/1\nhttps://site.test/22", ["https://site.test/1"]],
  ])("%s", async (text, pages) => {
    expect(await pagesOf(text, { isCut: true })).toEqual(pages);
  });

  test("packed", async () => {
    const listed = Array.from(
      { length: 5_000 },
      (_, index) => `<url><loc>/${index}-${Bun.hash(`${index}`)}</loc></url>`,
    );
    const packed = gzipSync(`<urlset>${listed.join("")}</urlset>`);
    const found = await pagesOf(packed.subarray(0, packed.length / 2), { isCut: true });
    expect(found.length).toBeWithin(2_000, 3_000);
    expect(found.at(-1)).toBe(`https://site.test/${found.length - 1}-${Bun.hash(`${found.length - 1}`)}`);
  });
});

describe("hostile sitemaps", () => {
  test("a bomb is read up to the bound", async () => {
    const bomb = Buffer.alloc(51 * 1024 * 1024, 32);
    bomb.write("<urlset><url><loc>/1</loc></url>");
    bomb.write("<url><loc>/2</loc></url>", bomb.length - 100);
    const { pages, isCut } = await read(gzipSync(bomb));
    expect([pages, isCut]).toEqual([[{ url: "https://site.test/1" }], true]);
  });

  test("what cannot be unpacked is refused, unless some of it can", async () => {
    expect(await failureOf(read(Buffer.from([0x1f, 0x8b, 1, 2, 3])))).toMatchObject({
      message: "the sitemap can't be unpacked",
    });
  });

  test("entities are not expanded", async () => {
    const laughs = Array.from(
      { length: 20 },
      (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`,
    ).join("");
    const sitemap = await read(
      `<!DOCTYPE x [<!ENTITY l0 "ha">${laughs}<!ENTITY f SYSTEM "file:///etc/passwd">]><urlset><url><loc>/&l20;&f;</loc></url></urlset>`,
    );
    expect(sitemap.pages.map(({ url }) => url)).toEqual(["https://site.test/&l20;&f;"]);
  });

  test("addresses are bounded", async () => {
    const sitemap = await read(
      `<urlset>${Array.from({ length: 100_050 }, (_, index) => `<url><loc>/${index}</loc></url>`).join("")}</urlset>`,
    );
    expect(sitemap.pages).toHaveLength(100_000);
    expect(sitemap.isCut).toBe(true);
  });

  test("characters are bounded", async () => {
    const listed = Array.from({ length: 6_000 }, (_, index) => `<url><loc>/${"x".repeat(4_000)}${index}</loc></url>`);
    const { pages, isCut } = await read(`<urlset>${listed.join("")}</urlset>`);
    expect([pages.length, isCut]).toEqual([4_972, true]);
  });

  test("an address of too many characters is left out", async () => {
    expect(
      await pagesOf(`<urlset><url><loc>/${"x".repeat(200_000)}</loc></url><url><loc>/a</loc></url></urlset>`),
    ).toEqual(["https://site.test/a"]);
  });

  test.each(["<url>", "<loc>", "<a>"])("many of %s in one another are no sitemap", async (tag) => {
    expect(await failureOf(read(`<urlset>${tag.repeat(1_000_000)}`))).toMatchObject({
      message: "the sitemap has too many elements in one another",
    });
    expect(await read(`<urlset>${tag.repeat(900)}<loc>/a</loc></urlset>`)).toMatchObject({ pages: [] });
  });

  test.each(["<!doctype html><p>https://site.test/1", "Not found", ""])("%s is no sitemap", async (text) => {
    expect(await failureOf(read(text))).toMatchObject({ message: "the document is no sitemap" });
  });
});
