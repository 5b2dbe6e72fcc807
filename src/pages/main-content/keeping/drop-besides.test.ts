import { expect, test } from "bun:test";
import { parseHtml } from "../../html/parse.ts";
import { describePage } from "../main-content.ts";
import { dropComments, dropForms, dropShortcodes } from "./drop-besides.ts";

const prose = `<p>${"The council met on Monday, and voted for the bridge after a long debate. ".repeat(8)}</p>`;

/** The texts that are left of a page of which all was kept. */
function left(drop: typeof dropForms, html: string): string {
  const page = describePage(parseHtml(html), "https://news.test/a");
  const kept = page.blocks.map(() => true);
  drop(page, kept);
  return page.blocks
    .filter(({ index }) => kept[index] === true)
    .map(({ text }) => text.trim())
    .join("|");
}

test.each([
  ["a list", '<ol class="comment-list"><li>SAID</li></ol>'],
  ["an id", '<section id="comments"><p>SAID</p></section>'],
  ["the vocabulary", '<div itemscope itemtype="https://schema.org/Comment"><p>SAID</p></div>'],
])("comments below an article go, by %s", (_, html) => {
  expect(left(dropComments, `<article>${prose}</article>${html}`)).not.toContain("SAID");
  expect(left(dropComments, `<h1>Ask</h1>${html}`)).toContain("SAID");
});

test("comments that are more than their article stay", () => {
  const html = `<article>${prose}</article><div class=comments>${prose}${prose}SAID</div>`;
  expect(left(dropComments, html)).toContain("SAID");
});

test("forms go, unless the page is one", () => {
  expect(left(dropForms, `${prose}<form><p>Sign up for news.</p></form>`)).not.toContain("Sign up");
  expect(left(dropForms, `<form>${prose.repeat(3)}<p>Sign up</p></form>`)).toContain("Sign up");
});

test("lines of shortcodes go, and what only looks like them stays", () => {
  const lines = ['[vc_row][vc_column width="1/2"]', "[/vc_column] [/vc_row]", "[caption id='a' align=left]"];
  const shown = ["[1]", "[edit]", "[See note=1] for more", "[a_b] is a name"];
  const html = [...lines, ...shown].map((line) => `<p>${line}</p>`).join("");
  expect(left(dropShortcodes, `${html}<p><code>[gallery ids=1]</code></p><pre>[/x]</pre>`)).toBe(
    [...shown, "[gallery ids=1]", "[/x]"].join("|"),
  );
  expect(left(dropShortcodes, "<p>[gallery ids=1/] [a b=https://c.test/d]</p><p>Text.</p>")).toBe("Text.");
  const start = performance.now();
  left(dropShortcodes, `<p>${"[a_b a=".repeat(30_000)}</p>`);
  left(dropShortcodes, `<p>${"[a b=c/]".repeat(100)}!</p>`);
  expect(performance.now() - start).toBeLessThan(1_000);
});
