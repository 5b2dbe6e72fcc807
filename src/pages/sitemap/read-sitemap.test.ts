import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { bytesOf } from "../__fixtures__/request.ts";
import { readSitemap, type Sitemap } from "./read-sitemap.ts";

function read(text: string | Uint8Array): Sitemap {
  const bytes = typeof text === "string" ? bytesOf(text) : text;
  return readSitemap(bytes, { url: "https://site.test/sitemap.xml", contentType: undefined });
}

const urls = (sitemap: Sitemap): string[] => sitemap.pages.map(({ url }) => url);

describe("what a sitemap lists", () => {
  test("pages, each once, absolute", () => {
    const sitemap = read(
      '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc> https://site.test/a?x=1&amp;y=2 </loc>' +
        "<lastmod>2026-01-01</lastmod></url><url><loc>/b</loc></url><url><loc><![CDATA[https://site.test/b]]></loc></url></urlset>",
    );
    expect(sitemap).toEqual({
      pages: [{ url: "https://site.test/a?x=1&y=2", lastModified: "2026-01-01" }, { url: "https://site.test/b" }],
      sitemaps: [],
      isCut: false,
    });
  });

  test("further sitemaps", () => {
    const sitemap = read("<sitemapindex><sitemap><loc>https://site.test/1.xml.gz</loc></sitemap></sitemapindex>");
    expect(sitemap.sitemaps).toEqual([{ url: "https://site.test/1.xml.gz" }]);
  });

  test("not the images of a page", () => {
    const sitemap = read(
      "<urlset><url><loc>https://site.test/a</loc><image:image><image:loc>https://site.test/i.png</image:loc></image:image></url></urlset>",
    );
    expect(urls(sitemap)).toEqual(["https://site.test/a"]);
  });

  test("with a prefix", () => {
    expect(urls(read("<s:urlset><s:url><s:loc>https://site.test/a</s:loc></s:url></s:urlset>"))).toEqual([
      "https://site.test/a",
    ]);
  });

  test("entries of feeds", () => {
    const rss = read(
      "<rss><channel><link>https://site.test/</link><item><title>T</title><link>https://site.test/1</link></item></channel></rss>",
    );
    expect(rss.pages).toEqual([{ url: "https://site.test/1", title: "T" }]);
    const atom = read(
      '<feed><entry><link rel="self" href="/x"/><link href="/2"/><updated>2026</updated></entry></feed>',
    );
    expect(atom.pages).toEqual([{ url: "https://site.test/2", lastModified: "2026" }]);
  });

  test("lines of a text", () => {
    expect(urls(read("https://site.test/a\r\nnot an address\nhttps://site.test/b"))).toEqual([
      "https://site.test/a",
      "https://site.test/b",
    ]);
  });

  test("packed, also twice", () => {
    const packed = gzipSync(gzipSync("<urlset><url><loc>https://site.test/a</loc></url></urlset>"));
    expect(urls(read(packed))).toEqual(["https://site.test/a"]);
  });

  test("of other schemes: nothing", () => {
    expect(
      urls(read("<urlset><url><loc>file:///etc/passwd</loc></url><url><loc>javascript:x</loc></url></urlset>")),
    ).toEqual([]);
  });
});

describe("hostile sitemaps", () => {
  test("a bomb is refused", () => {
    expect(() => read(gzipSync(Buffer.alloc(80 * 1024 * 1024)))).toThrow("the sitemap unpacks to too much");
  });

  test("entities are not expanded", () => {
    const laughs = Array.from(
      { length: 20 },
      (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`,
    ).join("");
    const sitemap = read(
      `<!DOCTYPE x [<!ENTITY l0 "ha">${laughs}<!ENTITY f SYSTEM "file:///etc/passwd">]><urlset><url><loc>/&l20;&f;</loc></url></urlset>`,
    );
    expect(urls(sitemap)).toEqual(["https://site.test/&l20;&f;"]);
  });

  test("addresses are bounded", () => {
    const sitemap = read(
      `<urlset>${Array.from({ length: 100_050 }, (_, index) => `<url><loc>/${index}</loc></url>`).join("")}</urlset>`,
    );
    expect(sitemap.pages).toHaveLength(100_000);
    expect(sitemap.isCut).toBe(true);
  });

  test("elements in elements", () => {
    expect(urls(read(`<urlset>${"<url>".repeat(200_000)}<loc>/a</loc></urlset>`))).toEqual([]);
  });

  test("a web page is no sitemap", () => {
    expect(() => read("<!doctype html><p>Not found")).toThrow("the document is no sitemap");
  });
});
