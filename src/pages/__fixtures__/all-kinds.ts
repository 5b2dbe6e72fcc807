/** Has children read a document of each kind, and prints what each turned out to be. */
import { PagePool } from "../pool/page-pool.ts";
import { makeDocx } from "../documents/__fixtures__/docx.ts";
import { makePdf } from "../documents/__fixtures__/pdf.ts";
import { bytesOf, pageRequest } from "./request.ts";

const owner = { owner: "alice" };
const all = { markdown: true, html: true, rawHtml: true, links: true, images: true };

const documents: Record<string, Uint8Array> = {
  "text/html; charset=windows-1251": bytesOf(
    `<title>x</title><body>${"<article><h1>A</h1><p>Some words of it.</p></article>".repeat(20)}<table><tr><td>1</table>`,
  ),
  "text/plain": bytesOf("Some words."),
  "application/json": bytesOf('{"some":["words"]}'),
  "text/csv": bytesOf("some,words\n1,2\n"),
  "application/rss+xml": bytesOf("<rss><channel><title>Some</title><item><title>words</title></item></channel></rss>"),
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": makeDocx("<w:p><w:r><w:t>Some words.</w:t></w:r></w:p>"),
  "application/pdf": makePdf([[[72, 700, 12, "Some words."]]]),
};

const pool = new PagePool({ children: 1 });
const kinds: string[] = [];
for (const [contentType, bytes] of Object.entries(documents)) {
  for (const onlyMainContent of [false, true]) {
    const { kind } = await pool.takeApart(bytes, pageRequest({ contentType, onlyMainContent, wants: all }), owner);
    if (!onlyMainContent) kinds.push(kind);
  }
}
const url = "https://site.test/sitemap.xml";
const sitemap = bytesOf("<urlset><url><loc>https://site.test/a</loc></url></urlset>");
const { pages } = await pool.readSitemap(sitemap, { url, contentType: "text/xml", isCut: false }, owner);
const wanted = await pool.matchPatterns([url], { include: ["sitemap.*"], exclude: ["b{2,}"] }, owner);
const { isSame } = await pool.compareTexts({ previous: "a", current: "a\nb", wantsChunks: true }, owner);
const [picture] = await pool.drawPdf(documents["application/pdf"] ?? bytesOf(""), [1], owner);
const isDrawn = picture !== undefined && picture.length > 0;
process.stdout.write(JSON.stringify({ kinds, pages: [...pages].length, wanted, isSame, isDrawn }));
await pool.close();
