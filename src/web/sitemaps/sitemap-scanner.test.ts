import { describe, expect, test } from "bun:test";
import { SitemapScanner } from "./sitemap-scanner.ts";

/** All addresses, however the text is cut into pieces. */
function scan(text: string, size: number): { found: string[]; isIndex: boolean } {
  const scanner = new SitemapScanner();
  const found: string[] = [];
  for (let from = 0; from < text.length; from += size) found.push(...scanner.scan(text.slice(from, from + size)));
  found.push(...scanner.end());
  return { found, isIndex: scanner.isIndex };
}

const padding = `<!--${"x".repeat(1_100)}-->`;

describe.each([1, 7, 1_000, 100_000])("in pieces of %d characters", (size) => {
  test.each<[string, string, string[]]>([
    [
      "addresses",
      "<urlset><url><loc> https://a.test/1?x=1&amp;y=2 </loc></url></urlset>",
      ["https://a.test/1?x=1&y=2"],
    ],
    [
      "prefixes and CDATA",
      "<s:urlset><s:loc><![CDATA[https://a.test/?a&b]]></s:loc></s:urlset>",
      ["https://a.test/?a&b"],
    ],
    [
      "lines",
      `https://a.test/1\r\nhttps://a.test/2\n\nhttps://a.test/3`,
      [1, 2, 3].map((id) => `https://a.test/${id}`),
    ],
    ["addresses after much else", `<urlset>${padding}<loc>/a</loc>${padding}<loc>/b</loc></urlset>`, ["/a", "/b"]],
    ["nothing in HTML", "<!doctype html><p>https://a.test/", []],
    ["nothing that has no end", "<urlset><loc>https://a.test/1", []],
  ])("%s", (_name, text, found) => {
    expect(scan(text, size)).toEqual({ found, isIndex: false });
  });

  test("an index", () => {
    const text = `<?xml version="1.0"?>\n<sitemapindex xmlns="x"><sitemap><loc>/1.xml.gz</loc></sitemap></sitemapindex>`;
    expect(scan(text, size)).toEqual({ found: ["/1.xml.gz"], isIndex: true });
  });
});

test("keeps little of a document without an end", () => {
  const scanner = new SitemapScanner();
  let found = 0;
  for (let piece = 0; piece < 500; piece += 1) found += scanner.scan(`<loc>${"<loc>".repeat(2_000)}`).length;
  expect(found).toBe(0);
  expect(scanner.end()).toEqual([]);
});
